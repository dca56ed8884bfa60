//! Introductions: "summarise this:", "README of that library says:", "log:".

use crate::phrase::{part, phrases, weight};
use crate::wish;

/// Longest introduction, in words.
const HEAD_WORDS: usize = 16;
/// Bytes before a colon in which an introduction is looked for.
const HEAD_BYTES: usize = 200;
/// Colons of a line that are looked at.
const COLONS: usize = 6;

phrases! {
    /// What is to be done with a text that follows.
    VERB = [
        "summari*|summary|tl;dr|tldr|translat*|rephras*|reword*|rewrite|proofread*|paraphras*|polish this|polish the|draft a|draft an|reply to|respond to|write back|shorten|simplify this|spell check|spellcheck|grammar check|classify|extract|parse|format this|convert this|answer this|analyse|analyze|interpret|quote|explain",
        "fass*|zusammenfass*|übersetz*|formulier*|umformulier*|korrigier*|lektorier*|antworte auf|beantworte|kürze|erklär*|résum*|tradui*|reformul*|corrige|réponds à|explique|analyse|raccourcis|resum*|traduc*|traduz*|reformula|corrígeme|corrija|responde a|explica|analiza|analisa|acorta|riassum*|traduci|riformula|correggi|rispondi a|spiega|analizza|accorcia|responda|explique|encurta|reescreve|reescreva",
        "vat samen|vat dit*|vat deze*|samenvat*|vertaal|herschrijf|verbeter|beantwoord|leg uit|sammanfatta|översätt|skriv om|rätta|svara på|förklara|opsummer*|oppsummer*|oversæt|oversett|omskriv|forklar|besvar|tiivistä|käännä|selitä|oikolue|vastaa tähän|суммируй|резюмируй|перескажи|кратко|переведи|объясни|перепиши|ответь на|отредактируй|özetle*|çevir*|açıkla|düzelt şu|yanıtla|streść|podsumuj|przetłumacz|wyjaśnij|przeredaguj|popraw ten|odpowiedz na",
        "总结|總結|翻译|翻譯|解释|解釋|概括|润色|改写|回复|要約|翻訳|訳して|説明して|レビューして|校正|返信|요약|번역|설명해|교정|답장|다듬",
    ];
    /// Points at what follows.
    POINTED = [
        "this issue|this error|this bug|this mail|this email|this e-mail|this function|this code|this snippet|this file|this log|this text|this message|this ticket|this output|this comment|this thread|this post|this page|this article|this paragraph|this letter|this report|this review|this diff|this patch|this config|this script|this stack trace|this trace|this traceback|this failure|this warning|this doc|this document|this readme|this customer|this request|this query|this test|this again|this one|got this|get this|fix this|see this|explain this|review this|summarise this|summarize this|check this|read this|look at this|what is this|what's this|what does this|why does this|is this|about this|with this|these logs|these errors|these notes|this:|the following|following|below|here's|here is|here are|wrong here|from the web|i found this|found this|saw this|received this|they sent|sent me|it prints|it says|i get|i'm getting|we got|we get|add this to|put this in|insert this|paste this|use this text|write this",
        "dieses issue|dieses ticket|diesen fehler|diese mail|diese e-mail|diese nachricht|diesen text|diese funktion|diesen code|diesen log|dieses log|diese ausgabe|diesen kommentar|dieses dokument|diese meldung|folgende*|das hier|hier ist|hier sind|schau dir das|kam gerade|bekomme das|ich bekomme|das steht|steht da|ce ticket|cette erreur|ce mail|ce message|ce texte|cette fonction|ce code|ce log|cette sortie|ce commentaire|ce document|ceci|suivant*|voici|voilà|j'ai reçu|j'obtiens|ci-dessous|este issue|este ticket|este error|este correo|este mensaje|este texto|esta función|este código|este log|esta salida|este comentario|este documento|siguiente*|aquí está|aquí tienes|aquí va|a continuación|me sale|recibí",
        "questo ticket|questo errore|questa mail|questa email|questo messaggio|questo testo|questa funzione|questo codice|questo log|questo output|questo commento|questo documento|questa issue|seguente|seguenti|ecco|qui sotto|mi esce|ho ricevuto|esta issue|esse erro|este erro|este e-mail|esse email|este email|essa mensagem|esta mensagem|esse texto|essa função|esta função|esse código|esse log|seguinte|seguintes|aqui está|aqui vai|abaixo|recebi|deze issue|dit ticket|deze fout|deze mail|dit bericht|deze tekst|deze functie|deze code|deze log|deze uitvoer|het volgende|de volgende|hier is|hieronder|ik krijg|ik kreeg",
        "det här felet|det här mejlet|den här texten|den här koden|den här funktionen|följande|här är|nedan|jag får|jag fick|denne fejl|denne mail|denne tekst|denne kode|følgende|her er|nedenfor|jeg får|jeg fik|denne feilen|denne e-posten|denne teksten|denne koden|jeg fikk|tämä virhe|tämä viesti|tämä teksti|tämä koodi|seuraava*|tässä on|alla oleva|sain|эту ошибку|это письмо|этот текст|этот код|эту функцию|этот лог|это сообщение|следующ*|вот|ниже|получил|пришло|bu hatayı|bu maili|bu e-postayı|bu metni|bu kodu|bu fonksiyonu|bu mesajı|aşağıdaki*|işte|şunu aldım|ten błąd|tego maila|ten tekst|ten kod|tę funkcję|tę wiadomość|następujący*|poniżej|poniższ*|oto|dostałem|dostałam",
        "这个错误|这个问题|这封邮件|这段|这个函数|这个日志|这条消息|下面|以下|如下|這個錯誤|這段|このエラー|このメール|この文章|この関数|このコード|このログ|このメッセージ|次の|以下の|下記|이 오류|이 에러|이 메일|이 글|이 함수|이 코드|이 로그|이 메시지|다음|아래",
    ];
    /// Kinds of text that are handed over.
    NOUN = [
        "log|logs|output|error|errors|trace|traceback|stack trace|stacktrace|mail|email|e-mail|message|ticket|issue|bug report|report|readme|docs|documentation|article|comment|comments|post|thread|chat|slack|snippet|code|diff|patch|config|transcript|response|warning|hint|release notes|changelog|text|paragraph|letter|description|notes|minutes|transcription|quote|excerpt|terminal|console|stdout|stderr|ci|build|result|results|file|page|web page|website|instructions|review|feedback|answer|stackoverflow|stack overflow|prompt|contents|content",
        "protokoll|ausgabe|fehler|fehlermeldung|nachricht|kommentar|seite|artikel|anleitung|auszug|text|meldung|quelltext|journal|sortie|erreur|courriel|message|commentaire|article|extrait|texte|registro|salida|correo|mensaje|comentario|artículo|extracto|texto|errore|messaggio|commento|articolo|estratto|testo|saída|erro|mensagem|comentário|artigo|trecho|uitvoer|fout|foutmelding|bericht|commentaar|fragment|tekst|utskrift|fel|felmeddelande|meddelande|kommentaren|utdrag|udskrift|fejl|fejlmeddelelse|besked|uddrag|feil|feilmelding|melding|tuloste|virhe|virheilmoitus|viesti|kommentti|ote|teksti",
        "лог|логи|вывод|ошибка|письмо|сообщение|комментарий|статья|отрывок|текст|тикет|günlük|çıktı|hata|mesaj|yorum|metin|e-posta|alıntı|wyjście|błąd|wiadomość|komentarz|artykuł|fragment|tekst|treść|zgłoszenie|日志|输出|错误|报错|邮件|消息|评论|文章|内容|代码|文档|日誌|郵件|ログ|出力|エラー|メール|メッセージ|コメント|記事|内容|コード|로그|출력|오류|에러|메일|메시지|댓글|기사|내용|코드",
    ];
    /// Somebody else speaks.
    SAID = [
        "says|said|wrote|writes|reads|states|told me|told us|replied|commented|posted|claims|reports|asks|asked|sagt|sagte|schrieb|schreibt|meint|meinte|antwortete|steht|dit|écrit|a écrit|a dit|répond|dice|dijo|escribió|escribe|respondió|pone|ha scritto|scrive|ha detto|risponde|diz|disse|escreveu|escreve|respondeu|zegt|zei|schrijft|schreef|säger|sa|skriver|skrev|siger|sagde|sier|sanoo|sanoi|kirjoitti|kirjoittaa|говорит|сказал|сказала|пишет|написал|написала|ответил|diyor|dedi|yazdı|yazıyor|pisze|napisał|napisała|mówi|powiedział|odpisał|写道|说道|说|寫道|說|と書いて|と言って|曰く|いわく|라고|말했|썼",
    ];
    /// The person's own saying.
    OWN = [
        "i said|like i said|as i said|i told you|i mean|i say|we said|we agreed|ich sagte|wie gesagt|habe ich gesagt|j'ai dit|comme je l'ai dit|he dicho|ya dije|como dije|ho detto io|come ho detto|já disse|como eu disse|ik zei|zoals gezegd|som sagt|som jag sa|kuten sanoin|я говорил|я сказал|как я|söyledim|mówiłem|mówiłam|jak mówi*|我说过|言ったように|말했듯이",
    ];
    /// A text to write goes there.
    TARGET = [
        "a poem|a song|a slogan|a tweet|a blog post|a haiku|a joke|an email|an e-mail|a letter|todo|fixme|docstring|to the docs|in the docs|to the readme|in the readme|to the changelog|commit message|a comment|code comment|the banner|the tooltip|the label|the button|the title|the headline|the subject|als kommentar|in die doku|ins readme|in den kommentar|en commentaire|dans la doc|un comentario|en los docs|un commento|nei docs|um comentário|nos docs|een commentaar|in de docs|en kommentar|комментарий|в документацию|yorum olarak|komentarz|注释|文档里|コメントに|ドキュメントに|주석",
    ];
    /// A text is handed over, without a colon.
    HANDED = [
        "got this|received this|i found this|found this|here's what|here is what|this is what|saw this|they sent|sent me|habe das bekommen|kam diese|j'ai reçu|recibí|ho ricevuto|recebi|ik kreeg|jag fick|jeg fik|jeg fikk|sain|получил*|пришло|aldım|dostałem|dostałam|收到|届いた|届きました|받았",
    ];
    /// A piece of planned work, by its number or title.
    WORK = ["ticket|issue|story|epic|user story|bug report|jira"];
    /// What a head is about, not what it hands over.
    TOPIC = [
        "about|regarding|re|as for|concerning|on the topic of|for the|for our|in our|bezüglich|was|zum thema|für|zu|concernant|pour|à propos|sobre|en cuanto|para|riguardo|per|quanto|over|wat|voor|angående|om|för|vedrørende|for|koskien|про|насчёт|насчет|для|hakkında|odnośnie|dla|关于|について|に関して|대해",
    ];
}

