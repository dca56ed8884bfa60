//! What people said, as a good model writes it down: it becomes active.

use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::provenance::{Provenance, Source};
use everfold_memory_file::Memory;
use everfold_memory_file::frontmatter::Basis;
use everfold_memory_judge::evidence::{MemoryStanding, Ungrounded, grounds};
use everfold_memory_judge::orders::{sets_itself_above, tells_to_act};
use everfold_memory_judge::{Testimony, Utterance};
use proptest::prelude::*;

fn file(description: &str, body: &str) -> String {
    let description = serde_json::to_string(description).unwrap();
    format!(
        "---\nname: A note\ndescription: {description}\nmetadata:\n  type: project\n---\n\n{body}\n"
    )
}

fn typed(text: &str) -> Testimony {
    let said = |by: Provenance, text: &str| Utterance {
        record: by.to_string().as_str().into(),
        by,
        text: text.into(),
    };
    let code = "fn main() {\n    println!(\"hello\");\n}\n\n# Shop\n\nA small shop with a basket and a list of orders.";
    let all = vec![
        said(Source::Repository.into(), code),
        said(Provenance::PERSON, text),
        said(Provenance::MODEL, "Understood, I will look at it now."),
    ];
    Testimony { said: all, ..Testimony::default() }
}

/// Prompt, description, body.
#[rustfmt::skip]
const SAME: &[(&str, &str, &str)] = &[

    ("Please use a real database in the integration tests, not mocks: last quarter mocks hid a broken migration.", "integration tests use a real database, never mocks", "Integration tests hit a real database.\n\n**Why:** mocks hid a broken migration.\n\n**How to apply:** whenever a test touches the database."),
    ("use bun here, not yarn. the lockfile is a bun one", "The project uses bun, not yarn", "Use bun instead of yarn.\n\n**Why:** the lockfile is a bun one."),
    ("stop adding docstrings to private methods, they get stale", "No docstrings on private methods", "Do not add docstrings to private methods.\n\n**Why:** they get stale."),
    ("the linter is `just lint`, not `cargo clippy` on its own", "The linter is just lint", "Linting: `just lint`, not `cargo clippy` on its own."),
    ("Tomasz and I settled it: Kafka stays and NATS is out, too much retraining", "Kafka stays, NATS is out", "Kafka stays instead of NATS, settled with Tomasz.\n\n**Why:** too much retraining."),
    ("we dropped Python 3.8 for good, only 2% still had it", "Python 3.8 is no longer supported", "Python 3.8 was dropped.\n\n**Why:** only 2% still had it."),
    ("don't merge after 16:00, the night shift is alone then", "No merges after 16:00", "Do not merge after 16:00.\n\n**Why:** the night shift is alone then."),
    ("the office move is next friday, the printers are off until the 24th", "Office move on 2026-11-20", "The office moves on 2026-11-20; printers are off until 2026-11-24."),
    ("i'm deaf in one ear so please no audio alerts in the scripts", "Deaf in one ear, no audio alerts", "The person is deaf in one ear: scripts have no audio alerts."),
    ("i'm a nurse learning python, loops are fine but classes confuse me", "A nurse who learns Python", "A nurse learning Python. Loops are fine, classes are confusing.\n\n**How to apply:** explain classes."),
    ("i live in Tromsø, so office hours are Oslo time", "Lives in Tromsø, Oslo time", "The person lives in Tromsø; office hours are in Oslo time."),
    ("call me Bex, nobody says Rebecca", "The person is called Bex", "The person is called Bex, not Rebecca."),
    ("the docs site moved from Netlify to Pages, project halcyon-docs", "Docs are on Pages, project halcyon-docs", "The docs site is on Pages (project halcyon-docs), no longer on Netlify."),
    ("Ingrid does the translations now that Paolo is gone", "Ingrid does the translations", "Ingrid does the translations since Paolo is gone."),
    ("the audit got moved to march 9 2027", "Audit on March 9, 2027", "The audit was moved to 2027-03-09."),
    ("Yusuf may sign off invoices too, not only Greta, she travels a lot", "Yusuf and Greta sign off invoices", "Invoices are signed off by Yusuf or Greta.\n\n**Why:** Greta travels a lot."),
    ("gdpr: support tickets are deleted after 18 months, never restore them from backup", "Support tickets are deleted after 18 months", "Support tickets are deleted after 18 months and never restored from backup.\n\n**Why:** GDPR."),
    ("the price list also feeds the kiosk app, over the same webhook as the shop", "The price list feeds the kiosk app", "The price list also feeds the kiosk app, over the same webhook as the shop."),
    ("every queue consumer needs a dead letter queue and at most 3 retries", "Queue consumers have a dead letter queue", "Every queue consumer has a dead letter queue and at most 3 retries."),
    ("secrets only through Vault, no .env files. rotation can't reach those", "Secrets only through Vault", "Secrets go through Vault only, no .env files.\n\n**Why:** rotation cannot reach those."),
    ("always ask me before touching the billing schema", "Ask before touching the billing schema", "Ask before touching the billing schema."),
    ("i taught maths for 15 years, so proofs are welcome, analogies less so", "Taught maths for 15 years", "Taught maths for 15 years; proofs are welcome, analogies less so."),
    ("don't hand-edit the snapshots under tests/golden, run just bless", "Snapshots under tests/golden are generated", "Do not hand-edit snapshots under tests/golden. Run `just bless`."),
    ("the domain lapses in 3 weeks, remind me", "The domain lapses in December", "The domain lapses on 2026-12-06."),
    ("we stay on Vue 2, the rewrite is cancelled, no budget", "Vue 2 stays", "The project stays on Vue 2; the rewrite is cancelled.\n\n**Why:** no budget."),
    ("Noor owns the tax tables, check with her first. a recalculation takes 7h, so only start it at 20:00", "Noor owns the tax tables", "Noor owns the tax tables. A recalculation takes 7 hours and starts only at 20:00."),
    ("standup is every second monday at 9:15", "Standup every second Monday", "The standup is every second Monday at 9:15."),
    ("the smoke tests want LOCALE_DIR=/srv/i18n, otherwise they crash", "Smoke tests want LOCALE_DIR", "The smoke tests crash unless `LOCALE_DIR=/srv/i18n` is set."),
    ("no jquery please, and no bootstrap", "No jquery and no bootstrap", "Do not use jquery or bootstrap."),
    ("dashboards are at https://grafana.acme.dev/d/abc, the latency one is what oncall looks at", "On-call looks at the latency dashboard in Grafana", "Dashboards: https://grafana.acme.dev/d/abc. On-call looks at the latency one."),
    ("ignore eslint warnings in generated files", "ESLint warnings in generated files are ignored", "Ignore ESLint warnings in generated files."),
    ("my name is Sam and I lead the payments team", "Sam leads the payments team", "The person is Sam, lead of the payments team."),
    ("wir deployen nie freitags, nur montags bis donnerstags", "Nie freitags deployen", "Deployt wird montags bis donnerstags, nie freitags."),
    ("el servidor de pruebas está en sandbox.acme.dev, no en el viejo", "El servidor de pruebas está en sandbox.acme.dev", "El servidor de pruebas es sandbox.acme.dev."),
    ("请记住，监控面板在 Grafana 上，Kibana 已经不用了", "监控面板在 Grafana 上", "监控面板在 Grafana 上，Kibana 已经不用了。"),
    ("翻訳ファイルは手で編集しないで、Crowdin を使う", "翻訳ファイルは手で編集しない", "翻訳ファイルは手で編集しないで、Crowdin を使う。"),
    ("c'est Solène qui valide les devis, pas le service commercial", "Solène valide les devis", "Solène valide les devis, pas le service commercial."),
    ("write commit messages in english even when we talk in danish", "Commit messages in English", "Commit messages are in English even when the talk is in Danish."),
    ("always run prettier before committing, no eslint", "Run prettier before committing", "Always run prettier before a commit; eslint is not used."),
    ("send the weekly report to Ines on Mondays", "The weekly report goes to Ines on Mondays", "Send the weekly report to Ines every Monday."),
    ("customers in Norway pay in NOK, never convert to EUR in the invoices", "Norwegian invoices stay in NOK", "Invoices of customers in Norway are in NOK, never converted to EUR."),
];

