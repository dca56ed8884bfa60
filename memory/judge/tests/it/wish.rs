//! What is kept by rule, in many words and languages (L5.19, L5.37, L5.38).

use crate::keep::found;
use everfold_kernel::limits::ExtractLimits;
use everfold_memory_file::MemoryType;
use everfold_memory_judge::Testimony;
use everfold_memory_judge::wish::{Certainty, Tier, WishRules, kind_and_tier, stated, wishes};

/// Prompts with an explicit wish, and what has to be kept of it.
const EXPLICIT: &[(&str, &str)] = &[
    ("remember that the billing cron lives on box-7", "The billing cron lives on box-7"),
    ("Please remember: invoices are rounded half up", "Invoices are rounded half up"),
    ("can you remember that i use zsh?", "I use zsh"),
    ("could you please keep in mind that QA is in Lisbon", "QA is in Lisbon"),
    ("don't forget that the queue is drained at noon", "The queue is drained at noon"),
    ("dont forget: tokens rotate every 30 days", "Tokens rotate every 30 days"),
    ("Keep in mind, our CI has only 2 runners", "Our CI has only 2 runners"),
    ("note for later: the importer needs ICU 72", "The importer needs ICU 72"),
    ("make a note that Priya signs off on pricing", "Priya signs off on pricing"),
    ("for the record, we never round timestamps", "We never round timestamps"),
    ("add this to memory: the sandbox resets at midnight", "The sandbox resets at midnight"),
    ("save this to memory: prod is eu-west-3", "Prod is eu-west-3"),
    ("save to memory that demo data lives in seeds/demo.sql", "Demo data lives in seeds/demo.sql"),
    ("memorize: our tax ids have 11 digits", "Our tax ids have 11 digits"),
    ("commit to memory that the CFO reads the weekly report", "The CFO reads the weekly report"),
    ("fix the footer. also remember that Safari has no :has there", "Safari has no :has there"),
    ("ok. remember: the crawler honours robots.txt", "The crawler honours robots.txt"),
    ("ok great. and please remember we tag releases with calver", "We tag releases with calver"),
    (
        "Thanks! Remember that the API gateway caps bodies at 6 MB.",
        "The API gateway caps bodies at 6 MB",
    ),
    ("i want you to remember that my manager is Ines", "My manager is Ines"),
    ("you should remember that the mirror lags by 5 minutes", "The mirror lags by 5 minutes"),
    ("make sure to remember that orders are soft-deleted", "Orders are soft-deleted"),
    (
        "remember this: the fax gateway is real and people use it",
        "The fax gateway is real and people use it",
    ),
    ("Remember the following: no ORM in the ingest path", "No ORM in the ingest path"),
    (
        "remember for next time: the seed script takes 20 minutes",
        "The seed script takes 20 minutes",
    ),
    ("remember to always run the linter before you push", "Always run the linter before you push"),
    ("bear in mind that the tablet app is offline first", "The tablet app is offline first"),
    ("memo: the vendor portal is down on weekends", "The vendor portal is down on weekends"),
    ("btw, remember the wiki moved to docs.acme.example", "The wiki moved to docs.acme.example"),
    ("our fiscal year starts in April, remember that", "Our fiscal year starts in April"),
    ("The staging bucket is public. Remember that.", "The staging bucket is public"),
    ("we ship to Norway too now, don't let me forget", "We ship to Norway too now"),
    (
        "remember: the parser is hand-written. Don't replace it with a generator. Fix the lexer test now.",
        "The parser is hand-written. Don't replace it with a generator",
    ),
    ("remember that prices are in cents, now run the tests", "Prices are in cents"),
    (
        "Remember that deploys wait for Thursday. Thanks for the nice pasta by the way, it was all gone.",
        "Deploys wait for Thursday",
    ),
    ("remember that we use tabs. never trust a squirrel, haha", "We use tabs"),
    ("Remember that QA is in Lisbon. Übrigens war das Essen immer gut.", "QA is in Lisbon"),
    (
        "remember: the error \"could not reach the upstream host at all\" means the VPN is off",
        "The error \"could not reach the upstream host at all\" means the VPN is off",
    ),
    (
        "remember:\n- the API is versioned by header\n- v0 is dead",
        "- the API is versioned by header\n- v0 is dead",
    ),
    ("for all my projects, remember that i like tabs", "I like tabs"),
    ("when you write tests, remember to never use sleep", "When you write tests, never use sleep"),
    ("merk dir, dass Katrin die Preise pflegt", "Katrin die Preise pflegt"),
    (
        "Merke dir bitte: der Kunde Voss zahlt per Lastschrift",
        "Der Kunde Voss zahlt per Lastschrift",
    ),
    ("Bitte denk daran, dass der Export nachts läuft", "Der Export nachts läuft"),
    ("vergiss nicht: die IBAN wird nie geloggt", "Die IBAN wird nie geloggt"),
    ("Vergiss bitte nicht, dass wir zwei Mandanten haben", "Wir zwei Mandanten haben"),
    ("Notiz für später: Adapter B ist veraltet", "Adapter B ist veraltet"),
    ("Kannst du dir merken? Nein? gut. Notiere: Port 8443 ist belegt", "Port 8443 ist belegt"),
    ("behalte im Kopf, dass Jule im März aufhört", "Jule im März aufhört"),
    ("retiens que le serveur de recette est à Lyon", "Le serveur de recette est à Lyon"),
    ("Souviens-toi que les prix sont TTC", "Les prix sont TTC"),
    ("n'oublie pas que le cache expire après 10 minutes", "Le cache expire après 10 minutes"),
    ("garde en tête que Paul valide les maquettes", "Paul valide les maquettes"),
    ("Rappelle-toi : on livre le jeudi", "On livre le jeudi"),
    ("recuerda que los pedidos se cierran a las 18h", "Los pedidos se cierran a las 18h"),
    ("Ten en cuenta que el almacén usa otra zona horaria", "El almacén usa otra zona horaria"),
    ("no olvides que Marta aprueba los diseños", "Marta aprueba los diseños"),
    ("apunta: el servidor viejo se llama tortuga", "El servidor viejo se llama tortuga"),
    ("ricorda che il listino cambia a gennaio", "Il listino cambia a gennaio"),
    ("tieni a mente che Luca è il referente del cliente", "Luca è il referente del cliente"),
    ("non dimenticare che la cache è condivisa", "La cache è condivisa"),
    ("lembre-se de que o relatório sai às terças", "O relatório sai às terças"),
    ("não esqueça que o time de dados usa Snowflake", "O time de dados usa Snowflake"),
    ("anota aí: a fila trava com mais de 500 itens", "A fila trava com mais de 500 itens"),
    ("onthoud dat Femke de vertalingen doet", "Femke de vertalingen doet"),
    ("vergeet niet dat het magazijn om 17u sluit", "Het magazijn om 17u sluit"),
    ("Hou er rekening mee dat de klant in Suriname zit", "De klant in Suriname zit"),
    ("kom ihåg att Elin äger betalflödet", "Elin äger betalflödet"),
    ("glöm inte att testmiljön stängs kl 20", "Testmiljön stängs kl 20"),
    ("husk at Mikkel godkender alle migreringer", "Mikkel godkender alle migreringer"),
    ("husk: kunden bruker fortsatt IE-modus", "Kunden bruker fortsatt IE-modus"),
    ("ikke glem at lageret er i Bergen", "Lageret er i Bergen"),
    ("muista että varasto on Oulussa", "Varasto on Oulussa"),
    ("älä unohda: tuotanto on Frankfurtissa", "Tuotanto on Frankfurtissa"),
    ("запомни: склад закрывается в 19:00", "Склад закрывается в 19:00"),
    ("Имей в виду, что отчёты читает бухгалтерия", "Отчёты читает бухгалтерия"),
    ("не забудь, что у нас два часовых пояса", "У нас два часовых пояса"),
    ("unutma: depo pazar günleri kapalı", "Depo pazar günleri kapalı"),
    ("şunu aklında tut: fiyatlar KDV dahil", "Fiyatlar KDV dahil"),
    ("zapamiętaj: raporty idą do Krakowa", "Raporty idą do Krakowa"),
    ("pamiętaj, że magazyn nie pracuje w soboty", "Magazyn nie pracuje w soboty"),
    ("jegyezd meg: a raktár Győrben van", "A raktár Győrben van"),
    ("ține minte că depozitul e la Cluj", "Depozitul e la Cluj"),
    ("θυμήσου ότι η αποθήκη είναι στη Λάρισα", "Η αποθήκη είναι στη Λάρισα"),
    ("تذكر أن المستودع في جدة", "المستودع في جدة"),
    ("请记住：仓库在苏州，不在上海", "仓库在苏州，不在上海"),
    ("别忘了发票要用新抬头", "发票要用新抬头"),
    ("記住，報表每週一寄給客戶", "報表每週一寄給客戶"),
    ("覚えておいてください：倉庫は大阪にあります", "倉庫は大阪にあります"),
    ("倉庫は大阪にあることを覚えておいて", "倉庫は大阪にあることを"),
    ("忘れないで、締め日は25日です", "締め日は25日です"),
    ("기억해 줘: 창고는 부산에 있어", "창고는 부산에 있어"),
    ("잊지 마세요: 배포는 화요일에만 합니다", "배포는 화요일에만 합니다"),
    (
        "please remember i'm vegetarian when you plan team lunches",
        "I'm vegetarian when you plan team lunches",
    ),
    ("remember across all my repos: no AI attribution in commits", "No AI attribution in commits"),
    ("remember globally that I prefer rebase over merge", "I prefer rebase over merge"),
    (
        "yes do that. and remember, deploys go through Spinnaker, not Jenkins. Jenkins is only for the old monolith.",
        "Deploys go through Spinnaker, not Jenkins. Jenkins is only for the old monolith",
    ),
    (
        "Refactor the client. Remember the API returns 202 first. Then write tests.",
        "The API returns 202 first",
    ),
    ("Could you make a note that Ravi is the DPO?", "Ravi is the DPO"),
    (
        "I need you to remember one thing: the intern has no prod access",
        "The intern has no prod access",
    ),
    ("write it to memory: the mirror is in Oslo", "The mirror is in Oslo"),
    ("Merk dir für alle meine Projekte: ich will kurze Antworten", "Ich will kurze Antworten"),
    ("wichtig, merk dir dass die Preise netto sind", "Die Preise netto sind"),
    ("Mémorise ceci : le client s'appelle Delvaux", "Le client s'appelle Delvaux"),
    ("et n'oublie pas : les factures partent le 5 du mois", "Les factures partent le 5 du mois"),
    ("guarda en memoria que la VPN cae los lunes", "La VPN cae los lunes"),
    ("prendi nota che Giulia approva i preventivi", "Giulia approva i preventivi"),
    ("tenha em mente que o cliente está em Luanda", "O cliente está em Luanda"),
    ("Onthoud voor al mijn projecten: ik gebruik neovim", "Ik gebruik neovim"),
    ("notera att leveranser sker på tisdagar", "Leveranser sker på tisdagar"),
    ("pidä mielessä että asiakas on Turussa", "Asiakas on Turussa"),
    ("и запомни: логи хранятся 14 дней", "Логи хранятся 14 дней"),
    ("Unutma, müşteri İzmir'de", "Müşteri İzmir'de"),
    ("zrób to i pamiętaj, że klient płaci w euro", "Klient płaci w euro"),
    ("请你记住我们用的是东八区时间", "我们用的是东八区时间"),
    ("メモして：顧客は名古屋です", "顧客は名古屋です"),
    ("우리 서버는 도쿄에 있다는 걸 기억해 줘", "우리 서버는 도쿄에 있다는 걸"),
];