/// Where in a line an introduction ends, and what follows is not the
/// person's: a byte of the line.
pub(super) fn end(line: &str, low: &str, more: More) -> Option<usize> {
    let trimmed = low.trim_end();
    let mut from = 0;
    for _ in 0..COLONS {
        let Some(at) = part(trimmed, from..trimmed.len()).find([':', '：']).map(|at| from + at)
        else {
            break;
        };
        let width = if part(trimmed, at..trimmed.len()).starts_with(':') { 1 } else { 3 };
        from = at + width;
        let rest = part(trimmed, from..trimmed.len());
        let last = rest.is_empty();
        if last && more == More::Nothing {
            break;
        }
        if (last || width == 3 || rest.starts_with([' ', '"', '“', '\'']))
            && introduces(head(trimmed, at), if last { Place::LineEnd } else { Place::Within })
        {
            return Some(from);
        }
    }
    if let Some(end) = handed(line, trimmed) {
        return Some(end);
    }
    if more == More::Nothing {
        return None;
    }
    let near = head(trimmed, trimmed.trim_end_matches(['?', '!', '.', '？', '。']).len());
    (POINTED.any(near) && !wish::has_cue(near) && weight(near) <= HEAD_WORDS)
        .then_some(trimmed.len())
}

/// Where the text begins that a sentence hands over on the same line: "I got
/// this mail from Bob. Remember: …". It is written in another style, or orders.
fn handed(line: &str, low: &str) -> Option<usize> {
    let at = low.find(". ").or_else(|| low.find("! "))? + 2;
    let rest = part(line, at..line.len());
    let upper = rest.chars().find(|c| c.is_alphabetic()).is_some_and(|c| !c.is_lowercase());
    (upper && HANDED.any(part(low, 0..at))).then_some(at)
}

