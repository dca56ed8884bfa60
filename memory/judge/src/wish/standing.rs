//! Standing orders and lasting facts that were not asked to be kept (L5.37).
//!
//! They count only where no model can be asked. A plain order of the person
//! ("never …", "from now on …", "call me …", "I prefer …") is sure; corrections,
//! decisions and facts, those about the person too, wait in the inbox.

use super::bars::{self, IDIOM, MAYBE, MEANTIME, ONCE, SAID};
use super::cues::CUES;
use super::piece::{Extent, Piece};
use super::{Certainty, Found, scope};
use crate::pattern::patterns;
use crate::phrase::{Phrases, part, phrases, weight};
use crate::sentence::End;
use everfold_kernel::limits::ExtractLimits;

/// Fewest words of an order.
const LEAST_WORDS: usize = 2;
/// Fewest words of a fact.
const LEAST_FACT_WORDS: usize = 4;
/// Most words of a task at the end of a sentence: "…, fix it".
const TAIL_WORDS: usize = 4;

phrases! {
    /// Words in front of an order that say nothing of it.
    OPENER = [
        "please|pls|plz|ok|okay|hey|hi|also|btw|by the way|oh|so|but|well|yes|yeah|right|alright|fyi|for your information|heads up|again|and|ps|like i said|as i said|i said it before|look|listen|one more thing|another thing|important|reminder|just so you know|jsyk|bitte|und|übrigens|ach|außerdem|aber|au fait|aussi|mais|et|stp|por cierto|también|pero|por favor|tra l'altro|anche|per favore|aliás|também|mas|trouwens|ook|maar|förresten|också|men|i øvrigt|forresten|også|muuten|myös|кстати|также|но|пожалуйста|bu arada|ayrıca|lütfen|przy okazji|także|ale|proszę|对了|另外|请|ちなみに|また|あと|참고로|그리고",
    ];
    EVER = [
        "always|never|don't ever|do not ever|never ever|you must always|you must never|you should always|you should never|immer|niemals|nie|toujours|jamais|ne jamais|siempre|nunca|jamás|sempre|non … mai|altijd|nooit|alltid|aldrig|altid|aldri|aina|älä koskaan|всегда|никогда не|никогда|her zaman|asla|zawsze|nigdy nie|nigdy|总是|永远不要|千万不要|一律|必ず|絶対に|常に|항상|절대|반드시",
    ];
    /// English verbs as orders have them.
    VERB = [
        "use|run|deploy|commit|push|write|ask|add|check|test|show|include|put|keep|make|call|start|answer|reply|respond|explain|format|lint|validate|verify|review|rebase|squash|merge|create|open|close|give|tell|send|store|save|log|print|return|throw|catch|wrap|handle|escape|sanitise|sanitize|quote|name|prefix|sort|import|export|define|declare|document|comment|update|bump|pin|lock|release|tag|sign|encrypt|hash|hardcode|hard-code|mock|stub|skip|ignore|touch|edit|modify|change|delete|remove|drop|rename|move|copy|force|force-push|amend|revert|reset|install|upgrade|downgrade|build|compile|generate|regenerate|suggest|propose|assume|guess|read|look|confirm|wait|prefer|avoid|do|let|set|get|pass|link|mention|cite|reference|translate|speak|be|go|leave|stop|finish|begin|work|think|consider|try|treat|expose|publish|share|post|upload|download|access|query|select|join|migrate|seed|truncate|purge|disable|enable|turn|bypass|trust|rely|depend|reuse|refactor|inline|extract|split|mix|combine|nest|indent|align|break|cut|insert|append|concatenate|interpolate|allocate|block|sleep|poll|retry|spawn|restart|kill|stage|stash|fetch|pull|clone|fork|branch|cherry-pick|target|prepare|provide|specify|describe|summarise|summarize|apologise|apologize|repeat|say|talk|address|refer|introduce|ship|paste|swallow|suppress|silence|cast|unwrap|panic|hold|take|bring|schedule|batch|cache|invalidate|render|style|capitalise|capitalize|abbreviate|plan|estimate|double-check|sync|attach|omit|force push|manually|directly|also|ever|first",
    ];
    FROM_NOW = [
        "from now on|from here on|going forward|henceforth|in future|in the future|as of now|starting now|ab jetzt|ab sofort|von jetzt an|von nun an|künftig|in zukunft|désormais|dorénavant|à partir de maintenant|à l'avenir|de ahora en adelante|a partir de ahora|en adelante|d'ora in poi|d'ora in avanti|da adesso in poi|a partir de agora|daqui para frente|de agora em diante|vanaf nu|voortaan|från och med nu|framöver|i fortsättningen|fra nu af|fremover|fra nå av|heretter|tästä lähtien|jatkossa|отныне|с этого момента|с этих пор|впредь|с сегодняшнего дня|bundan sonra|bundan böyle|artık hep|od teraz|odtąd|od tej pory|na przyszłość|从现在开始|从今以后|从今往后|以后都|今後は|これからは|以後は|앞으로는|앞으로|이제부터",
    ];
    /// What to call the person, and how they want things: as good as an order.
    WISHES = [
        "i always use|i only use|i usually use|i prefer|i'd prefer|i always prefer|i'd rather|my name is|my name's|call me|my pronouns are|i go by|i hate it when you|i like it when you|i like my|i want you to always|i never want|i always want",
        "ich heiße|mein name ist|nenn mich|ich bevorzuge|je m'appelle|mon nom est|appelle-moi|je préfère|me llamo|mi nombre es|llámame|prefiero|mi chiamo|il mio nome è|chiamami|preferisco|meu nome é|me chamo|prefiro|ik heet|mijn naam is|noem mij|ik geef de voorkeur|jag heter|mitt namn är|kalla mig|jag föredrar|jeg hedder|jeg heter|mit navn er|navnet mitt er|jeg foretrækker|jeg foretrekker|nimeni on|меня зовут|я предпочитаю|adım|benim adım|tercih ederim|mam na imię|nazywam się|wolę|我叫|我的名字是|我更喜欢|我偏好|私の名前は|제 이름은|내 이름은",
    ];
    /// What is so of the person.
    ABOUT_ME = [
        "i work as|i work from|i work for|i work in|i work at|i live in|i speak|i'm based in|i am based in|i'm responsible for|i'm in charge of|i'm new to|i am new to|i'm colour blind|i'm color blind|i'm colourblind|i'm colorblind|i'm dyslexic|i'm left-handed|i'm deaf|i'm hard of hearing|i'm vegetarian|i'm vegan|my time zone is|my timezone is|my editor is|my shell is|my os is|my native language is|my mother tongue is|my first language is|my role is|my job is|i've been doing|i've been a|i have been a|i've worked|i am colour blind|i am color blind|i'm from|i use a screen reader|i don't speak|i don't read",
        "ich arbeite als|ich arbeite bei|ich wohne in|ich spreche|meine zeitzone ist|je travaille comme|je travaille chez|j'habite|je parle|trabajo como|vivo en|lavoro come|vivo a|trabalho como|moro em|ik werk als|ik woon in|jag jobbar som|jag bor i|jeg arbejder som|jeg jobber som|työskentelen|я работаю|я живу в|pracuję jako|mieszkam w|我住在",
    ];
    I_AM = [
        "i'm a|i'm an|i am a|i am an|ich bin ein|ich bin eine|je suis un|je suis une|soy un|soy una|sono un|sono una|sou um|sou uma|ik ben een|jag är en|jeg er en",
    ];
    /// A passing state, or a figure of speech.
    MOOD = [
        "bit|little|lot|tad|touch|few|one|same|first|last|only|fan|big fan|huge fan|idiot|moron|fool|step|couple|genius|wreck|mess|dummy|zombie|bisschen|wenig|idiot|peu|poco|pouco|beetje|lite|litt|tired|step away|day|week|minute",
    ];
    /// No taste, but a choice of the moment, or another sense of the words.
    PICK = [
        "option|the first|the second|the third|the last|the other|the latter|the former|this|that|it|if|not|when|once|of|variant|version|your first|your second|missing|wrong|shown|back|later|die erste|die zweite|option|la première|la seconde|la primera|la segunda|il primo|il secondo|o primeiro|o segundo|de eerste|de tweede",
    ];
    /// After "from now on", what happens, not what to do.
    HAPPENS = ["it|is|was|versions|version|releases|release|this|that|there|i get|it's|geht|ist|kommt|ça|es|está"];
    /// After "from now on", what holds.
    HOLDS = ["the|our|their|der|die|das|le|la|les|el|los|il|o|os|de|het"];
    DECISION = [
        "we decided|decided with|decided to|it's decided|we agreed|agreed that|agreed to|agreed with|we go with|we're going with|we'll go with|we went with|picked|we chose|we settled on|settled on|we won't|we will not|we no longer|we don't|we do not|we never|we always|we only|we're off|we moved|we switched|we migrated|we keep|we stick|we're sticking|off the table|signed that off|signed off|the decision is|decision:|final decision|legal says|security says|policy is|the rule is|the convention is|our convention|all our|we stopped|we dropped|we prefer|we standardised|we standardized|we write|we name|we call|we use|we deploy|we run|we build|we test|we ship|we store|our customers|our users|in our domain|stands for|is stored in|are stored in|are run with|is run with|url is|lives at",
        "wir benutzen|on n'utilise|nous n'utilisons|no usamos|non usiamo|não usamos|мы не используем|我们这里|うちでは|저희는|우리는|wir haben entschieden|wir haben beschlossen|haben uns entschieden|wir haben uns|wir nehmen|wir nutzen|wir verwenden|bei uns|so entschieden|on a décidé|nous avons décidé|on utilise|nous utilisons|chez nous|hemos decidido|decidimos|usamos|acordamos|abbiamo deciso|usiamo|da noi|concordamos|combinamos|we hebben besloten|we gebruiken|bij ons|vi har bestämt|vi använder|hos oss|vi har besluttet|vi bruger|vi har bestemt|vi bruker|päätimme|käytämme|мы решили|мы используем|у нас|karar verdik|kullanıyoruz|bizde|zdecydowaliśmy|ustaliliśmy|używamy|u nas|我们决定|我们用|我们使用|我们不|ことにした|決めた|使っています|하기로 했|사용합니다",
    ];
    CORRECTION = [
        "stop using|stop adding|stop writing|stop doing|stop putting|stop making|stop asking|stop calling|instead of|must not|mustn't|may never|may ever|has to be|have to be|no more|not allowed|is forbidden|hands off|only via|only through|like i said|as i said|i said it before|i told you|again you|known issue|known thing|known bug|the other way round|wrong command",
        "nicht mehr|hör auf|statt|darf nicht|dürfen nicht|darf nie|nur noch|nur über|arrête|au lieu de|ne doit pas|ne doivent pas|plus jamais|uniquement via|deja de|en vez de|en lugar de|no debe|ya no|smetti|invece di|non deve|non più|pare de|em vez de|não deve|não mais|stop met|in plaats van|mag niet|niet meer|sluta|i stället för|istället för|får inte|inte längre|stop med|i stedet for|må ikke|ikke længere|slutt|ikke lenger|lopeta|sijaan|ei saa|хватит|вместо|нельзя|больше не|yerine|artık|bırak|przestań|zamiast|nie wolno|już nie|别再|而不是|不再|改用|ではなく|代わりに|やめて|대신|말고",
    ];
    CHANGE = [
        "no longer|anymore|any longer|any more|is now|are now|runs on|since this week|as of|slipped|new date|new owner|goes to|go to|got moved|moved to|replaced by|also goes|also need|also needs|also approves|from now on|from here on|ist jetzt|sind jetzt|zieht|umgezogen|est maintenant|désormais|ahora es|es ahora|è ora|agora é|is nu|är nu|er nu|er nå|on nyt|теперь|jest teraz|现在是|改为|になった|変わった|으로 바뀌",
    ];
    RECURRING = [
        "every monday|every tuesday|every wednesday|every thursday|every friday|every saturday|every sunday|every day|every night|every week|every month|every first|every second|every other|every morning|every evening|each monday|each friday|each sprint|daily|nightly|weekly|on mondays|on tuesdays|on wednesdays|on thursdays|on fridays|on weekends|mondays|fridays|first monday|jeden montag|jeden dienstag|jeden mittwoch|jeden donnerstag|jeden freitag|jeden tag|jede woche|jede nacht|montags|freitags|täglich|wöchentlich|chaque lundi|chaque mardi|chaque vendredi|chaque jour|chaque semaine|tous les lundis|tous les jours|tous les vendredis|cada lunes|cada martes|cada viernes|todos los lunes|todos los viernes|cada noche|ogni lunedì|ogni venerdì|ogni giorno|ogni notte|toda segunda|toda sexta|todas as noites|elke maandag|elke vrijdag|elke dag|elke nacht|varje måndag|varje fredag|hver mandag|hver fredag|joka maanantai|joka perjantai|каждый понедельник|каждую пятницу|каждый день|каждую ночь|her pazartesi|her cuma|her gün|każdy poniedziałek|w każdy|co tydzień|每周|每天|每个月|每晚|毎週|毎月|毎日|毎晩|매주|매일|매월|매달",
    ];
    DATED = [
        "code freeze|freeze starts|expires|expire on|deadline|switched off|shut down on|goes away|by then|till then|until then|on leave|on vacation|parental leave|out until|is due|the demo is|the demo for|launch|license of|licence of|end of life|sunset|heads up|läuft ab|bis dahin|übermorgen|frist|expire le|d'ici là|démo|caduca|vence|hasta entonces|scade|entro allora|expira|até lá|verloopt|tot dan|går ut|udløber|utløper|vanhenee|истекает|до тех пор|sona eriyor|wygasa|do tego czasu|到期|截止|期限|만료|마감",
    ];
    OWNER = [
        "owns|is responsible for|is in charge of|approves|is the owner|is the only one|ask her before|ask him before|ask them before|runs the|takes over|is our contact|questions go to|verantwortlich|zuständig|kümmert sich|responsable|s'occupe de|gère|se encarga|responsable de|si occupa|cuida de|é responsável|verantwoordelijk|ansvarig|ansvarlig|vastaa|отвечает за|sorumlu|odpowiada za|负责|担当|담당",
    ];
    PLACE = [
        "source of truth|lives in the|live in the|spec is in|is in the wiki|the real|the canonical|is outdated|only works with|only fails|only works|only runs|needs the vpn|must be on|takes about|can't be|cannot be",
    ];
    /// A state of things that somebody will mend.
    BROKEN = [
        "failing|fails again|broken|doesn't work|not working|works now|works again|is now green|should|needed|need this|need it|minutes|in an hour|the wrong|empty|crash*|geht nicht|funktioniert nicht|läuft nicht|marche plus|marche pas|fonctionne p*|funciona|funziona|werkt niet|werkt weer|fungerar|virker|fungerer|toimi|работает|çalışmıyor|çalışıyor|działa|工作了|坏了|動か|壊れ|안 돼|안돼",
    ];
    /// An order for this project.
    LOCAL = ["in this repo|in this codebase|in this project|in this repository|in diesem projekt|in diesem repo|dans ce projet|dans ce dépôt|en este proyecto|en este repo|in questo progetto|neste projeto|in dit project|i det här projektet|i dette projekt|tässä projektissa|в этом проекте|bu projede|w tym projekcie|这个项目|このプロジェクト|이 프로젝트"];
    /// One of the things at hand.
    ONE = ["other one|that one|this one|second one|first one|last one|next one|the second|the first"];
    PRAISE = [
        "we always had|we never had|we never got|we always get|whether|why is|why does|why do|find out|can you|could you|would you|check if|check that|make the|make sure|i never|i always forget|why|how come|nice work|great work|good job|well done|thanks|way faster|apparently|turned out|wow|you know that|as always|super arbeit|gut gemacht|bien joué|buen trabajo|ottimo lavoro|bom trabalho|goed werk|bra jobbat|godt arbejde|молодец|aferin|dobra robota",
    ];
}