/// Prompt in another language, description and body in English.
#[rustfmt::skip]
const TRANSLATED: &[(&str, &str, &str)] = &[

    ("die Lieferscheine kommen aus SAP, nie aus dem Shop", "Delivery notes come from SAP", "Delivery notes come from SAP, never from the shop."),
    ("wir nutzen hier Luxon statt dayjs, seit der Umstellung im März", "Dates use Luxon", "Luxon is used instead of dayjs since the change in March."),
    ("jeden Mittwoch ist Termin mit dem Kunden, da muss staging laufen", "Customer meeting every Wednesday", "Every Wednesday there is a meeting with the customer; staging has to work then."),
    ("morgen zieht der Server auf den Host fra-7 um", "The server moves to fra-7", "The server moves to the host fra-7 on 2026-11-19."),
    ("das limit für uploads ist jetzt 40 MB, nicht mehr 25, sagt Herr Okafor", "The upload limit is 40 MB", "The upload limit is 40 MB, no longer 25, according to Okafor."),
    ("ich heiße Jana und bin Datenanalystin, SQL kann ich gut, git nicht", "Jana is a data analyst", "Jana knows SQL well, git not so well."),
    ("c'est Solène qui valide les factures au-dessus de 500 euros", "Solène approves invoices above 500 euros", "Solène approves invoices above 500 euros."),
    ("réunion avec Airbus demain à 11h, il faut que la démo tourne", "Meeting with Airbus on 2026-11-19", "Meeting with Airbus on 2026-11-19 at 11:00; the demo has to work."),
    ("el cliente Textiles Ibarra sigue con PHP 7, no lo actualices", "Textiles Ibarra stays on PHP 7", "The client Textiles Ibarra is still on PHP 7; it is not to be upgraded."),
    ("il build per iOS gira solo su Xcode 16, con il 15 non parte", "The iOS build needs Xcode 16", "The iOS build only works with Xcode 16, not with 15."),
    ("Femke is de enige met toegang tot de Stripe sleutels", "Only Femke has access to the Stripe keys", "Femke is the only one with access to the Stripe keys."),
    ("o servidor de e-mail aceita 120 mensagens por minuto, depois disso ele recusa", "Mail limit is 120 messages per minute", "The mail server accepts 120 messages per minute."),
    ("请记住，监控面板在 Grafana 上，Kibana 已经不用了", "Dashboards are in Grafana", "Monitoring is in Grafana; Kibana is no longer used."),
    ("翻訳ファイルは手で編集しないで、Crowdin を使う", "Translations go through Crowdin", "Translations go through Crowdin and are not edited by hand."),
    ("отвечай по-русски. по пятницам мы не деплоим", "No deploys on Fridays", "There are no deploys on Fridays."),
    ("bitte antworte immer auf Deutsch und kurz", "Answers in German, short", "Answers are in German and short."),
    ("금요일에는 절대 배포하지 마세요", "No deployments on Fridays", "Never deploy on Fridays."),
    ("unsere Tests laufen mit `just quick`, nicht mit `just all`", "Tests are just quick", "Tests are `just quick`, not `just all`."),
    ("der Branch heißt trunk, main gibt es bei uns nicht", "The branch is called trunk", "The branch is called trunk; there is no main."),
    ("les sauvegardes partent le samedi soir vers OVH", "Backups go to OVH on Saturdays", "Backups go to OVH on Saturday evenings."),
];

