//! What single words are, in the languages of R15: whether they carry a
//! meaning, which day or number they name, and what stands for the same.
//!
//! The lists are short on purpose: they hold what recurs in notes on software
//! work, so that a note in one language meets a note in another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What is known of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It carries no meaning of its own.
    Stop,
    /// It is in notes about anything.
    Generic,
    /// It turns a statement round.
    Negation,
    /// A day of the week, from Monday, in a language.
    Weekday(usize, usize),
    /// A month, from January.
    Month(usize),
    /// A number in words.
    Number(usize),
    /// A tool or a service, with the families that it is of, a bit for each:
    /// one takes the place of another.
    Tool(u64),
    /// One of several words for the same.
    Concept(&'static str),
    /// A tool or a language by its name in another language.
    Alias(&'static str),
}

/// What is known of a lower-case word.
pub(super) fn entry(word: &str) -> Option<Entry> {
    ENTRIES.get(word).copied()
}

/// Whether a tool bears the name of a common thing, so that it takes a capital
/// to tell them apart.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.split(' ').any(|common| common == word)
}

/// A day of the week in a language, in lower case.
pub(super) fn weekday(day: usize, language: usize) -> &'static str {
    let row = WEEKDAYS.get(language).copied().unwrap_or_default();
    row.split(' ').nth(day).unwrap_or_default()
}

/// The words that may stand for the same as a word, or in its place.
pub(super) fn akin(word: &str) -> impl Iterator<Item = &'static str> {
    let rows: Vec<&'static str> = match entry(word) {
        Some(Entry::Concept(_)) => {
            CONCEPTS.iter().copied().filter(|row| is_in(row, word)).collect()
        }
        Some(Entry::Tool(_)) => {
            TOOLS.iter().chain(ALIASES).copied().filter(|row| is_in(row, word)).collect()
        }
        Some(Entry::Alias(tool)) => {
            TOOLS.iter().chain(ALIASES).copied().filter(|row| is_in(row, tool)).collect()
        }
        _ => Vec::new(),
    };
    rows.into_iter().flat_map(str::split_whitespace)
}

fn is_in(row: &str, word: &str) -> bool {
    row.split_whitespace().any(|known| known == word)
}

/// Whether a text is German, where every noun has a capital.
pub(super) fn is_german(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| {
        (2..=6).contains(&word.len()) && GERMAN_WORDS.contains(word.to_lowercase().as_str())
    });
    words.take(2).count() == 2
}

static GERMAN_WORDS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| GERMAN.split(' ').collect());

static ENTRIES: LazyLock<BTreeMap<&'static str, Entry>> = LazyLock::new(|| {
    let mut all = BTreeMap::new();
    let mut put = |words: &'static str, entry: Entry| {
        for word in words.split_whitespace() {
            all.insert(word, entry);
        }
    };
    for row in CONCEPTS {
        let first = row.split(' ').next().unwrap_or_default();
        put(row, Entry::Concept(first));
    }
    put(GENERIC, Entry::Generic);
    for row in STOP {
        put(row, Entry::Stop);
    }
    put(NEGATIONS, Entry::Negation);
    for row in MONTHS {
        each(row, &mut |at, word| put(word, Entry::Month(at)));
    }
    for row in NUMBERS {
        each(row, &mut |at, word| put(word, Entry::Number(at + 1)));
    }
    for row in WEEKDAY_FORMS.iter().chain(WEEKDAYS) {
        let (language, row) = match row.split_once(':') {
            Some((language, row)) => (language.parse().unwrap_or_default(), row),
            None => (WEEKDAYS.iter().position(|known| known == row).unwrap_or_default(), *row),
        };
        each(row, &mut |at, word| put(word, Entry::Weekday(at, language)));
    }
    for row in ALIASES {
        let first = row.split(' ').next().unwrap_or_default();
        all.extend(row.split(' ').skip(1).map(|word| (word, Entry::Alias(first))));
    }
    for (family, row) in TOOLS.iter().enumerate() {
        for word in row.split_whitespace() {
            let bits = match all.get(word) {
                Some(Entry::Tool(bits)) => *bits,
                _ => 0,
            };
            all.insert(word, Entry::Tool(bits | 1 << family));
        }
    }
    all
});

/// The words of a row; `-` leaves a place empty.
fn each(row: &'static str, call: &mut dyn FnMut(usize, &'static str)) {
    for (at, word) in row.split(' ').enumerate().filter(|(_, word)| *word != "-") {
        call(at, word);
    }
}

