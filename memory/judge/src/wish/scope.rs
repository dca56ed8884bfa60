//! What kind of memory words make, and whom they hold for (L5.38).

use super::Tier;
use crate::phrase::{fold, part, phrases};
use everfold_memory_file::MemoryType;

phrases! {
    /// Holds wherever the person works.
    EVERYWHERE = [
        "all my projects|all projects|every project|any project|all my repos|all repos|every repo|any repo|whatever repo|all repositories|every repository|any repository|all my repositories|all my work|across projects|across repos|across all|everywhere|globally|everything you write for me|everything you do for me|in general for me|all my code|all sessions|every session|all conversations|whatever i work on|wherever i work|no matter which project|no matter which repo|any codebase|every codebase|all codebases",
        "alle meine projekte|allen meinen projekten|alle projekte|allen projekten|jedem projekt|jedes projekt|alle repos|allen repos|jedem repo|überall|projektübergreifend|global|tous mes projets|tous les projets|chaque projet|tous mes dépôts|tous les dépôts|partout|todos mis proyectos|todos los proyectos|cualquier proyecto|cada proyecto|todos mis repos|todos los repos|cualquier repo|en todas partes|tutti i miei progetti|tutti i progetti|ogni progetto|qualsiasi progetto|tutti i repo|ogni repo|ovunque|dappertutto|todos os meus projetos|todos os projetos|qualquer projeto|cada projeto|todos os repos|qualquer repo|em todo lugar|em todos os lugares",
        "al mijn projecten|alle projecten|elk project|ieder project|alle repo's|elke repo|overal|alla mina projekt|alla projekt|varje projekt|alla repon|överallt|alle mine projekter|alle projekter|hvert projekt|overalt|alle mine prosjekter|alle prosjekter|alle prosjektene|hvert prosjekt|overalt|kaikissa projekteissa|kaikissa projekteissani|joka projektissa|kaikkialla|всех моих проект*|всех проект*|любом проекте|каждом проекте|везде|всюду|tüm projelerim*|tüm projeler*|her projede|bütün projeler*|her yerde|wszystkich moich projekt*|wszystkich projekt*|każdym projekcie|wszędzie",
        "所有项目|我的所有项目|全部项目|任何项目|每个项目|所有仓库|到处|所有專案|全てのプロジェクト|すべてのプロジェクト|どのプロジェクトでも|全プロジェクト|どのリポジトリでも|모든 프로젝트|어떤 프로젝트|모든 저장소|모든 레포",
    ];
    /// Holds here, whatever else is said.
    HERE = [
        "this repo|this repository|this project|this codebase|this code base|our repo|our codebase|in here|this workspace|this monorepo|this service|this app|this team|diesem repo|diesem projekt|dieses projekt|dieses repo|hier|ce dépôt|ce projet|cette base|este repo|este proyecto|este repositorio|questo repo|questo progetto|este projeto|este repositório|neste projeto|neste repo|dit project|deze repo|det här projektet|det här repot|dette projekt|dette prosjektet|tässä projektissa|tässä repossa|этом проекте|этом репо*|bu projede|bu repoda|bu depoda|tym projekcie|tym repo*|这个项目|这个仓库|本项目|本仓库|此项目|このリポジトリ|このプロジェクト|本プロジェクト|이 프로젝트|이 저장소|이 레포",
    ];
    /// No more than that it is to last.
    EVER = [
        "next time|later|the future|future|good|next sessions|further reference|future reference|später|die zukunft|nächste mal|plus tard|la suite|la prochaine|l'avenir|después|luego|el futuro|la próxima|dopo|il futuro|la prossima|depois|mais tarde|o futuro|a próxima|de toekomst|de volgende keer|senare|framtiden|senere|fremtiden|fremtida|будущее|przyszłość|później|here on|now on",
    ];
    /// The person speaks of themselves.
    MYSELF = [
        "i am|i'm|i|my|me|call me|mine|myself|i've|i'd|ich|mein|meine|meinen|mir|mich|nenn mich|je|j'*|mon|ma|mes|moi|appelle-moi|yo|soy|mi|mis|me llamo|me gusta|prefiero|uso|vivo|trabajo|llámame|io|sono|mi chiamo|mio|mia|preferisco|uso|chiamami|eu|sou|meu|minha|me chamo|prefiro|moro|ik|mijn|noem mij|jag|min|mitt|mina|kalla mig|jeg|mit|mine|kald mig|kall meg|minä|olen|minun|nimeni|käytän|я|мой|моя|моё|мои|меня|мне|ben|benim|adım|bana|kullanıyorum|ja|mój|moja|moje|jestem|mam|wolę|mów mi|używam|我|我的|我是|叫我|私|僕|俺|私の|나는|저는|내|제|나를",
    ];
    /// Things that a person is, has or likes, told of themselves.
    TRAIT = [
        "name is|pronouns|call me|i prefer|i like|i love|i hate|i dislike|i can't stand|i use|i work|i live|i speak|i'm a|i'm an|i am a|i am an|i'm the|i am the|i'm new|i am new|i'm colo*|i'm dys*|i'm deaf|i'm blind|i'm left-handed|i'm based|i am based|i'm from|i'm in|time zone|timezone|my editor|my shell|my os|my role|my job|my terminal|my keyboard|my machine|my laptop|my native|my first language|my mother tongue|my birthday|my github|my handle|my email|my title|my team is|years of|give me|explain|for me|to me|i write|i don't know|i know|i read|i need|i want|i'd rather|i always|i never|i usually|i have|i've been|i type|i dictate|i run|i'm on|i am on",
        "ich heiße|mein name|nenn mich|ich bin|ich bevorzuge|ich mag|ich nutze|ich benutze|ich verwende|ich arbeite|ich wohne|ich spreche|meine zeitzone|mein editor|ich hasse|ich lese|ich möchte|ich will|für mich|je m'appelle|mon nom|appelle-moi|je suis|je préfère|j'aime|j'utilise|je travaille|j'habite|je parle|je déteste|je veux|pour moi|me llamo|mi nombre|llámame|soy|prefiero|me gusta|uso|trabajo|vivo|hablo|odio|quiero|para mí|mi chiamo|il mio nome|chiamami|sono un*|preferisco|mi piace|uso|lavoro|vivo|parlo|odio|voglio|per me|meu nome|me chamo|sou|prefiro|gosto|uso|trabalho|moro|falo|odeio|quero|para mim",
        "ik heet|mijn naam|noem mij|ik ben|ik heb liever|ik gebruik|ik werk|ik woon|ik spreek|ik wil|voor mij|jag heter|mitt namn|kalla mig|jag är|jag föredrar|jag gillar|jag använder|jag jobbar|jag bor|jag vill|jeg hedder|jeg heter|mit navn|navnet mitt|jeg er|jeg foretrækker|jeg foretrekker|jeg bruger|jeg bruker|jeg arbejder|jeg jobber|jeg bor|jeg vil|nimeni|olen|käytän|asun|haluan|pidän|меня зовут|моё имя|мое имя|я предпочитаю|я люблю|я использую|я работаю|я живу|я говорю|я хочу|я не люблю|я пишу|adım|ben bir|tercih eder*|kullanıyorum|çalışıyorum|yaşıyorum|istiyorum|mam na imię|nazywam się|jestem|wolę|lubię|używam|pracuję|mieszkam|mówię|chcę|nienawidzę",
        "我叫|我的名字|我是|我喜欢|我讨厌|我用|我使用|我住|我在|我偏好|我习惯|叫我|我不懂|我想要|私の名前|私は|僕は|好き|使って|제 이름|내 이름|저는|나는|좋아|선호|사용해",
    ];
    /// How the assistant is to speak: a taste, wherever it is said.
    MANNER = [
        "answer me|answer in|answers in|reply in|respond in|speak to me|talk to me|write to me|explain to me|keep answers|keep your answers|short answers|shorter answers|concise|be brief|no emojis|no emoji|emojis|in english|in german|in french|in spanish|in polish|bullet points|your answers|your replies|your responses|address me|apologise|apologize|sugarcoat|show me the plan|ask me before|antworte|antworten|duze mich|sieze mich|auf deutsch|auf englisch|kurz und knapp|réponds|réponses|tutoie-moi|en français|en anglais|responde|respuestas|en español|en inglés|rispondi|risposte|in italiano|in inglese|responda|respostas|em português|em inglês|antwoord|in het nederlands|in het engels|svara|på svenska|på engelska|svar mig|på dansk|på norsk|på engelsk|vastaa|suomeksi|englanniksi|отвечай|ответы|по-русски|на русском|на английском|cevap ver|yanıtla|türkçe|ingilizce|odpowiadaj|po polsku|po angielsku|用中文|用英文|用英语|回答|日本語で|英語で|答えて|返答|한국어로|영어로|대답|답변",
    ];
    /// Of the team, its product or its customers: nobody's trait.
    OURS = [
        "we|our|us|wir|unser*|uns|nous|notre|nos|nosotros|nuestro|nuestra|noi|nostro|nostra|nós|nosso|nossa|wij|onze|ons|vi|vår|vårt|våra|vores|me käytämme|meidän|мы|наш*|biz|bizim|my|nasz*|我们|我們|うちの|弊社|우리",
    ];
    /// Where to look outside the project.
    OUTSIDE = [
        "http://*|https://*|dashboard|dashboards|wiki|tracker|jira|linear|slack|#*|confluence|notion|grafana|kibana|loki|elk|datadog|sentry|prometheus|splunk|new relic|pagerduty|opsgenie|channel|runbook|runbooks|playbook|1password|bitwarden|vault|keychain|google drive|google doc|google docs|sharepoint|figma|miro|zendesk|intercom|statuspage|status page|logcli|cloudwatch|trello|asana|clickup|youtrack|artifactory|nexus|docs are at|documented in|documentation is|spec is in|spec lives|source is at|mailing list|rate limit|quota|vendor|supplier|provider's|third party|third-party|upstream api|discord|telegram|teams channel|postman|swagger|stripe dashboard",
        "anbieter|lieferant|ratenlimit|dokumentation liegt|doku liegt|liegt im|liegen im|kanal|fournisseur|prestataire|documentation est|canal|tableau de bord|proveedor|documentación está|tablero|panel|fornitore|documentazione è|canale|cruscotto|fornecedor|documentação está|painel|leverancier|documentatie staat|kanaal|leverantör|dokumentationen|kanalen|leverandør|dokumentasjonen|toimittaja|dokumentaatio|kanava|поставщик*|провайдер*|документация|дашборд*|вики|канал*|лимит*|tedarikçi*|sağlayıcı*|belge*|kanal*|dostawc*|dokumentacja|kanał*|日志在|文档在|供应商|限额|仪表盘|频道|ログは|ドキュメント|ダッシュボード|チャンネル|ベンダー|문서는|대시보드|채널|공급업체",
    ];
    /// An order to whoever does the work.
    ORDER = [
        "always|never|don't|do not|dont|use|avoid|prefer|you should|you must|only|before you|after you|stop|not to|run|write|ask|keep|put|make sure|no|without|instead of|when you|whenever you|commit|never ever|add|include|format|check|show",
        "immer|nie|niemals|verwende|benutze|nutze|nimm|vermeide|nicht|kein|keine|schreib|schreibe|frag|frage|bevor du|wenn du|bitte immer|bitte nie|toujours|jamais|ne|n'*|utilise|évite|n'utilise|pas de|écris|demande|avant de|siempre|nunca|no|usa|evita|escribe|pregunta|antes de|sempre|mai|non|usa|evita|scrivi|chiedi|prima di|use|usa|evite|não|escreve|escreva|pergunta|pergunte|antes de",
        "altijd|nooit|gebruik|vermijd|geen|niet|schrijf|vraag|voordat je|alltid|aldrig|använd|undvik|inte|inga|skriv|fråga|altid|brug|undgå|ikke|ingen|spørg|aldri|bruk|unngå|spør|aina|älä|käytä|vältä|kysy|всегда|никогда|не|используй|избегай|пиши|спрашивай|her zaman|asla|kullan|kullanma|kaçın|sor|zawsze|nigdy|nie|używaj|unikaj|pisz|pytaj",
        "总是|永远|不要|别|必须|请用|使用|用|务必|禁止|一律|先|必ず|絶対|常に|使って|항상|절대|반드시|사용해",
    ];
    /// An order in a language that puts it last.
    ORDER_LAST = [
        "しないで|ないで|してください|すること|禁止|使うこと|経由で|하지 마|하지마|하세요|할 것|해 줘|kullanma|yapma|etme|pushlama|不要直接|不要用|要用|verwenden|benutzen|nutzen|vermeiden|pushen|committen|commiten|mergen",
    ];
}