#[test]
fn l5_37_an_explicit_wish_is_kept_whole_in_every_language() {
    let mut wrong = Vec::new();
    for (prompt, body) in EXPLICIT {
        let kept = found(prompt);
        let sure: Vec<&str> = kept
            .iter()
            .filter(|w| w.certainty == Certainty::Sure)
            .map(|w| w.body.as_str())
            .collect();
        if sure != [*body] {
            wrong.push(format!(
                "{prompt:?}\n   wants {body:?}\n   has   {:?}",
                kept.iter().map(|w| (w.certainty, w.rule, &w.body)).collect::<Vec<_>>()
            ));
        }
        let explicit =
            wishes(&crate::keep::heard(prompt), WishRules::ExplicitOnly, &ExtractLimits::default());
        assert_eq!(explicit.len(), usize::from(!sure.is_empty()), "{prompt}");
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), EXPLICIT.len(), wrong.join("\n"));
}

/// Prompts of which nothing is kept, sure or not.
const NOTHING: &[&str] = &[
    "do you remember the flag for that?",
    "do you still remember what i told you about caching?",
    "I can't remember how we named it",
    "i remember this used to work",
    "as far as I remember the port was 8080",
    "if I remember correctly it was in utils",
    "remember when CI took two hours, wild",
    "remember how we did it last time? do the same",
    "remember the time we dropped prod",
    "add a 'remember me' checkbox to the login form",
    "implement remember me on the login page",
    "write the endpoint and don't forget to add tests",
    "fix the bug and remember to update the snapshot",
    "don't forget the tests",
    "no need to remember that",
    "you don't have to remember this",
    "never mind",
    "nevermind, it was a typo",
    "never seen that before, weird",
    "never had this problem on linux",
    "always the same with this pipeline",
    "always fun when the vpn drops",
    "always fails on the second run",
    "it always fails on the second run",
    "why does it always time out?",
    "should we never cache this?",
    "what if we always retried?",
    "maybe always use UTC? not sure",
    "just this once, never mind the style guide",
    "for this PR always squash",
    "in this commit never touch the lockfile",
    "this time use yarn",
    "for now always skip the e2e suite",
    "use the mock for the time being",
    "i'm a bit confused by the diff",
    "i am a fan of this approach",
    "i'm so done with webpack",
    "i'm on the train, short answer please",
    "i'm trying to get the build green",
    "if i were the boss we'd never ship on mondays lol",
    "haha always blame the intern",
    "never trust a developer on friday ;)",
    "sure, always deploy straight to prod, what could go wrong /s",
    "let's pretend we always use tabs, what changes?",
    "continue",
    "go on with the next file",
    "run it again",
    "rename foo to bar",
    "what does 'never' do in typescript?",
    "explain the never type to me",
    "does git always sign commits?",
    "was bedeutet \"vergiss nicht\" auf polnisch?",
    "erinnerst du dich an den Fehler von gestern?",
    "immer das gleiche mit dem build",
    "nur dieses mal ohne tests committen",
    "tu te souviens du nom de la branche ?",
    "pour l'instant utilise sqlite",
    "toujours le même problème",
    "¿recuerdas cómo se llamaba?",
    "por ahora usa el puerto 4000",
    "siempre lo mismo con este build",
    "ti ricordi come si chiamava il file?",
    "per ora lascia stare",
    "você lembra o nome do arquivo?",
    "weet je nog hoe het heette?",
    "voorlopig poort 4000 gebruiken",
    "kommer du ihåg namnet?",
    "помнишь, как назывался файл?",
    "пока используй sqlite",
    "hatırlıyor musun?",
    "pamiętasz nazwę pliku?",
    "你还记得那个文件名吗？",
    "暂时用 3001 端口",
    "前のファイル名を覚えていますか？",
    "とりあえず3001番で",
    "그 파일 이름 기억해?",
    "remember my api key: sk-EXAMPLE-12ab34cd56ef",
    "merk dir mein passwort: Geheim-EXAMPLE-99",
    "recuerda mi contraseña: EXAMPLE_clave_123",
    "print 'remember to save' when the form is dirty",
    "add a comment there: always call super first",
    "the toast should say: don't forget to verify your email",
    "he said remember to always bring cake",
    "my boss says we should never use java, what do you think?",
    "thanks, great job as always",
    "can you check whether we always close the file handle",
    "make the test never hit the network",
    "make sure this function never returns null",
    "the loop never terminates, find out why",
    "the cache is never invalidated, fix that",
    "this should always be true here, why is it false",
    "i never said that",
    "i always forget the syntax, how do i unpack a tar?",
    "add a daily digest job to the scheduler",
    "the token expires too early in the test, fix it",
    "move the launch button to the right",
    "the link should go to the settings page",
    "replace moment with dayjs in this file",
    "use a map instead of a list here",
    "rename the column so it's no longer ambiguous",
    "write a cron expression that runs every monday at 5",
    "what runs every night at 2?",
    "why is the weekly report empty?",
    "show the deadline in the header",
    "add validation: the name must not be empty",
    "the field must not be empty, add a check",
    "tests have to be green before we merge this, run them",
    "the build is now green, thanks",
    "it works now",
    "the tests are now failing",
    "that's no longer needed, delete it",
    "i don't need this anymore",
    "remove the banner, we don't use it anymore",
    "mach weiter",
    "ändere die Farbe statt der Größe",
    "warum läuft der Job nicht mehr?",
    "das geht nicht mehr",
    "füg einen Test für jeden Fall hinzu",
    "ajoute un bouton au lieu du lien",
    "ça ne marche plus depuis hier",
    "cambia el color en vez del tamaño",
    "ya no funciona",
    "non funziona più",
    "não funciona mais",
    "het werkt niet meer",
    "det fungerar inte längre",
    "больше не работает",
    "artık çalışmıyor",
    "już nie działa",
    "不再工作了，看一下",
    "もう動かない、見て",
    "明日までに直して",
    "이제 안 돼",
    "he said we should go with Postgres, what do you think?",
    "let's go with option 2",
    "ok go with your suggestion",
    "we picked the wrong branch, undo",
    "merge when CI is green",
    "deploy it to staging",
    "open a PR and ask Ines for review",
    "commit with message \"always validate input\"",
    "what happens when the license expires?",
    "create a page that says we never share data",
    "looks good, ship it",
    "hmm, the daily standup is in 5 minutes, be quick",
    "i'll be back on monday",
    "good morning! let's start",
    "can you make the logs less noisy",
    "the Tomorrow component crashes",
    "does the nightly build use the cache?",
    "sort by date, newest first",
    "should the wiki be the source of truth or the repo?",
    "here is my token ghp_EXAMPLE0000000000000000000000000000, clone the repo with it",
    "MY_SECRET=abc123def456 npm start fails, why",
    "my password is hunter2-EXAMPLE, try to log in",
    "I have three tests failing and no idea why",
    "we have to be quick, demo in an hour",
    "that's the last one, then we're done",
    "bump the version to 2.0.1 and tag it",
    "ignore the warnings for now",
    "only run the unit tests, the e2e ones take too long today",
    "try again without the cache",
    "keep going",
    "don't change anything yet, just tell me what's wrong",
    "don't commit yet",
    "do not touch the tests, only the implementation",
    "you forgot the import",
    "you always do that, stop it",
    "why do you always add comments?",
    "I hate this",
    "i hate mondays",
    "I like it",
    "i love the new layout",
    "love how it turned out!",
    "we use what here, yarn or npm?",
    "what do you remember about me?",
    "list everything you remember",
    "forget that, let's start over",
    "i keep forgetting the command for that",
    "the app should remember the last opened tab",
    "note the typo in line 4",
    "note: tests are failing on main at the moment",
    "keep in mind it's just a prototype for today",
    "it's never too late to refactor",
    "We always had problems with that vendor, honestly",
    "I always wondered why this is here",
    "make it always visible",
    "the menu should always be visible on phones",
    "explain why we should never use eval",
    "i prefer the second option",
    "i prefer option b here",
    "i'm an idiot, it was the cache",
    "I am the only one who sees this error",
    "my name is not showing up in the header",
    "call me when it's done",
    "from now on it fails",
    "in future versions this breaks",
    "going forward is not possible in the wizard",
    "no, use the other one",
    "we decided nothing yet",
    "das merk ich mir",
    "je ne me souviens plus du nom",
    "no recuerdo el nombre",
    "non ricordo il nome",
    "não lembro o nome",
    "не помню название",
    "nie pamiętam nazwy",
    "我不记得了",
    "覚えていません",
    "기억이 안 나",
    "schreib die Funktion und vergiss nicht die Tests",
    "corrige le bug et n'oublie pas les tests",
    "arregla el bug y no olvides los tests",
];