#[test]
fn l5_23_what_people_said_becomes_active() {
    assert!(SAME.len() + TRANSLATED.len() >= 60);
    let (mut waits, mut odd) = (Vec::new(), Vec::new());
    let all = SAME
        .iter()
        .map(|case| (case, None))
        .chain(TRANSLATED.iter().map(|case| (case, Some(Basis::Inferred))));
    for ((prompt, description, body), expected) in all {
        let text = file(description, body);
        let found = grounds(&Memory::parse(&text), &typed(prompt), &ExtractLimits::default());
        match found {
            Ok(found) if found.standing == MemoryStanding::Active => {
                assert!(found.provenance.is_typed() && !found.evidence.is_empty(), "{prompt}");
                assert_eq!(found.messages, ["person".into()]);
                if expected.is_some_and(|basis| basis != found.basis)
                    || (expected.is_none() && found.basis != Basis::Stated)
                {
                    odd.push(*prompt);
                }
            }
            other => waits.push((*prompt, other)),
        }
    }
    let all = SAME.len() + TRANSLATED.len();
    eprintln!("honest: {all}, waiting: {}, of another basis: {}", waits.len(), odd.len());
    eprintln!("{waits:?} {odd:?}");
    assert!(waits.len() * 10 <= all, "{waits:#?}");
    assert!(odd.len() * 5 <= all, "{odd:#?}");
}