/// Whether words hold wherever the person works.
pub(super) fn is_everywhere(low: &str) -> bool {
    EVERYWHERE.any(low) && !HERE.any(low)
}

/// Whether words say no more than that something is to last.
pub(super) fn is_ever(low: &str) -> bool {
    EVER.any(low)
}

/// Whether a wish says of itself that it holds everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Everywhere,
    Unsaid,
}

impl Reach {
    /// As the words say that the wish stands in.
    pub(super) fn of(whole: &str) -> Self {
        if is_everywhere(&fold(whole)) { Self::Everywhere } else { Self::Unsaid }
    }
}

/// Bytes in which "in this repo," ends.
const HERE_BYTES: usize = 40;

/// A text without the words in front of it that say that it holds here.
fn after_here(start: &str) -> &str {
    let near = start.floor_char_boundary(HERE_BYTES.min(start.len()));
    match HERE.find(start, 0).filter(|range| range.end <= near) {
        Some(range) => {
            part(start, range.end..start.len()).trim_start_matches(|c: char| !c.is_alphanumeric())
        }
        None => start,
    }
}

/// The type and the tier of what a person said.
pub(super) fn kind_and_tier(text: &str, reach: Reach) -> (MemoryType, Tier) {
    let low = fold(text);
    let start = low.trim_start_matches(|c: char| !c.is_alphanumeric());
    let here = HERE.any(&low);
    let everywhere = reach == Reach::Everywhere;
    let person =
        MYSELF.any(&low) && TRAIT.any(&low) && (MYSELF.starts(start).is_some() || !OURS.any(&low));
    let manner = MANNER.any(&low);
    let order = ORDER.starts(after_here(start)).is_some() || ORDER_LAST.any(&low);
    let kind = if MYSELF.starts(start).is_some() && person {
        MemoryType::User
    } else if order && (!OUTSIDE.any(&low) || ORDER.starts(start).is_some()) || manner {
        MemoryType::Feedback
    } else if OUTSIDE.any(&low) {
        MemoryType::Reference
    } else if person {
        MemoryType::User
    } else if everywhere {
        MemoryType::Feedback
    } else {
        MemoryType::Project
    };
    let personal = kind == MemoryType::User || manner && kind == MemoryType::Feedback;
    let tier = if (personal || everywhere) && !here || kind == MemoryType::User && everywhere {
        Tier::Global
    } else {
        Tier::Project
    };
    (kind, tier)
}
