//! What a line looks like.

use crate::pattern::Pattern;
use crate::phrase::phrases;
use std::sync::LazyLock;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Blank,
    /// It opens or closes a fence.
    Fence,
    /// It is quoted with `>`.
    Quoted,
    /// No person types it: logs, traces, code, data, markup.
    Shaped,
    /// A heading of a document.
    Heading,
    /// It opens a letter.
    Greeting,
    /// It closes a letter.
    Farewell,
    Prose,
}

impl Form {
    pub(super) fn of(line: &str, low: &str) -> Self {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            Self::Blank
        } else if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            Self::Fence
        } else if trimmed.starts_with('>') {
            Self::Quoted
        } else if HEADING.is_in(low.trim()) {
            Self::Heading
        } else if is_shaped(line, trimmed) {
            Self::Shaped
        } else {
            letter(low.trim())
        }
    }
}

/// Longest line that opens or closes a letter, in bytes.
const LETTER_BYTES: usize = 48;

fn letter(low: &str) -> Form {
    let short = low.len() <= LETTER_BYTES;
    if short && low.ends_with([',', '!', ':', '，', '、']) && GREETING.starts(low).is_some() {
        Form::Greeting
    } else if short && FAREWELL.starts(low).is_some() {
        Form::Farewell
    } else {
        Form::Prose
    }
}

fn is_shaped(line: &str, trimmed: &str) -> bool {
    let indented = (line.starts_with("    ") || line.starts_with('\t'))
        && !trimmed.starts_with(['-', '*', '•'])
        && !trimmed.starts_with(|c: char| c.is_ascii_digit());
    indented
        || LOG.is_in(trimmed)
        || DATA.is_in(trimmed)
        || CODE.is_in(trimmed)
        || line.starts_with(" * ")
}

/// Whether a line opens a block of a key or a certificate.
pub(super) fn opens_armour(line: &str) -> bool {
    line.trim_start().starts_with("-----BEGIN ")
}

/// Whether a line closes one.
pub(super) fn closes_armour(line: &str) -> bool {
    line.trim_start().starts_with("-----END ")
}