#[test]
fn l5_37_what_only_sounds_like_it_leaves_nothing() {
    let mut wrong = Vec::new();
    let mut sure = 0;
    for prompt in NOTHING {
        let kept = found(prompt);
        sure += kept.iter().filter(|wish| wish.certainty == Certainty::Sure).count();
        if !kept.is_empty() {
            wrong.push(format!(
                "{prompt:?}: {:?}",
                kept.iter().map(|w| (w.certainty, w.rule, &w.body)).collect::<Vec<_>>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{sure} sure, {} in all:\n{}", wrong.len(), wrong.join("\n"));
}

/// Prompts with a plain standing order or a word of the person on themselves.
const STANDING: &[&str] = &[
    "never deploy on fridays",
    "always run the linter before you commit",
    "please never use emojis in commit messages",
    "don't ever touch the vendor folder",
    "do not rebase shared branches, ever",
    "from now on answer in German",
    "From now on, use conventional commits.",
    "going forward use tabs in Makefiles",
    "you must always ask before you delete files",
    "ok, and always use UTC for timestamps",
    "I prefer short answers",
    "my pronouns are she/her",
    "my name is Sam",
    "call me Jo",
    "ab jetzt bitte auf Deutsch antworten",
    "niemals direkt auf main pushen",
    "immer erst die Tests laufen lassen",
    "désormais réponds en français",
    "je préfère les réponses courtes",
    "ne jamais committer sur main",
    "de ahora en adelante usa pnpm",
    "nunca borres los backups",
    "d'ora in poi rispondi in italiano",
    "a partir de agora responda em português",
    "vanaf nu altijd pnpm gebruiken",
    "från och med nu svara på svenska",
    "отныне отвечай по-русски",
    "bundan sonra Türkçe cevap ver",
    "od teraz odpowiadaj po polsku",
    "从现在开始用中文回答",
    "今後は日本語で答えて",
    "앞으로는 한국어로 대답해",
];

#[test]
fn l5_37_plain_standing_orders_are_sure_without_a_model_and_nothing_with_one() {
    let mut wrong = Vec::new();
    for prompt in STANDING {
        let kept = found(prompt);
        if !kept.iter().any(|wish| wish.certainty == Certainty::Sure) {
            wrong.push(format!("{prompt:?}: {kept:?}"));
        }
        let typed = Testimony::typed(*prompt, "r".into());
        assert_eq!(
            wishes(&typed, WishRules::ExplicitOnly, &ExtractLimits::default()),
            [],
            "{prompt}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn l5_37_corrections_decisions_and_facts_wait_those_about_the_person_too() {
    let mut wrong = Vec::new();
    for prompt in [
        "I am a data analyst",
        "i'm a backend dev, new to css",
        "i'm new to rust so explain lifetimes",
        "i work from Nairobi",
        "my timezone is CET",
        "ich bin ein Produktmanager ohne Technikhintergrund",
        "stop using npm, use pnpm",
        "no, use ruff not flake8",
        "we decided to go with Postgres",
        "we agreed to drop the beta channel",
        "we don't do singletons in this codebase",
        "use unknown instead of any",
        "prod moved to Hetzner, the old cluster is no longer used",
        "Tomas owns the payment service, ask him before schema changes",
        "every tuesday the replica is rebuilt, so queries are slow then",
        "wir haben entschieden, dass wir Kafka nicht mehr nutzen",
        "on a décidé de garder MySQL",
        "hemos decidido usar Terraform para todo",
        "мы решили остаться на Django",
        "我们决定用 Kafka 代替 RabbitMQ",
    ] {
        let kept = found(prompt);
        if kept.len() != 1 || kept.iter().any(|wish| wish.certainty == Certainty::Sure) {
            wrong.push(format!("{prompt:?}: {kept:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn l5_37_what_may_last_is_not_lost_without_a_model() {
    let lost: Vec<&str> = [
        "all dates in the api are iso 8601 utc, we don't send local times",
        "the payments team owns the ledger service, talk to Ibrahim before touching it",
        "we switched from jest to vitest last month, stop writing jest mocks",
        "never use rm -rf in scripts, we had an incident",
        "always answer in French please, even if i write english",
        "i'm a designer, so keep the jargon low",
        "actually we use bun here, not node",
        "use spaces not tabs",
        "don't use lodash in this repo",
        "no default exports in this codebase please",
        "please stop putting emojis in commit messages",
        "the qa environment gets wiped every night",
        "Ana is out until the 15th, ask Rui instead",
        "our customers are hospitals, so no telemetry without consent",
        "wir benutzen hier kein Redux mehr",
        "on n'utilise plus jQuery ici, seulement du vanilla",
        "aquí usamos pnpm, no npm",
        "da noi i branch si chiamano feature/ID-nome",
        "мы не используем ORM в этом проекте",
        "我们这里不用 Redux",
        "うちではReduxは使っていません",
        "the staging url is https://staging.acme.example",
        "unit tests are run with make unit",
        "i always use dark mode and fish shell",
        "we deploy from the release branch only",
        "the word \"case\" means lawsuit in our domain",
        "prices are stored in cents",
    ]
    .into_iter()
    .filter(|prompt| found(prompt).is_empty())
    .collect();
    assert_eq!(lost, Vec::<&str>::new());
}

#[test]
fn l5_38_what_is_true_of_the_person_goes_to_the_global_tier() {
    use MemoryType::{Feedback, Project, Reference, User};
    let mut wrong = Vec::new();
    for (text, kind, tier) in [
        ("My name is Sam", User, Tier::Global),
        ("i'm a nurse who codes at night", User, Tier::Global),
        ("I use vim keybindings everywhere", User, Tier::Global),
        ("I prefer tabs", User, Tier::Global),
        ("My native language is Tamil", User, Tier::Global),
        ("i work from Windhoek", User, Tier::Global),
        ("Ich heiße Ute", User, Tier::Global),
        ("Je m'appelle Zoé", User, Tier::Global),
        ("我叫李雷", User, Tier::Global),
        ("Answer in German", Feedback, Tier::Global),
        ("keep your answers short", Feedback, Tier::Global),
        ("never use mocks, in any repo", Feedback, Tier::Global),
        ("always write tests first, for all my projects", Feedback, Tier::Global),
        ("never push to main", Feedback, Tier::Project),
        ("in this repo always use pnpm", Feedback, Tier::Project),
        ("use Decimal for money", Feedback, Tier::Project),
        ("don't touch the generated files in this project", Feedback, Tier::Project),
        ("the demo shop is reset every morning", Project, Tier::Project),
        ("Okan runs the geo cache", Project, Tier::Project),
        ("the ferry batch goes out on saturdays", Project, Tier::Project),
        ("die Lieferscheine brauchen zwei Unterschriften", Project, Tier::Project),
        ("our dashboards are at https://grafana.acme.example", Reference, Tier::Project),
        ("incidents are tracked in Jira project OPS", Reference, Tier::Project),
        ("the runbook is in Confluence", Reference, Tier::Project),
        ("the keys are in the Bitwarden folder Ops", Reference, Tier::Project),
        ("the fax vendor allows 9 pages a minute", Reference, Tier::Project),
    ] {
        if kind_and_tier(text) != (kind, tier) {
            wrong.push(format!("{text:?}: {:?}, not {:?}", kind_and_tier(text), (kind, tier)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn l5_18_a_sentence_with_a_secret_is_no_part_of_a_wish() {
    let kept = found(
        "remember: the maps come from a reseller. the api key is tk-EXAMPLE-7h2k9d4m1. ask Noor for a new one",
    );
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].body, "The maps come from a reseller. ask Noor for a new one");
    let kept = found("remember: the staging password is in the 1Password vault");
    assert_eq!(kept[0].body, "The staging password is in the 1Password vault");
}

#[test]
fn l5_19_a_memory_that_is_written_as_one_is_kept_as_it_is() {
    let wish = stated("  i like tea\nand biscuits ", "r".into()).unwrap();
    assert_eq!(
        (wish.body.as_str(), wish.description.as_str()),
        ("I like tea\nand biscuits", "I like tea")
    );
    assert_eq!(
        (wish.kind, wish.tier, wish.certainty),
        (MemoryType::User, Tier::Global, Certainty::Sure)
    );
    assert_eq!(stated(" \n", "r".into()), None);
}

#[test]
fn l5_37_what_goes_on_from_a_secret_is_no_memory() {
    let token = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
    for rest in ["It is for the mirror.", "Never trust a squirrel with a keyboard, haha."] {
        let said = format!("Remember that the token for the mirror is {token}. {rest}");
        let kept = found(&said);
        assert!(kept.is_empty(), "{kept:?}");
    }
    let kept = found("Remember that builds run at night. The password is hunter2!x9. Logs rotate.");
    assert_eq!(
        kept.first().map(|wish| wish.body.as_str()),
        Some("Builds run at night. Logs rotate")
    );
}