patterns! {
    /// "no, use ruff not flake8"; "don't force push here, ever".
    SHAPE = r"^(?:no|nope|nein|non|nee|нет|nie|hayır)\b[,.!]? (?:use|not|we|nicht|wir|pas|on|no|usa|non|não|niet|we|не|мы)\b|^use \S+,? (?:not|instead of|rather than) |^not \S+, (?:use )?|^(?:stop|quit) \w+ing\b";
    DONT_EVER = r"^(?:don['’]?t|do not)\b.*\bever\b";
}

/// Whether a line gives an order that would last.
pub(crate) fn is_order(low: &str) -> bool {
    EVER.any(low) || FROM_NOW.any(low) || low.contains(" must ")
}

/// Whether a sentence says who the person is.
pub(super) fn is_about(low: &str) -> bool {
    about(body(low)).is_some()
}

/// Whether a sentence is a plain order of its own.
pub(super) fn is_rule(low: &str) -> bool {
    let start = body(low);
    order(start).is_some() || about(start).is_some()
}

/// The rule or fact in the sentence `at`.
pub(super) fn find(piece: &Piece<'_>, at: usize, limits: &ExtractLimits) -> Option<Found> {
    let sentence = piece.sentences.get(at)?;
    let low = piece.low(at);
    if low.chars().count() > limits.rule_chars {
        return None;
    }
    let start = body(low);
    if sentence.end == End::Question || IDIOM.starts(start).is_some() {
        return None;
    }
    if CUES.starts(start).is_some() || MAYBE.any(low) || ONCE.any(low) || MEANTIME.any(low) {
        return None;
    }
    let (rule, certainty) = order(start).or_else(|| about(start)).or_else(|| fact(low, start))?;
    if certainty == Certainty::Sure && SAID.any(low) && about(start).is_none() {
        return None;
    }
    let more = piece.extent(at, Extent::Rule);
    let own = order(start).and_then(|_| FROM_NOW.starts(start)).map_or(start, |end| {
        part(start, end..start.len()).trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`')
    });
    let offset = sentence.range.start + (low.len() - own.len());
    let mut ranges: Vec<_> = std::iter::once(offset..sentence.range.end).collect();
    ranges.extend(more.clone().filter_map(|n| piece.sentences.get(n)).map(|s| s.range.clone()));
    let whole = piece.slice(at, more.end);
    Some(Found {
        body: piece.compose(&ranges)?,
        everywhere: scope::Reach::of(whole),
        rule,
        certainty,
        next: more.end.max(at + 1),
    })
}

/// A sentence without the polite words in front of it.
fn body(low: &str) -> &str {
    let mut rest = low.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
    while let Some(end) = OPENER.starts(rest) {
        let after = part(rest, end..rest.len());
        let after = after.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, ',' | ':' | '.' | '-' | '，' | '、')
        });
        if after.is_empty() || SHAPE.is_in(rest) {
            break;
        }
        rest = after;
    }
    rest
}

/// A plain standing order.
fn order(start: &str) -> Option<(&'static str, Certainty)> {
    if weight(start) < LEAST_WORDS || IDIOM.starts(start).is_some() {
        return None;
    }
    if DONT_EVER.is_in(start) {
        return Some(("never", Certainty::Sure));
    }
    if let Some(end) = EVER.starts(start) {
        let rest = part(start, end..start.len()).trim_start();
        let english = part(start, 0..end).is_ascii()
            && (start.starts_with("always")
                || start.starts_with("never")
                || start.starts_with("you ")
                || start.starts_with("do"));
        let name =
            if start.starts_with("never") || start.starts_with("do") { "never" } else { "always" };
        // In Polish the German "never" says "not".
        let polish = start.starts_with("nie ")
            && !start.trim_end_matches(|c: char| !c.is_alphanumeric()).ends_with("en");
        if polish {
            return None;
        }
        return if !english || VERB.starts(rest).is_some() {
            (english || weight(start) > LEAST_WORDS)
                .then_some((name, if english { Certainty::Sure } else { foreign(start) }))
        } else {
            None
        };
    }
    let end = FROM_NOW.starts(start)?;
    let rest = part(start, end..start.len())
        .trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
    let holds = if HOLDS.starts(rest).is_some() { Certainty::Unsure } else { Certainty::Sure };
    (HAPPENS.starts(rest).is_none() && weight(rest) > 0).then_some(("from now on", holds))
}

/// An order in a language whose verbs are not listed: sure where it does not
/// tell what happens.
fn foreign(start: &str) -> Certainty {
    let words: Vec<&str> = start.split_whitespace().collect();
    let told = words.iter().any(|word| {
        matches!(
            *word,
            "ist"
                | "war"
                | "est"
                | "es"
                | "è"
                | "é"
                | "is"
                | "är"
                | "er"
                | "on"
                | "jest"
                | "было"
                | "hat"
                | "wird"
                | "a"
                | "ha"
        )
    });
    if told { Certainty::Unsure } else { Certainty::Sure }
}

/// What the person says of themselves: a wish is sure, a fact waits.
fn about(start: &str) -> Option<(&'static str, Certainty)> {
    let says = |end: usize, bar: &Phrases| {
        let rest = part(start, end..start.len()).trim_start();
        weight(rest) > 0 && bar.starts(rest).is_none()
    };
    if let Some(end) = WISHES.starts(start) {
        return says(end, &PICK).then_some(("i prefer", Certainty::Sure));
    }
    if let Some(end) = I_AM.starts(start) {
        return says(end, &MOOD).then_some(("i am", Certainty::Unsure));
    }
    let end = ABOUT_ME.starts(start)?;
    says(end, &PICK).then_some(("i am", Certainty::Unsure))
}

/// A decision, a correction, a fact that may last.
fn fact(low: &str, start: &str) -> Option<(&'static str, Certainty)> {
    let tail = start.rfind(", ").map_or("", |at| part(start, at + 2..start.len()));
    let task = |clause: &str| bars::TASK.starts(clause).is_some();
    if weight(start) < LEAST_FACT_WORDS
        || PRAISE.any(low)
        || BROKEN.any(low)
        || task(start)
        || task(tail) && weight(tail) <= TAIL_WORDS
    {
        return None;
    }
    let shaped = SHAPE.is_in(start) || SHAPE.is_in(low);
    if shaped && ONE.any(low) {
        return None;
    }
    if shaped {
        return Some(("correction", Certainty::Unsure));
    }
    let told = VERB.starts(start).is_some() && !LOCAL.any(low) && !RECURRING.any(low);
    if told || FROM_NOW.starts(start).is_some() {
        return None;
    }
    [
        (&*DECISION, "decision"),
        (&*CORRECTION, "correction"),
        (&*LOCAL, "correction"),
        (&*CHANGE, "change"),
        (&*RECURRING, "recurring"),
        (&*DATED, "date"),
        (&*OWNER, "owner"),
        (&*PLACE, "fact"),
        (&*FROM_NOW, "from now on"),
    ]
    .into_iter()
    .find(|(list, _)| list.any(low))
    .map(|(_, rule)| (rule, Certainty::Unsure))
}
