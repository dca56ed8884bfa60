//! What keeps words from becoming a memory: they are for now, asked, joked,
//! supposed, felt, or a task.

use crate::pattern::patterns;
use crate::phrase::{Phrases, part, phrases};
use std::sync::LazyLock;

phrases! {
    /// For this once.
    ONCE = [
        "just this once|only this once|this once|only for this|just for this|for this pr|for this change|in this change|in this pr|in this commit|for this commit|this time|this session|for this session|this task|for this task|for this one|for this ticket|in this ticket|for the next answer|in the next answer|just now|right now|today only|only today|just for today|for today|this sprint only|while we|one-off|as an exception|in this branch|on this branch|in this file|for this file",
        "nur dieses mal|nur diesmal|diesmal|dieses mal|nur für diesen|nur für diese|nur für dieses|in diesem pr|für diesen pr|in diesem commit|für diese änderung|in dieser änderung|ausnahmsweise|nur heute|für heute|nur jetzt|cette fois|juste pour cette|juste pour ce|pour cette pr|pour ce commit|seulement pour|dans ce commit|dans cette pr|exceptionnellement|juste aujourd'hui|esta vez|solo por esta vez|solo para este|solo para esta|en este pr|en este commit|en este cambio|por hoy|solo hoy|questa volta|solo per questa|solo per questo|in questa pr|in questo commit|per oggi|solo oggi",
        "desta vez|dessa vez|só desta vez|só dessa vez|só para este|só para esta|só por hoje|neste pr|neste commit|deze keer|alleen voor deze|alleen voor dit|in deze pr|alleen vandaag|den här gången|bara den här|i den här pr|denne gang|denne gangen|kun for denne|bare denne|tällä kertaa|vain tähän|tässä pr|в этот раз|только для этого|только сейчас|только сегодня|в этом pr|на этот раз|bu seferlik|bu sefer|sadece bu|bu pr|bugünlük|tym razem|tylko dla tego|tylko tym razem|tylko dzisiaj|w tym pr",
        "这次|這次|就这一次|仅此一次|本次|这个pr|这个 pr|今天先|今回だけ|今回は|今回のみ|このprだけ|このpr|今日だけ|이번만|이번에는|이번에만|이번 pr|오늘만",
    ];
    MEANTIME = [
        "for now|for the moment|at the moment|for the time being|temporarily|until i say|till i say|i'll turn it back|i'll change it later|for a bit|for a minute",
        "fürs erste|vorerst|erstmal|im moment|momentan|vorübergehend|einstweilen|pour l'instant|pour le moment|temporairement|provisoirement|por ahora|de momento|por el momento|temporalmente|per ora|per il momento|per adesso|temporaneamente|por enquanto|por agora|temporariamente|voorlopig|voor nu|op dit moment|tijdelijk|tills vidare|just nu|för tillfället|tillfälligt|indtil videre|foreløbig|for øjeblikket|inntil videre|midlertidig|akkurat nå|toistaiseksi|tilapäisesti|пока что|пока|на данный момент|временно|şimdilik|şu an|geçici|na razie|chwilowo|tymczasowo",
        "暂时|暫時|目前先|とりあえず|一旦|当面|ひとまず|일단|당분간|지금은",
    ];
    /// Laughter, and what says of itself that it is a joke.
    LAUGH = [
        "lol|lmao|rofl|haha*|hehe*|xd| :d|:-d|;)|;-)| :p|😂*|🤣*|😜*|😉*|🙃*| /s|/jk| jk|just kidding|kidding|joking|nur spaß|scherz|je plaisante|je rigole|mdr|ptdr|es broma|jaja*|jeje*|scherzo|sto scherzando|brincadeira|kkk*|rsrs*|grapje|skämt*|bare for sjov|bare tuller|vitsi|шучу|шутка|ахах*|хаха*|şaka|żart*|哈哈*|开玩笑|（笑）|(笑)|冗談|ｗｗ*|ㅋㅋ*|ㅎㅎ*|농담",
        "sure, from|sure, let's|brilliant idea|great idea from|love it|clearly the best|yeah right|oh great|yeah sure|na klar|super idee|tolle idee|/sarcasm",
    ];
    /// Thanks, and what is said by the way.
    THANKS = [
        "thanks|thank you|thx|cheers|by the way|btw|danke|vielen dank|übrigens|merci|au fait|gracias|por cierto|grazie|a proposito|obrigado|obrigada|a propósito|bedankt|dank je|trouwens|tack|förresten|tak|for resten|takk|forresten|kiitos|muuten|спасибо|кстати|teşekkür*|bu arada|dzięki|dziękuję|przy okazji|谢谢|謝謝|顺便|ありがとう|ところで|고마워|감사|그런데",
    ];
    /// Supposed, not said.
    MAYBE = [
        "not yet|nothing yet|not decided|undecided|haven't decided|if i were|if i was|if we were|if it were|what if|what would|maybe|perhaps|not sure|i don't know|idk|dunno|should we|should i|shall we|let me think|thinking out loud|i'm thinking|wondering|i wonder|suppose|hypothetically|imagine|pretend|could we|might want|i guess|we could|would be nice|i'd never|i would never|we'd never|would you|do you think|in theory|in an ideal world|someday",
        "noch nicht|noch nichts|vielleicht|was wäre|wenn ich|angenommen|sollten wir|ich überlege|keine ahnung|weiß nicht|weiss nicht|nicht sicher|eventuell|peut-être|et si|je me demande|si j'étais|pas sûr|je ne sais pas|je sais pas|quizás|quizá|tal vez|a lo mejor|y si|no sé|no estoy seguro|si yo fuera|forse|magari|e se|non so|non sono sicuro|se fossi|talvez|não sei|será que|se eu fosse|misschien|stel dat|wat als|weet niet|als ik|kanske|tänk om|vet inte|måske|hvad hvis|ved ikke|kanskje|hva om|vet ikke|ehkä|entä jos|en tiedä",
        "может быть|может,|возможно|что если|не уверен*|не знаю|если бы|belki|acaba|emin değilim|bilmiyorum|może|a co jeśli|nie wiem|nie jestem pewn*|gdybym|也许|可能要|如果我是|要不要|不确定|不知道|假如|かもしれない|もし|たぶん|迷って|아마|만약|모르겠",
    ];
    /// Begins a question, with or without its mark.
    ASKS = [
        "why|how come|how do|how does|how did|how can|how could|how is|how are|how about|how much|how many|what is|what's|what are|what do|what does|what did|what was|what about|where is|where's|where are|where do|where does|where did|which one|which of|who is|who's|when is|when does|when did|is it|is there|is this|is that|are there|are these|does it|does this|do you|do we|do i|did you|did it|can you|can i|can we|could you|would you|will it",
        "warum|wieso|weshalb|was ist|was sind|was macht|wie kann|wie geht|wo ist|wo sind|kannst du|könntest du|pourquoi|comment faire|est-ce que|qu'est-ce|où est|peux-tu|por qué|cómo|qué es|dónde está|puedes|perché|come mai|cos'è|dov'è|puoi|por que|como é que|o que é|onde está|waarom|hoe kan|wat is|waar is|kun je|varför|vad är|hvorfor|hvad er|hva er|miksi|mikä on|почему|зачем|что такое|где|можешь|neden|niçin|nerede|dlaczego|czemu|co to|gdzie|为什么|怎么|什么是|なぜ|どうして|どうやって|왜|어떻게",
    ];
    /// Somebody else's words.
    SAID = [
        "said|says|told me|wrote|writes|claims|claimed|according to|quote|sagte|sagt|schrieb|schreibt|meinte|meint|laut|a dit|dit que|a écrit|selon|dijo|dice|escribió|según|ha detto|dice|ha scritto|secondo|disse|diz|escreveu|segundo o|zei|zegt|schreef|volgens|sa|säger|skrev|enligt|sagde|siger|ifølge|sier|sanoi|kirjoitti|сказал*|говорит|написал*|dedi|diyor|yazdı|powiedział*|mówi|napisał*|他说|她说|说过|写道|言って|書いて|라고",
    ];
    /// Where the words are meant to stand: text to write, not to keep.
    TARGET = [
        "todo|fixme|comment|docstring|docs|readme|changelog|banner|toast|tooltip|label|button|headline|placeholder|commit message|error message|print|echo|text says|kommentar|commentaire|comentario|commento|comentário|комментарий|yorum|komentarz|注释|コメント|주석",
    ];
    /// Begins a task of the moment.
    TASK = [
        "start|begin|fix|write|add|implement|update|check|look|continue|refactor|rename|create|make|build|open|show|give me the|tell me|find|move|delete|remove|commit|merge|apply|go|go ahead|finish|generate|let's|can you|could you|would you|can u|now|then|next|thanks|thank you|thx|cheers|here's|here is|proceed|rerun|re-run|try|set|put|change|clean|review|summarise|summarize|explain|revert|undo|draft|port|wire|bump|install|list|back to|carry on|run|test|debug|investigate|search|read|that's all|that's it|anyway|ok|okay|do it|do the|do that|convert|migrate|extract|replace|split|help|kick off|pick up|work on|get started|once done|when done|when you're done|also fix|also add|also check",
        "fang|mach|mache|schreib|schreibe|prüf|prüfe|zeig|zeige|starte|jetzt|nun|dann|danach|weiter|leg|bau|baue|füg|füge|änder|ändere|lösch|lösche|kannst du|könntest du|pass|schau|such|suche|setz|setze|korrigier|korrigiere|danke|behebe|beheb|als nächstes|erstell|erstelle|teste|implementier|implementiere",
        "corrige|commence|maintenant|ensuite|écris|ajoute|vérifie|regarde|montre|continue|peux-tu|tu peux|pourrais-tu|merci|lance|crée|supprime|renomme|mets à jour|passe à|fais|implémente|empieza|arregla|ahora|luego|escribe|añade|agrega|revisa|mira|muestra|continúa|sigue|puedes|podrías|gracias|crea|borra|cambia|ejecuta|haz|implementa",
        "inizia|correggi|ora|adesso|poi|scrivi|aggiungi|controlla|guarda|mostra|continua|puoi|potresti|grazie|cancella|sistema|fai|começa|comece|corrija|agora|depois|escreve|escreva|adiciona|adicione|verifica|verifique|olha|olhe|continue|pode|podes|poderia|obrigado|obrigada|cria|crie|apaga|roda|faz|faça|arruma",
        "begin|maak|schrijf|voeg|controleer|kijk|toon|ga verder|ga door|kun je|kan je|bedankt|nu|daarna|verwijder|start|pas|börja|fixa|skriv|lägg till|kolla|visa|fortsätt|kan du|tack|sedan|ta bort|gör|begynd|begynn|fiks|ret|tilføj|legg til|tjek|sjekk|vis|fortsæt|fortsett|tak|takk|nå|lav|lag|slet|slett|aloita|korjaa|kirjoita|lisää|tarkista|näytä|jatka|voitko|kiitos|nyt|sitten|poista|tee",
        "начни|исправь|напиши|добавь|проверь|посмотри|покажи|продолжай|можешь|спасибо|теперь|а теперь|затем|потом|удали|сделай|почини|запусти|başla|düzelt|yaz|ekle|kontrol et|bak|göster|devam et|şimdi|sonra|teşekkür*|sil|yap|oluştur|çalıştır|zacznij|napraw|napisz|dodaj|sprawdź|pokaż|kontynuuj|możesz|czy możesz|dzięki|teraz|potem|następnie|usuń|zrób|uruchom|popraw",
        "现在|然后|接下来|开始|修复|修一下|写一个|写个|帮我|请帮|继续|谢谢|麻烦|次に|それでは|では、|じゃあ|今から|まず|続けて|直して|ありがとう|이제|그럼|다음으로|먼저|계속|고쳐|고마|감사",
    ];
    /// What holds beyond the moment.
    LASTING = [
        "always|never|every|each|whenever|when|before|after|instead|only|any|all|must|unless|otherwise|or else|in this repo|in this project|from now on|everywhere|ever|by default|per",
        "immer|nie|niemals|jedes mal|jeden|jede|jedem|bevor|wenn|nur|müssen|muss|darf|dürfen|sonst|statt|toujours|jamais|chaque|avant|après|quand|seulement|sinon|siempre|nunca|cada|antes|después|cuando|solo|sino|sempre|mai|ogni|prima|dopo|quando|altrimenti|todo|toda|todos|todas|altijd|nooit|elke|voordat|nadat|alleen|anders|alltid|aldrig|aldri|varje|innan|altid|hver|før|etter|efter|bare|kun|aina|koskaan|ennen|всегда|никогда|каждый|каждую|каждое|перед|после|только|иначе|her zaman|asla|her|önce|yoksa|zawsze|nigdy|każdy|każdym|przed|tylko|inaczej",
        "总是|永远|必须|每|不要|以后|必ず|いつも|毎|常に|ないで|항상|절대|매|반드시",
    ];
    /// How such a sentence begins that only complains or lets go.
    IDIOM = [
        "never mind|nevermind|never say|never a|never the|never in|never ending|never thought|never seen|never saw|never heard|never had|never been|never was|never works|never worked|never happened|never knew|never got|never gets|never did|never does|never fails|never again|never once|never gonna|never been|never too|never enough",
        "always something|always some|always the|always at|always fails|always failing|always nice|always wanted|always a|always an|always this|always that|always these|always happens|always happening|always in|always on|always good|always fun|always one|always been|always has|always had|always was|always learning|always returns|always gives|always crashes|always so|always when|always there|always my|always these|always with|always red|always green|always broken|always null|always undefined|always empty|always false|always true|always zero|always right|always wrong|always late|always same",
        "immer das gleiche|immer dasselbe|immer der gleiche|immer derselbe|immer die gleiche|immer dieselbe|immer wieder|immer noch|immer dieser|immer diese|immer dieses|immer was|immer irgendwas|immer mehr|immer schlimmer|immer das|immer der|immer die|immer mit|immer an|immer in|immer bei|nie wieder dieser|nie im leben|nie gehört|nie gesehen|nie zuvor",
        "toujours le même|toujours la même|toujours pareil|toujours les|toujours le|toujours la|toujours pas|toujours un|jamais vu|jamais entendu|jamais eu|siempre lo mismo|siempre el mismo|siempre la misma|siempre igual|siempre el|siempre la|siempre hay|siempre algo|nunca funciona|nunca había|nunca vi|nunca falla|sempre la stessa|sempre lo stesso|sempre il|sempre la|sempre lo|sempre qualcosa|mai visto|mai sentito|mai più vist*|sempre o mesmo|sempre a mesma|sempre a|sempre o|sempre alguma|nunca vi",
        "altijd hetzelfde|altijd dezelfde|altijd wat|altijd iets|altijd het|altijd de|nooit gezien|nooit eerder|laat maar|alltid samma|alltid något|aldrig sett|strunta i|altid det samme|altid noget|alltid det samme|alltid noe|aldri sett|aina sama|aina jotain|всегда одно|всегда так|всегда что-то|всегда эта|никогда не видел*|никогда не знаешь|никогда такого|her zaman aynı|her zaman bir|asla bilemezsin|zawsze to samo|zawsze coś|zawsze ten|nigdy nie widział*|nigdy nie wiadomo|总是同样|总是这样|总是这个|いつも同じ|항상 똑같|항상 같은",
    ];
}