const COMMON: &str = "render rest solid standard actions black outline ant hatch parcel drone nose \
                      teams linear matrix cursor vault helix shortcut moment rome clerk ses";

const GERMAN: &str = "der die das den dem ist sind nicht und wir ich mit für auf wird werden \
                      ab jetzt mehr nur kein keine muss zum zur im vom auch noch immer bitte über";

const STOP: &[&str] = &[
    "a about after again all also am an and any anymore are as at be because been before being \
     between both but by can could d did do does doing during each either few for from had has \
     have having he her here hers him his how i if in into is it its just ll longer m me more \
     most my now of off on once only or other our out over own please pls re s same she should \
     since so some still such t than that the their theirs them then there these they this those \
     though through to too under until up us ve very via was we were what whatever when where \
     which while who whom why will with would you your yours btw fyi ok okay like said besides \
     additionally instead else per let whole every must may might shall",
    "der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden wurde \
     und oder aber mit für auf aus bei von vom zu zum zur im ins am an ab bis als wie wenn weil da \
     dass so es er sie wir ihr ich du mich mir uns euch sich mein unser unsere hat haben hatte auch \
     noch nur mehr jetzt schon immer bitte statt seit über unter vor nach durch man kann muss soll \
     alle alles jede jeder jeden jedes dann doch mal hier dort diese dieser dieses sein seine ihre",
    "le la les un une des du de d l et ou mais est sont était avec pour dans sur par au aux en ce \
     cette ces il elle on nous vous ils elles je tu se sa son ses leur leurs qui que quoi dont où \
     plus maintenant désormais aussi également tout tous toute toutes y qu c j s n être été avoir \
     ont avons notre nos votre mon ma mes",
    "el los las una unos unas del al y o pero es son era está están con para por en este esta \
     estos estas ese esa lo le les se su sus nos nosotros yo tú que como más ahora también además \
     todo todos toda todas ya ser estar hay ha han hemos mi mis nuestra nuestro cada",
    "il lo gli i una uno dei delle degli dello della nel nella nei sul sulla al alla ai con per tra \
     fra è sono era che chi come più ora adesso anche tutto tutti tutte ci si ha hanno abbiamo noi \
     loro questo questa questi queste di da e ed ma o",
    "o os as um uma uns umas do da dos das no na nos nas ao à com para por em que como mais agora \
     também todo todos toda todas é são era está estão se seu sua nós você ele ela foi ser ter \
     tem temos isso este esta pelo pela",
    "de het een en of maar is zijn was waren met voor op in van te ten ter bij naar aan om als dan \
     die dat dit deze er we wij ik je jij hij zij ze ons onze mijn nu ook nog meer al alle alles \
     wordt worden heeft hebben sinds vanaf even",
];

const NEGATIONS: &str = "not no never none neither nor without don't doesn't didn't isn't aren't \
    wasn't won't can't cannot shouldn't mustn't wouldn't dont doesnt isnt cant avoid forbid forbidden \
    banned prohibited nicht nie niemals kein keine keinen keinem keiner ohne verboten ne pas jamais \
    sans aucun aucune nunca jamás sin ningún ninguna non mai senza não sem nenhum nenhuma niet nooit \
    geen zonder";

/// In notes about anything: verbs that any statement may have, and the words
/// of a change itself.
const GENERIC: &str = "add added ask become becomes became bring call called care change changed \
    changes changing come comes date done fine get gets getting go goes going gone good got \
    happen happens happened handle handled handles keep keeps kept know leave left live lives located look make makes made \
    mean means move moved moves moving name named need needed needs new old ok allowed okay \
    prefer put puts ran renamed replace replaced run running runs say see set sits slip slipped start started stay \
    stays switch switched switching take taken takes tell thing things time try turn use used \
    uses using want wants way went work works migrated migrate week weeks month months year years \
    day days today currently always usually person user insist insists like mind matter matters \
    stop stopped drop dropped everything anything whatever something soon first last next own \
    done decided decision guys team's number actually really anyway currently welcome happening \
    neu neue neuen neuer neues geht gehen läuft laufen macht machen gemacht nutzen benutzen \
    verwenden verwendet brauchen braucht umgezogen gewechselt wechseln geändert verschoben liegt \
    liegen heißt datum künftig zukünftig entschieden sinnlose gab gibt woche person \
    utilise utiliser utilisons utilisé passe passé passer va vont fait faire besoin nouveau \
    nouvelle déménagé changé trouve date \
    usa usar usamos uso va van hace hacer hacen necesita necesitan nuevo nueva cambiado cambió \
    cambiar pasó pasa pasado fecha movido hecho \
    usare usiamo usato viene vengono va vanno fatto fare serve servono nuovo nuova cambiato \
    spostato spostata passato \
    usamos usa vai vão feito fazer precisa precisam novo nova mudou mudado mudar passou \
    gebruik gebruiken gebruikt gaat gaan draait draaien doet doen nodig nieuw nieuwe verhuisd \
    gewijzigd overgestapt staat staan \
    変更 移行 延期 今後 現在 离职 退職 必要 使用 改为 改成 改到 换成 现在 以后 需要 利用 時間 时间";