static HEADING: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::opening(
        r"#{1,6} \S|(?:steps(?: to reproduce)?|reproduction|expected(?: \w+)?|actual(?: \w+)?|acceptance criteria|user story|feature request|forwarded message|original message)\b\s*:?(?:$|\s)",
    )
});
/// Logs, traces, and what compilers, tests and version control print.
static LOG: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::opening(
        r#"(?x)
        \[?\d{4}[-/]\d\d[-/]\d\d[T\ ,]\s?\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[\d{1,2}:\d\d | \w+(?:\ \w+)?\ +\d{1,2}:\d\d(?:\ ?[AaPp][Mm])?$ | [A-Z][a-z]{2}\ +\d{1,2}\ \d\d:\d\d:\d\d
        | \[?(?:ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE|SEVERE)\]?[:\ |\]]
        | (?:error|warning|fatal|hint|panic|remote|npm\ (?:ERR!|WARN|error|warn)|E|W)(?:\[\w+\])?:\ | npm\ ERR! | npm\ WARN
        | at\ [\w$.<>\[\]/\ ]+\(?[\w./:\\-]*:\d+ | File\ ".+",\ line\ \d+ | Traceback\ \( | Caused\ by: | \.{3}\ \d+\ more
        | thread\ '.*'\ .*panicked | goroutine\ \d+ | Exception\ in\ thread | (?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning)(?::|\b\ at\b)
        | (?:FAILED|PASSED|FAIL|PASS|SKIPPED)\b | \d+\ (?:failed|passed|errors?|warnings?)\b | test\ \S+\ \.\.\. | not\ ok\ \d | ok\ \d+\ -
        | [✓✗✘✖●✔×] | -->\ \S+:\d+ | \d*\ *\|\ | =\ (?:note|help):
        | diff\ --git | index\ [0-9a-f]{6,} | @@\ -\d | \+\+\+\ | ---\ (?:a/|/) | commit\ [0-9a-f]{7,40}\b | Merge:\ |Author:\ \S
        | make(?:\[\d+\])?:\ | [\w./-]+:\ (?:\*\*\*|(?:[\w\ ]+:\ )?(?:command\ not\ found|No\ such|cannot\ |permission\ denied|Permission\ denied))
        | [\w./\\-]+\.\w{1,5}(?::\d+|\(\d+[,)])
        "#,
    )
});
/// Data, markup, tables, headers of mails, transcripts of a shell.
static DATA: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::opening(
        r#"(?x)
        [\{\}\[\]\(\)][,;]?$ | \{.*[:"].*\}?[,;]?$ | "[^"]{1,80}"\s*:\s | \[[\w\ .:"/-]+\]$ | [\w.-]+\s*=\s*\S+$ | -\ [\w-]+:(?:\ |$) | -{3,}$ | ={3,}$ | \*{3,}$
        | </?[A-Za-z][\w-]*(?:\s[^>]*)?/?> | <[!?] | &lt;
        | [^,\s]+(?:,[^,\s]*){3,}$ | \|.*\|$ | \+[-+=]+\+$
        | [$%❯➜]\ \S | \S+@\S+[:~]\S*\s?[$\#]\  | export\ \w+= | PS\ [A-Z]:\\
        | (?:From|To|Subject|Date|Cc|Sent|Reply-To|Von|An|Betreff|Gesendet|Objet|Envoyé|Asunto|Enviado|Oggetto|Assunto|Aan|Onderwerp|Ämne|Emne|Aihe|Кому|Тема|Konu|Temat|主题|件名|제목)\s?[::]\ ?\S
        | \*\*[^*]+\*\*:?$ | \#!\S
        "#,
    )
});
static CODE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::opening(
        r#"(?x)
        // | --\ \w | /\* | \*/ | <!-- | (?:async\ )?(?:def|fn|func)\ \w+ | (?:export\ )?(?:default\ )?(?:async\ )?function\b\s*\w*\s*\( | (?:pub|public|private|protected|internal)\ (?:\(crate\)\ )?(?:static|class|void|fn|struct|enum|mod|const|use|final|int|string|async|interface|override)\b
        | (?:let|const|var|val)\ (?:mut\ )?[\w\{\[][\w,\s\]\}:<>]*= | import\ (?:\{|\w+\ from|\w+(?:\.\w+)+|[\w.]+;|['"]) | from\ [\w.]+\ import | \#(?:include|define|ifdef|ifndef|endif|pragma)\b | package\ [\w.]+;?$ | using\ [\w.]+;
        | class\ \w+.*[:\{]$ | struct\ \w+.*\{$ | impl\b.*\{$ | interface\ \w+.*\{$ | (?:if|for|while|switch|catch)\ ?\(.*\)\s*\{?$ | (?:else|try|do|finally)\s*[:\{]$ | (?:if|for|while|elif|with)\ .*[^\s]:$ | return\b.*;$ | @[A-Za-z_][\w.]*(?:\(.*\))?$
        | (?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE|ALTER|DROP)\ \S+
        | .*[;\{\}]$ | [\w.\[\]'"]+\s*[-+*]?=\s*\S.*[\w)\]'"]$ | \w+(?:\.\w+)*\(.*\)$"#,
    )
});

phrases! {
    GREETING = [
        "hi|hello|hey|dear|good morning|good afternoon|team|all|hallo|liebe|lieber|liebes|sehr geehrte|guten tag|guten morgen|moin|servus|bonjour|salut|cher|chère|chers|hola|estimado|estimada|estimados|buenos días|buenas|querido|ciao|gentile|buongiorno|salve|caro|cara|olá|oi|prezado|prezada|caro|bom dia|beste|geachte|hoi|dag|goedemorgen|hej|hejsan|kära|bästa|kære|kjære|hei|moi|hyvä|здравствуйте|привет|добрый день|уважаемый|уважаемая|коллеги|merhaba|selam|sayın|cześć|dzień dobry|szanowni|szanowny|drogi|你好|您好|大家好|尊敬的|各位|お疲れ様です|こんにちは|お世話になって|皆様|안녕하세요|여러분",
    ];
    FAREWELL = [
        "best|best,|best regards|kind regards|regards|warm regards|cheers,|sincerely|yours|thanks,|thank you,|many thanks|all the best|mit freundlichen grüßen|viele grüße|liebe grüße|beste grüße|freundliche grüße|vg|lg|mfg|gruß|grüße|cordialement|bien cordialement|bien à vous|amicalement|merci,|saludos|un saludo|atentamente|cordialmente|gracias,|cordiali saluti|distinti saluti|saluti|un saluto|grazie,|atenciosamente|cumprimentos|abraços|att,|obrigado,|obrigada,|met vriendelijke groet|groet|groeten|mvg|vänliga hälsningar|hälsningar|mvh|med venlig hilsen|med vennlig hilsen|hilsen|vh|ystävällisin terveisin|terveisin|t.|с уважением|всего доброго|с наилучшими|saygılarımla|sevgiler|teşekkürler,|pozdrawiam|z poważaniem|pozdrowienia|此致|敬礼|祝好|谢谢,|谢谢，|以上|よろしくお願いします|よろしくお願いいたします|敬具|감사합니다|드림|올림",
    ];
}