patterns! {
    /// Letters, digits and marks of a value, after words that announce a secret.
    SECRET = r#"(?x)(?:password|passwd|passphrase|passcode|passwort|kennwort|mot\ de\ passe|contraseña|senha|wachtwoord|lösenord|adgangskode|passord|salasana|пароль|şifre|parola|hasło|密码|密碼|パスワード|비밀번호|api[\ -]?key|secret|token|pin|credentials?|login|access\ key)
        [^\n:=]{0,40}? (?: [:=：] | \b(?:is|ist|est|es|è|é|lautet|jest|är|er|on)\b | 是 | は ) \s* ["'`]?
        [^\s"'`]* [0-9!@\#$%^&*+/~_-] [^\s"'`]*"#;
}
/// A value that names a place, not a secret.
static PLACE: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(
        "vault|1password|bitwarden|keychain|lastpass|keepass|.env*|secrets manager|ssm|kms|doppler|rotated|rotate",
    )
});

/// Whether a piece is said in jest.
pub(crate) fn is_jest(low: &str) -> bool {
    LAUGH.any(low)
}

/// Whether a sentence only accompanies what was said: thanks, a joke, or a word
/// for the moment.
pub(super) fn is_aside(low: &str) -> bool {
    let low = low.trim_start_matches(|c: char| !c.is_alphanumeric());
    THANKS.starts(low).is_some() || is_jest(low) || ONCE.any(low)
}

/// Whether a sentence asks for something to be done now.
pub(crate) fn is_task(low: &str) -> bool {
    let low = low.trim_start_matches(|c: char| !c.is_alphanumeric());
    let low =
        ["please ", "pls ", "so ", "and ", "but ", "also ", "bitte ", "und ", "et ", "y ", "e "]
            .into_iter()
            .find_map(|lead| low.strip_prefix(lead).filter(|rest| TASK.starts(rest).is_some()))
            .unwrap_or(low);
    let Some(end) = TASK.starts(low) else { return false };
    let rest = part(low, end..low.len());
    !low.starts_with("make sure") && !LASTING.any(rest)
}

/// Whether a sentence gives a secret away.
pub(crate) fn is_secret(text: &str, low: &str) -> bool {
    !crate::secrets::find(text).is_empty() || SECRET.is_in(low) && !PLACE.any(low)
}
