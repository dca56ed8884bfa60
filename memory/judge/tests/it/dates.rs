//! Which relative times become a date, and which stay (L5.34).

use everfold_memory_judge::dates::absolute;
use jiff::civil::{Date, date};
use proptest::prelude::*;

/// A Wednesday.
const TODAY: Date = date(2026, 11, 18);

#[track_caller]
fn becomes(cases: &[(&str, &str)]) {
    let mut faults = Vec::new();
    for (text, wanted) in cases {
        let found = absolute(text, TODAY);
        if found != *wanted {
            faults.push(format!("{text:?}\n   gives {found:?}\n  wanted {wanted:?}"));
        }
        let again = absolute(&found, date(2027, 3, 1));
        if again != found {
            faults.push(format!("{found:?}\n  is not the last word: {again:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[track_caller]
fn stays(texts: &[&str]) {
    let same: Vec<_> = texts.iter().map(|text| (*text, *text)).collect();
    becomes(&same);
}

#[test]
fn l5_34_a_day_in_english_becomes_a_date() {
    becomes(&[
        ("Merged today.", "Merged 2026-11-18."),
        ("Yesterday it broke", "2026-11-17 it broke"),
        ("due tomorrow, please", "due 2026-11-19, please"),
        ("we cut over the day after tomorrow", "we cut over 2026-11-20"),
        ("broken since the day before yesterday", "broken since 2026-11-16"),
        ("deploy tonight", "deploy 2026-11-18 evening"),
        ("deploy tonight at 22:00", "deploy 2026-11-18 at 22:00"),
        ("prod fell over last night", "prod fell over the night of 2026-11-17"),
        ("tomorrow morning we switch DNS", "2026-11-19 morning we switch DNS"),
        ("tomorrow's demo is cancelled", "the 2026-11-19 demo is cancelled"),
        ("**Tomorrow** the API closes", "**2026-11-19** the API closes"),
        ("from tomorrow on we use pnpm", "from 2026-11-19 on we use pnpm"),
        ("the demo is next thursday", "the demo is 2026-11-26"),
        ("next Monday", "2026-11-23"),
        ("next\nMonday", "2026-11-23"),
        ("this Friday we freeze", "2026-11-20 we freeze"),
        ("on this Friday", "2026-11-20"),
        ("last Friday", "2026-11-13"),
        ("Thursday next week", "2026-11-26"),
        ("ship by Friday", "ship by 2026-11-20"),
        ("as of today all PRs need two", "as of 2026-11-18 all PRs need two"),
        ("the freeze holds until Monday", "the freeze holds until 2026-11-23"),
        ("starting Monday we use main", "starting 2026-11-23 we use main"),
        ("from Monday on, all invoices go there", "from 2026-11-23 on, all invoices go there"),
        ("broken since Monday", "broken since 2026-11-16"),
        ("the deadline is on Friday", "the deadline is on 2026-11-20"),
        ("it will go out on Monday", "it will go out on 2026-11-23"),
        ("before Friday, tomorrow at best", "before 2026-11-20, 2026-11-19 at best"),
    ]);
}

#[test]
fn l5_34_a_span_in_english_becomes_a_date() {
    becomes(&[
        ("the cert expires in 10 days, don't", "the cert expires on 2026-11-28, don't"),
        ("in two weeks from today the old endpoint", "on 2026-12-02 the old endpoint"),
        ("In two weeks it goes", "On 2026-12-02 it goes"),
        ("in 2 weeks' time", "on 2026-12-02"),
        ("10 days from now", "on 2026-11-28"),
        ("a week from Friday", "2026-11-27"),
        ("in about two weeks", "around 2026-12-02"),
        ("in a month the trial ends", "on 2026-12-18 the trial ends"),
        ("moved three days ago", "moved on 2026-11-15"),
        ("about a week ago", "about 2026-11-11"),
        ("we left Heroku two years ago", "we left Heroku in 2024"),
        ("next week Kofi is out", "the week of 2026-11-23 Kofi is out"),
        ("next Monday through Wednesday", "2026-11-23 through Wednesday"),
        ("done by the end of the week", "done by 2026-11-20"),
        ("in a fortnight", "on 2026-12-02"),
        ("by the end of next week", "by 2026-11-27"),
        ("last week we dropped it", "the week of 2026-11-09 we dropped it"),
        ("this weekend", "the weekend of 2026-11-21"),
        ("we migrate next month", "we migrate in 2026-12"),
        ("planned for next month", "planned for 2026-12"),
        ("Next year we leave AWS", "In 2027 we leave AWS"),
        ("dropped last month", "dropped in 2026-10"),
        ("next quarter", "in 2027-Q1"),
        ("ends on the 31st of next month, so", "ends on 2026-12-31, so"),
        (
            "code freeze starts tomorrow and lasts until the 30th, only bugfixes",
            "code freeze starts 2026-11-19 and lasts until 2026-11-30, only bugfixes",
        ),
        ("by the 5th we need it", "by 2026-12-05 we need it"),
        (
            "on leave starting today until end of february, ask Kwame",
            "on leave starting 2026-11-18 until 2027-02-28, ask Kwame",
        ),
        ("until the end of the month", "until 2026-11-30"),
        ("by the end of next month", "by 2026-12-31"),
        ("by end of year", "by 2026-12-31"),
        ("the contract runs out at the end of the month", "the contract runs out at 2026-11-30"),
        ("the launch is on March 3", "the launch is on 2027-03-03"),
        ("the launch is on March 3rd at noon", "the launch is on 2027-03-03 at noon"),
        ("due by the 3rd of March", "due by 2027-03-03"),
        ("on March 3 we switched to Fly", "on 2026-03-03 we switched to Fly"),
        ("next March", "in 2027-03"),
        ("from Monday to next Friday", "from 2026-11-23 to 2026-11-27"),
        ("never forget: tomorrow is the audit", "never forget: 2026-11-19 is the audit"),
    ]);
}

#[test]
fn l5_34_what_recurs_in_english_stays() {
    stays(&[
        "never deploy on fridays, we've been burnt enough",
        "Never deploy on Friday.",
        "Never deploy before Monday.",
        "every Monday",
        "every first monday of the month the db is in maintenance",
        "release train leaves every second wednesday",
        "standup is on Monday",
        "Deploys go out on Thursday",
        "they go out on Thursday mornings",
        "tuesdays now, not thursdays anymore",
        "in the evening",
        "nightly import runs 01:00-03:30 utc daily",
        "only kick it off after 18:00 utc",
        "support is there Monday until Friday",
        "open from Monday to Friday",
        "on the last Friday of the month",
        "the sprint always ends by Friday",
        "it's always tomorrow",
        "reports are due by the 5th of every month",
        "the fiscal year ends on March 31",
        "refresh tokens expire in 30 days",
        "always answer in two days",
        "always pay invoices in 14 days",
        "it was done in two days",
        "every two weeks",
        "we bill at the end of the month",
        "a full reindex takes about 4h",
        "within 3 days",
        "in a week or two",
        "two or three days ago",
        "in 10 days after the release",
        "once in two weeks",
        "twice in a day",
        "over the next week",
        "in the last month",
        "right, friday no deploys, as always",
        "usually by Friday the queue is empty",
        "weekly report until Monday",
        "each sprint starts on a Monday",
    ]);
}

#[test]
fn l5_34_names_and_code_stay() {
    stays(&[
        "the Today view is empty",
        "open the Tomorrow app",
        "the today tab",
        "the Yesterday column, the Next Week page",
        "the view called Tomorrow",
        "rename NextWeekPicker to WeekPicker",
        "the Tomorrow Project is on hold",
        "`tomorrow()` is off by one",
        "function tomorrow(d) { return addDays(d, 1) }",
        "call tomorrow() first",
        "const today = new Date()",
        "today.js and next-week.css and due_today",
        "git log --since=yesterday",
        "git log --since yesterday",
        "use `git log --since=yesterday` daily",
        "```\ntomorrow\n```\n",
        "~~~\ntomorrow\n~~~\n",
        "look:\n\n    return tomorrow\n",
    ]);
}

#[test]
fn l5_34_addresses_quotations_and_figures_of_speech_stay() {
    stays(&[
        "https://example.com/next week/today?x=tomorrow",
        "https://example.com/today",
        "see [the list](docs/tomorrow list.md)",
        "write to today@example.com",
        "the button says \"tomorrow\" in bold",
        "the button says 'due tomorrow' in bold",
        "the label is “next week”",
        "der Knopf „morgen“ fehlt",
        "le bouton « demain » manque",
        "ボタンは「明日」です",
        "> we ship tomorrow\n",
        "<Today />",
        "today's frameworks are big",
        "the view shows yesterday's items",
        "nowadays, these days, sooner or later, until then",
        "like there is no tomorrow",
        "a todayish thing; 2026-11-11",
        "by the 3rd party",
        "until the 2nd attempt fails",
        "in 1.5 days",
        "1.5 days ago",
        "in 9999999 days",
        "the launch is january 26 2027",
        "on January 26, 2027",
        "next Thursday (2026-11-26)",
        "tomorrow (Thursday, 19 Nov 2026)",
        "2026-11-19 (tomorrow)",
        "you may 3 times",
        "$today and @tomorrow and #yesterday",
        "today/tomorrow",
        "addDays(today, 1)",
        "import { today } from dates",
        "if (date === today) return",
        "the This Month dashboard",
        "今日タブ",
        "오늘 탭",
        "we work in two week sprints",
        "addDays(1, tomorrow)",
        "the newspaper USA Today",
        "the movie The Day After Tomorrow",
    ]);
    becomes(&[
        ("a ` tick, today", "a ` tick, 2026-11-18"),
        ("don't wait, it's due tomorrow, isn't it", "don't wait, it's due 2026-11-19, isn't it"),
    ]);
}

#[test]
fn l5_34_german() {
    becomes(&[
        ("Übermorgen zieht die Datenbank um", "2026-11-20 zieht die Datenbank um"),
        ("heute abgeschaltet", "2026-11-18 abgeschaltet"),
        ("heute Morgen lief es", "2026-11-18 am Morgen lief es"),
        ("die Demo ist morgen um 10", "die Demo ist 2026-11-19 um 10"),
        ("Morgen früh", "2026-11-19 früh"),
        ("gestern kaputt", "2026-11-17 kaputt"),
        ("nächsten Donnerstag", "2026-11-26"),
        ("am nächsten Montag kommt der Kunde", "am 2026-11-23 kommt der Kunde"),
        ("bis Freitag fertig", "bis 2026-11-20 fertig"),
        ("Ab Montag gilt das neue Schema", "Ab 2026-11-23 gilt das neue Schema"),
        ("das Zertifikat läuft in 10 Tagen ab", "das Zertifikat läuft am 2026-11-28 ab"),
        ("In zwei Wochen ist Schluss", "Am 2026-12-02 ist Schluss"),
        ("vor drei Tagen", "am 2026-11-15"),
        ("nächsten Monat", "im Monat 2026-12"),
        ("moment ist seit letztem jahr rausgeflogen", "moment ist seit 2025 rausgeflogen"),
        ("nächste Woche", "in der Woche vom 2026-11-23"),
        ("ab nächster Woche", "ab der Woche vom 2026-11-23"),
        ("bis zum 15. muss es raus", "bis 2026-12-15 muss es raus"),
        ("heute Abend", "2026-11-18 am Abend"),
        ("Freeze bis zum 30. November", "Freeze bis 2026-11-30"),
        ("Freeze bis zum 30., danach offen", "Freeze bis 2026-11-30, danach offen"),
        ("bis Ende Februar", "bis 2027-02-28"),
        ("am 3. März ziehen wir um", "am 2027-03-03 ziehen wir um"),
        ("heute in zwei Wochen", "am 2026-12-02"),
    ]);
    stays(&[
        "jeden Dienstag ist bei uns Review mit dem Kunden",
        "nie am Freitag deployen",
        "guten Morgen zusammen",
        "am Morgen ist es ruhig",
        "morgens um 8",
        "heutzutage nimmt man Rust",
        "von Montag bis Freitag",
        "freitags kein Deploy",
        "das steht hier im Code",
        "Standup ist am Montag",
        "die Heute-Ansicht",
        "immer bis Freitag",
        "bis zum 3. Versuch",
        "am letzten Freitag im Monat",
        "Freitag morgen ist Standup",
    ]);
}

#[test]
fn l5_34_french() {
    becomes(&[
        ("démo investisseurs demain à 15h, donc", "démo investisseurs 2026-11-19 à 15h, donc"),
        ("livré aujourd’hui", "livré 2026-11-18"),
        ("après-demain", "2026-11-20"),
        ("hier soir la prod est tombée", "2026-11-17 soir la prod est tombée"),
        ("la base a été migrée hier", "la base a été migrée 2026-11-17"),
        ("jeudi prochain", "2026-11-26"),
        ("d'ici vendredi", "d'ici 2026-11-20"),
        ("jusqu'à vendredi", "jusqu'à 2026-11-20"),
        ("le certificat expire dans 10 jours", "le certificat expire le 2026-11-28"),
        ("il y a trois jours", "le 2026-11-15"),
        ("le mois prochain", "en 2026-12"),
        ("la semaine prochaine", "la semaine du 2026-11-23"),
        ("gel jusqu'au 30, ensuite", "gel jusqu'au 2026-11-30, ensuite"),
        ("le 3 mars", "le 2027-03-03"),
    ]);
    stays(&[
        "chaque lundi",
        "jamais le vendredi",
        "toujours avant vendredi",
        "la vue Aujourd'hui",
        "le monde de demain",
    ]);
}

#[test]
fn l5_34_spanish_italian_portuguese() {
    becomes(&[
        ("hoy se publica", "2026-11-18 se publica"),
        ("la demo es mañana a las 9", "la demo es 2026-11-19 a las 9"),
        ("mañana por la mañana migramos", "2026-11-19 por la mañana migramos"),
        ("esta mañana falló", "2026-11-18 por la mañana falló"),
        ("pasado mañana", "2026-11-20"),
        ("ayer", "2026-11-17"),
        ("el próximo lunes", "el 2026-11-23"),
        ("el lunes que viene", "el 2026-11-23"),
        ("hasta el viernes", "hasta 2026-11-20"),
        ("caduca en 10 días", "caduca el 2026-11-28"),
        ("dentro de dos semanas", "el 2026-12-02"),
        ("hace tres días", "el 2026-11-15"),
        ("el mes que viene", "en 2026-12"),
        ("a partir del próximo mes", "a partir del 2026-12"),
        ("dal prossimo mese", "dal 2026-12"),
        ("domani si rilascia", "2026-11-19 si rilascia"),
        ("oggi, dopodomani, ieri", "2026-11-18, 2026-11-20, 2026-11-17"),
        ("giovedì prossimo", "2026-11-26"),
        ("la riunione di domani", "la riunione del 2026-11-19"),
        ("la réunion d'hier a choisi Vite", "la réunion du 2026-11-17 a choisi Vite"),
        ("entro venerdì", "entro 2026-11-20"),
        ("scade tra 10 giorni", "scade il 2026-11-28"),
        ("tre giorni fa", "il 2026-11-15"),
        ("il mese prossimo", "nel 2026-12"),
        ("hoje, amanhã, depois de amanhã, ontem", "2026-11-18, 2026-11-19, 2026-11-20, 2026-11-17"),
        ("próxima segunda-feira", "2026-11-23"),
        ("até sexta", "até 2026-11-20"),
        ("expira daqui a 10 dias", "expira em 2026-11-28"),
        ("há três dias", "em 2026-11-15"),
        ("o mês que vem", "em 2026-12"),
    ]);
    stays(&[
        "il mondo di domani",
        "por la mañana",
        "a las 9 de la mañana",
        "cada lunes",
        "nunca los viernes",
        "siempre antes del viernes",
        "hoy en día",
        "ogni lunedì",
        "mai di venerdì",
        "al giorno d'oggi",
        "sempre entro venerdì",
        "toda segunda",
        "nunca na sexta",
        "de manhã",
        "hoje em dia",
        "sempre até sexta",
    ]);
}

#[test]
fn l5_34_dutch_and_the_north() {
    becomes(&[
        ("morgen gaat het live", "2026-11-19 gaat het live"),
        ("vandaag, overmorgen, gisteren", "2026-11-18, 2026-11-20, 2026-11-17"),
        ("volgende donderdag", "2026-11-26"),
        ("tot vrijdag", "tot 2026-11-20"),
        ("verloopt over 10 dagen", "verloopt op 2026-11-28"),
        ("drie dagen geleden", "op 2026-11-15"),
        ("volgende maand", "in 2026-12"),
        ("morgenochtend", "2026-11-19 's ochtends"),
        ("i morgon, i dag, i går", "2026-11-19, 2026-11-18, 2026-11-17"),
        ("imorgon", "2026-11-19"),
        ("i övermorgon", "2026-11-20"),
        ("nästa torsdag", "2026-11-26"),
        ("går ut om 10 dagar", "går ut den 2026-11-28"),
        ("för tre dagar sedan", "den 2026-11-15"),
        ("nästa månad", "2026-12"),
        ("senast på fredag", "senast 2026-11-20"),
        ("i morgen lukker vi", "2026-11-19 lukker vi"),
        ("i overmorgen", "2026-11-20"),
        ("næste torsdag", "2026-11-26"),
        ("om to uger", "den 2026-12-02"),
        ("for tre dage siden", "den 2026-11-15"),
        ("næste måned", "2026-12"),
        ("neste torsdag", "2026-11-26"),
        ("om to uker", "den 2026-12-02"),
        ("for tre dager siden", "den 2026-11-15"),
        ("neste måned", "2026-12"),
        ("tänään, huomenna, ylihuomenna, eilen", "2026-11-18, 2026-11-19, 2026-11-20, 2026-11-17"),
        ("ensi torstaina", "2026-11-26"),
        ("kahden viikon kuluttua", "2026-12-02"),
        ("kolme päivää sitten", "2026-11-15"),
        ("ensi kuussa", "2026-12"),
        ("perjantaihin mennessä", "2026-11-20 mennessä"),
    ]);
    stays(&[
        "'s morgens om 8",
        "in de morgen",
        "goede morgen",
        "elke maandag",
        "nooit op vrijdag",
        "hier is de code",
        "på morgonen",
        "god morgon",
        "varje måndag",
        "aldrig på fredag",
        "god morgen",
        "hver morgen",
        "hver mandag",
        "aldri på fredag",
        "joka maanantai",
        "ei koskaan perjantaina",
    ]);
}

#[test]
fn l5_34_the_east() {
    becomes(&[
        ("сегодня, завтра, послезавтра, вчера", "2026-11-18, 2026-11-19, 2026-11-20, 2026-11-17"),
        ("в следующий четверг", "2026-11-26"),
        ("до пятницы", "до 2026-11-20"),
        ("истекает через 10 дней", "истекает 2026-11-28"),
        ("три дня назад", "2026-11-15"),
        ("через неделю", "2026-11-25"),
        ("в следующем месяце", "в 2026-12"),
        ("bugün, yarın, dün", "2026-11-18, 2026-11-19, 2026-11-17"),
        ("öbür gün", "2026-11-20"),
        ("gelecek perşembe", "2026-11-26"),
        ("iki hafta sonra", "2026-12-02"),
        ("üç gün önce", "2026-11-15"),
        ("gelecek ay", "2026-12"),
        ("azi, mâine, poimâine, ieri", "2026-11-18, 2026-11-19, 2026-11-20, 2026-11-17"),
        ("joia viitoare", "2026-11-26"),
        ("peste două săptămâni", "pe 2026-12-02"),
        ("acum trei zile", "pe 2026-11-15"),
        ("luna viitoare", "în 2026-12"),
        ("holnap, holnapután, tegnap", "2026-11-19, 2026-11-20, 2026-11-17"),
        ("ma nem deployolunk", "2026-11-18 nem deployolunk"),
        ("jövő csütörtökön", "2026-11-26"),
        ("két hét múlva", "2026-12-02"),
        ("három nappal ezelőtt", "2026-11-15"),
        ("jövő hónapban", "2026-12"),
        ("σήμερα, αύριο, μεθαύριο, χθες", "2026-11-18, 2026-11-19, 2026-11-20, 2026-11-17"),
        ("την επόμενη Πέμπτη", "2026-11-26"),
        ("σε δύο εβδομάδες", "στις 2026-12-02"),
        ("πριν τρεις μέρες", "στις 2026-11-15"),
        ("τον επόμενο μήνα", "τον 2026-12"),
        ("dziś, jutro, pojutrze, wczoraj", "2026-11-18, 2026-11-19, 2026-11-20, 2026-11-17"),
        ("w przyszły czwartek", "2026-11-26"),
        ("za dwa tygodnie", "2026-12-02"),
        ("trzy dni temu", "2026-11-15"),
        ("w przyszłym miesiącu", "w 2026-12"),
        ("do piątku", "do 2026-11-20"),
    ]);
    stays(&[
        "каждый понедельник",
        "никогда в пятницу",
        "по пятницам",
        "her pazartesi",
        "cumaları deploy yok",
        "în fiecare luni",
        "niciodată vineri",
        "minden hétfőn",
        "ma non funziona",
        "soha pénteken",
        "κάθε Δευτέρα",
        "ποτέ την Παρασκευή",
        "w każdy poniedziałek",
        "nigdy w piątek",
    ]);
}

#[test]
fn l5_34_chinese_japanese_korean() {
    becomes(&[
        ("明天发布", "2026-11-19发布"),
        ("今天、后天、昨天", "2026-11-18、2026-11-20、2026-11-17"),
        ("下周四演示", "2026-11-26演示"),
        ("下个月上线", "2026-12上线"),
        ("下周一之前", "2026-11-23之前"),
        ("证书10天后过期", "证书2026-11-28过期"),
        ("两周后", "2026-12-02"),
        ("三天前", "2026-11-15"),
        ("周五之前完成", "2026-11-20前完成"),
        ("下周休假", "2026-11-23那周休假"),
        ("明日リリースします", "2026-11-19リリースします"),
        ("今日、明後日、昨日", "2026-11-18、2026-11-20、2026-11-17"),
        ("来週の木曜日にデモ", "2026-11-26にデモ"),
        ("来月から", "2026-12から"),
        ("証明書は10日後に切れる", "証明書は2026-11-28に切れる"),
        ("2週間後", "2026-12-02"),
        ("三日前", "2026-11-15"),
        ("金曜日までに", "2026-11-20までに"),
        ("11月30日まで", "2026-11-30まで"),
        ("明日15時からデモ", "2026-11-19 15時からデモ"),
        ("今月末まで", "2026-11-30まで"),
        ("证书还有10天过期", "证书2026-11-28过期"),
        ("내일 배포합니다", "2026-11-19 배포합니다"),
        ("내일까지", "2026-11-19까지"),
        ("오늘, 모레, 어제", "2026-11-18, 2026-11-20, 2026-11-17"),
        ("다음 주 목요일에 데모", "2026-11-26에 데모"),
        ("다음주 목요일", "2026-11-26"),
        ("다음 달", "2026-12"),
        ("10일 후에 만료", "2026-11-28에 만료"),
        ("2주 뒤", "2026-12-02"),
        ("3일 전", "2026-11-15"),
    ]);
    stays(&[
        "每周一开会",
        "每天都跑",
        "周五从不发布",
        "今日头条",
        "毎週月曜日",
        "毎日",
        "いつも金曜日まで",
        "明日香さんに聞いて",
        "2026年11月30日",
        "締切の3日前",
        "매주 월요일",
        "매일",
        "오늘날",
        "항상 금요일까지",
        "금요일에는 절대 배포하지 않는다",
    ]);
}

#[test]
fn l5_34_next_is_the_coming_one_unless_it_is_near() {
    let cases = [
        (date(2026, 11, 20), "next thursday", "2026-11-26"),
        (date(2026, 11, 16), "next Thursday", "2026-11-26"),
        (date(2026, 11, 16), "next Friday", "2026-11-20"),
        (date(2026, 11, 19), "next Thursday", "2026-11-26"),
        (date(2026, 11, 20), "next Monday", "2026-11-23"),
        (date(2026, 11, 20), "this Friday", "2026-11-20"),
        (date(2026, 11, 30), "until the 31st", "until 2026-12-31"),
        (date(2026, 1, 31), "in a month", "on 2026-02-28"),
        (date(2026, 12, 31), "next month", "in 2027-01"),
        (date(2026, 11, 18), "until end of november", "until 2026-11-30"),
    ];
    for (today, text, wanted) in cases {
        assert_eq!(absolute(text, today), wanted, "{text} seen from {today}");
    }
}

#[test]
fn l5_34_the_ends_of_the_calendar_change_nothing() {
    for today in [Date::MIN, Date::MAX] {
        let text = "tomorrow, yesterday, next year, last year, in 900 years, 900 years ago";
        let found = absolute(text, today);
        assert_eq!(absolute(&found, today), found);
    }
}

#[allow(clippy::disallowed_methods, reason = "a test reads its data")]
/// Turns with a `today`, read where they are; they stay out of the repository.
#[test]
fn l5_34_the_judged_turns_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/judgement/keep.json");
    let Ok(text) = std::fs::read_to_string(path).or_else(|_| {
        let beside =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/judgement/keep.json");
        std::fs::read_to_string(beside)
    }) else {
        eprintln!("skipped: {path} is not there");
        return;
    };
    let data: serde_json::Value = serde_json::from_str(&text).unwrap();
    for turn in data["turns"].as_array().unwrap() {
        let Some(today) = turn["context"]["today"].as_str() else { continue };
        let found = absolute(turn["prompt"].as_str().unwrap(), today.parse().unwrap());
        let lower = found.to_lowercase();
        for item in turn["keep"].as_array().unwrap() {
            let words = |key: &str| item[key].as_array().cloned().unwrap_or_default();
            for word in words("must_contain") {
                let word = word.as_str().unwrap().to_lowercase();
                let is_date = word.starts_with("20");
                assert!(!is_date || lower.contains(&word), "{} lacks {word}: {found}", turn["id"]);
            }
            for word in words("must_not_contain") {
                let word = word.as_str().unwrap().to_lowercase();
                assert!(!lower.contains(&word), "{} has {word}: {found}", turn["id"]);
            }
        }
        if turn["keep"].as_array().unwrap().is_empty() {
            eprintln!("{} {found}", turn["id"]);
        }
    }
}

/// Words of all kinds, so that random rows of them are near what people write.
const WORDS: &[&str] = &[
    "tomorrow",
    "today",
    "next",
    "Monday",
    "friday",
    "week",
    "month",
    "in",
    "two",
    "10",
    "days",
    "ago",
    "from",
    "until",
    "by",
    "the",
    "30th",
    "of",
    "end",
    "March",
    "3",
    "every",
    "never",
    "on",
    "view",
    "(",
    ")",
    "\"",
    "'",
    "`",
    ".",
    ",",
    "\n",
    "\n\n",
    "-",
    "morgen",
    "am",
    "Freitag",
    "bis",
    "mañana",
    "la",
    "por",
    "明天",
    "下周",
    "四",
    "来週",
    "の",
    "木曜日",
    "내일",
    "다음",
    "주",
    "목요일",
    "2026-11-19",
    "2026",
    "evening",
    "this",
    "last",
    "since",
    "to",
    "a",
    "or",
    "i",
    "om",
    "dagar",
    "på",
    "jusqu'au",
    "30.",
    "heute",
    "früh",
    "hier",
    "ma",
    "will",
    "year",
    "week-end",
    "before",
];

proptest! {
    #[test]
    fn l5_34_any_text_is_read_without_panic_and_once(text in "\\PC{0,120}") {
        let once = absolute(&text, TODAY);
        prop_assert_eq!(absolute(&once, TODAY), once);
    }

    #[test]
    fn l5_34_rows_of_words_are_done_once(
        row in proptest::collection::vec((proptest::sample::select(WORDS), any::<bool>()), 0..14),
        offset in 0_i32..800,
    ) {
        let mut text = String::new();
        for (word, is_glued) in row {
            text.push_str(word);
            if !is_glued || word.is_ascii() {
                text.push(' ');
            }
        }
        let today = TODAY.checked_add(jiff::Span::new().days(offset)).unwrap();
        let once = absolute(&text, today);
        prop_assert_eq!(absolute(&once, TODAY), once);
    }
}