/// One takes the place of another in the same row.
const TOOLS: &[&str] = &[
    "heroku fly fly.io aws gcp azure vercel netlify render railway digitalocean hetzner linode \
     cloudflare ovh scaleway firebase ec2 fargate ecs",
    "npm pnpm yarn bun",
    "jenkins circleci travis buildkite teamcity drone argocd spinnaker github-actions actions \
     gitlab-ci woodpecker bamboo gitlab github",
    "jest vitest mocha jasmine ava karma",
    "pytest unittest nose",
    "playwright cypress selenium puppeteer testcafe",
    "tabs spaces tab space",
    "postgres postgresql mysql mariadb sqlite oracle mssql cockroachdb mongodb mongo dynamodb \
     planetscale",
    "redis memcached valkey keydb dragonfly",
    "kafka rabbitmq sqs nats pulsar kinesis",
    "slack discord teams mattermost zulip matrix rocket.chat",
    "jira linear trello asana youtrack clickup shortcut",
    "confluence notion wiki gitbook outline coda",
    "sentry bugsnag rollbar honeybadger glitchtip",
    "datadog grafana newrelic honeycomb kibana elk loki splunk prometheus cloudwatch",
    "react vue svelte angular solid preact qwik",
    "eslint biome oxlint prettier tslint standard rome",
    "black ruff flake8 pylint yapf autopep8 isort",
    "webpack vite rollup esbuild parcel turbopack rspack",
    "github gitlab bitbucket gitea codeberg forgejo",
    "stripe adyen paypal braintree mollie paddle",
    "poetry pip uv pipenv conda pdm hatch",
    "maven gradle bazel ant sbt",
    "docker podman containerd buildah",
    "vim neovim emacs vscode intellij zed cursor helix",
    "bash zsh fish powershell nushell",
    "auth0 okta keycloak cognito clerk",
    "sendgrid mailgun postmark ses mailchimp brevo",
    "terraform pulumi opentofu cloudformation ansible",
    "squash rebase merge-commit",
    "rest graphql grpc trpc soap",
    "moment dayjs date-fns luxon",
    "1password bitwarden vault lastpass doppler",
    "python ruby java kotlin golang rust typescript javascript php scala elixir",
    "main master develop trunk",
    "english german french spanish italian dutch portuguese",
];

/// The first of a row by its other names.
const ALIASES: &[&str] = &[
    "english englisch inglés anglais inglese inglês engels",
    "german deutsch alemán allemand tedesco alemão duits",
    "french französisch francés français francese francês frans",
    "spanish spanisch español espagnol spagnolo espanhol spaans",
    "italian italienisch italiano italien italiaans",
    "dutch niederländisch holandés néerlandais olandese holandês nederlands",
    "spaces leerzeichen espaces espacios spazi espaços spaties",
];