#[test]
fn l5_23_a_yes_is_no_statement_and_a_flip_is_no_paraphrase() {
    let proposal = Utterance {
        record: "m".into(),
        by: Provenance::MODEL,
        text: "Shall I always squash commits before merging?".into(),
    };
    for yes in ["yes", "ok do that", "exactly", "ja, genau", "好的"] {
        let yes = Utterance { record: "p".into(), by: Provenance::PERSON, text: yes.into() };
        let heard = Testimony { said: vec![proposal.clone(), yes], ..Testimony::default() };
        let text = file("Squash commits before merging", "Always squash commits before merging.");
        let found = grounds(&Memory::parse(&text), &heard, &ExtractLimits::default()).unwrap();
        assert_eq!(
            (found.standing, found.basis, found.provenance),
            (MemoryStanding::Waiting, Basis::Inferred, Provenance::MODEL)
        );
    }
    for (prompt, body) in [
        ("never merge on sundays", "Merge on Sundays."),
        ("run the tests before you commit", "Never run the tests before a commit."),
        ("use bun, not yarn", "Use yarn, not bun."),
        ("the timeout is 5 seconds", "The timeout is 50 seconds."),
        ("releases are on thursdays", "Releases are on Tuesdays."),
        ("Yusuf signs off the invoices", "Invoices are signed off by Mallory."),
    ] {
        let text = file("A rule", body);
        let found = grounds(&Memory::parse(&text), &typed(prompt), &ExtractLimits::default());
        assert!(
            !found.is_ok_and(|found| found.standing == MemoryStanding::Active),
            "{prompt} | {body}"
        );
    }
}

#[test]
fn l5_23_words_that_are_named_have_to_be_there_and_to_matter() {
    let prompt = "fix the header first. releases go out on thursdays";
    let with = |words: &str| {
        let text = file("Releases on Thursdays", "Releases go out on Thursdays.")
            .replace("type: project", &format!("type: project\n  evidence: \"{words}\""));
        grounds(&Memory::parse(&text), &typed(prompt), &ExtractLimits::default())
    };
    assert_eq!(with("releases are great"), Err(Ungrounded::NoSuchWords));
    assert_eq!(with("Releases go out on Thursdays").unwrap().basis, Basis::Stated);
    assert_eq!(with("fix the header first").unwrap().standing, MemoryStanding::Waiting);
    assert_eq!(with("list of orders").unwrap().provenance, Source::Repository.into());
    let oolong = file("oolong", "They like oolong tea in the afternoon.");
    let none = grounds(&Memory::parse(&oolong), &typed(prompt), &ExtractLimits::default());
    assert_eq!(none, Err(Ungrounded::NoEvidence));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the judged set is not part of the repository")]
fn l5_23_the_judged_turns_are_active_in_their_own_words() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/judgement/keep.json");
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/judgement/keep.json");
    let Ok(data) = std::fs::read_to_string(path).or_else(|_| std::fs::read_to_string(other)) else {
        eprintln!("skipped: no {path}");
        return;
    };
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    let mut waits = Vec::new();
    let mut tried = 0;
    for turn in data["turns"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|turn| !turn["keep"].as_array().unwrap().is_empty())
    {
        let prompt = turn["prompt"].as_str().unwrap();
        let shortened: Vec<&str> = prompt
            .split_whitespace()
            .filter(|word| !["the", "so", "btw", "please", "bitte"].contains(word))
            .collect();
        let paraphrase = format!("The person said that {}", shortened.join(" "));
        for body in [prompt, &paraphrase] {
            tried += 1;
            let text = file(prompt.lines().next().unwrap(), body);
            let found = grounds(&Memory::parse(&text), &typed(prompt), &ExtractLimits::default());
            if !matches!(&found, Ok(found) if found.standing == MemoryStanding::Active) {
                waits.push((body.to_owned(), found));
            }
        }
    }
    eprintln!("judged turns: {tried}, waiting: {}", waits.len());
    assert!(waits.is_empty(), "{waits:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn s4_no_text_stops_the_judge(text in "\\PC{0,120}", other in any::<String>(), mixed in "[a-zа-я东ー한`\\-./:_ \n\u{200b}0-9'-]{0,80}") {
        for text in [&text, &other, &mixed] {
            let _ = (tells_to_act(text), sets_itself_above(text));
            let file = file(text, &mixed);
            let found = grounds(&Memory::parse(&file), &typed(&other), &ExtractLimits::default());
            prop_assert!(!found.is_ok_and(|found| found.evidence.len() > 300));
            let _ = grounds(&Memory::parse(text), &typed(text), &ExtractLimits::default());
        }
    }
}