/// Where a colon stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Within,
    LineEnd,
}

/// Whether lines follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Lines,
    Nothing,
}

/// The clause that ends before a byte.
fn head(line: &str, end: usize) -> &str {
    let near = line.floor_char_boundary(end.saturating_sub(HEAD_BYTES));
    let head = part(line, near..end);
    let start = [". ", "! ", "? ", "; "].iter().filter_map(|mark| head.rfind(mark)).max();
    let wide = head.rfind(['。', '！', '？']).map(|at| at + 2);
    part(head, start.max(wide).map_or(0, |at| at + 1)..head.len()).trim()
}

fn introduces(head: &str, place: Place) -> bool {
    if weight(head) > HEAD_WORDS
        || wish::has_cue(head)
        || wish::opens(&format!("{head}:")).is_some()
        || OWN.any(head)
    {
        return false;
    }
    let ends_in_noun = NOUN.find_last(head) == Some(head.len());
    if VERB.any(head)
        || TARGET.any(head)
        || POINTED.any(head)
        || SAID.find_last(head).is_some() && !is_long(head)
    {
        return true;
    }
    if WORK.starts(head).is_some() {
        return true;
    }
    if place == Place::LineEnd {
        NOUN.any(head)
    } else {
        ends_in_noun && TOPIC.starts(head).is_none()
    }
}

fn is_long(head: &str) -> bool {
    weight(head) > HEAD_WORDS - 4
}