/// Several words for the same, the first one stands for all.
const CONCEPTS: &[&str] = &[
    "production prod produktion produktiv produktivsystem producción produzione produção productie 本番 生产 线上 프로덕션",
    "database db datenbank databank basededatos databases dbs 数据库",
    "repository repo repos repositorio dépôt depot",
    "documentation docs doc doku dokumentation documentación documentazione documentação documentatie",
    "configuration config configs cfg konfiguration",
    "environment env envs umgebung entorno environnement",
    "release releases rel veröffentlichung lanzamiento versión rilascio rilasci 发布 发版 リリース 릴리스 배포판",
    "deploy deploys deployment deployments deployed deploying deployen deployt ausrollen rollout despliegue despliegues déploiement \
     déploiements desplegamos implantação implantações 部署 デプロイ 배포",
    "test tests testing testen pruebas prueba essais testes 测试 テスト 테스트",
    "coverage testabdeckung abdeckung cobertura couverture copertura dekking 覆盖 カバレ 커버리지",
    "limit limits threshold grenze schwelle límite limite drempel grens 上限 制限",
    "customer customers client clients kunde kunden cliente clientes clienti klant klanten",
    "invoice invoices rechnung rechnungen facture factures factura facturas fattura fatture fatura facturen",
    "server servers servidor servidores serveur serveurs",
    "meeting meetings besprechung reunión réunion riunione reunião vergadering 会议 会議 미팅",
    "branch branches zweig rama branche",
    "review reviews reviewer reviewers prüfung revisión revue revisione revisão 评审 レビュー 리뷰",
    "approval approvals approve approves approved genehmigung freigabe freigaben genehmigt aprobación aprobaciones \
     approbation approbations approvazione approvazioni aprovação aprovações goedkeuring goedkeuringen 批准 承認 승인",
    "backup backups sicherung sicherungen respaldo respaldos sauvegarde sauvegardes copia 备份 バッ 백업",
    "launch start launching lancement lanzamiento lancio lançamento lancering",
    "deadline deadlines frist fecha-límite échéance scadenza prazo 截止 締切 마감",
    "owner owners owns owned verantwortlich zuständig besitzer responsable responsables responsabile responsável \
     verantwoordelijk eigenaar 负责 担当 담당",
    "host hosted hosting hosts gehostet hébergé hébergée alojado alojada ospitato hospedado gehost 托管",
    "password passwords passwort contraseña senha wachtwoord",
    "key keys schlüssel clé clés clave claves chiave chave sleutel",
    "export exports exporte exportación esportazione exportação",
    "import imports",
    "port ports puerto porta poort 端口 ポート 포트",
    "version versions versie versione versão",
    "timeout timeouts",
    "log logs logging protokoll 日志 ログ 로그",
    "channel channels kanal canal canale kanaal",
    "language languages sprache idioma langue lingua taal",
    "message messages nachricht nachrichten mensaje mensajes messaggio mensagem bericht",
    "report reports bericht berichte informe informes rapport rapports relatório",
    "supplier suppliers lieferant fournisseur proveedor fornitore fornecedor leverancier",
    "price prices preis preise precio prix prezzo preço prijs",
    "table tables tabelle tabla tabella tabela tabel",
    "file files datei dateien fichier fichiers archivo archivos arquivo bestand",
    "code quelltext código codice",
    "warehouse lager almacén entrepôt magazzino armazém magazijn",
    "minute minutes minuten min mins minutos minuti",
    "second seconds sekunden segundos secondes secondi sec secs",
    "hour hours stunden stunde horas heures ore uur",
    "ticket tickets",
    "standup stand-up stand-ups standups daily dailies",
    "contact ansprechpartner contacto ansprechpartnerin contatto",
    "retention aufbewahrung retención rétention",
    "commit commits",
];

const WEEKDAYS: &[&str] = &[
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira - -",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
];

/// Other forms, each row with its language before it.
const WEEKDAY_FORMS: &[&str] = &[
    "0:mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "0:- tues weds thurs fri - -",
    "0:- tue wed thu - - -",
    "1:montags dienstags mittwochs donnerstags freitags samstags sonntags",
    "1:- - - - - sonnabend -",
    "2:lundis mardis mercredis jeudis vendredis samedis dimanches",
    "3:- - miercoles - - sábados domingos",
    "4:lunedi martedi mercoledi giovedi venerdi - -",
    "5:segundas-feiras terças-feiras quartas-feiras quintas-feiras sextas-feiras - -",
    "5:- terça quarta quinta sexta - -",
    "5:- terças quartas quintas sextas - -",
    "6:maandagen dinsdagen woensdagen donderdagen vrijdagen zaterdagen zondagen",
];

const MONTHS: &[&str] = &[
    "january february march april may june july august september october november december",
    "jan feb mar apr - jun jul aug sep oct nov dec",
    "januar februar märz - mai juni juli - - oktober - dezember",
    "janvier février mars avril - juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio - aprile maggio giugno luglio - settembre ottobre - dicembre",
    "janeiro fevereiro março - maio junho julho - setembro outubro novembro dezembro",
    "januari februari maart - mei - - augustus - - - -",
];

const NUMBERS: &[&str] = &[
    "one two three four five six seven eight nine ten eleven twelve",
    "- zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "- deux trois quatre cinq six sept huit neuf dix onze douze",
    "- dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "- due tre quattro cinque sei sette otto nove dieci undici dodici",
    "- dois três quatro cinco seis sete oito nove dez onze doze",
    "- twee drie vier vijf zes zeven - negen tien - twaalf",
];
