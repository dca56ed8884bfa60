//! Layer 3 in whole conversations: when notes are made, by whom, and what
//! becomes of them.

use crate::place::{Agent, Place, say_ok};
use everfold_engine::Session;
use everfold_engine::window::notes::{self, NotesUpdate};
use everfold_testkit::{FakeModel, Received, Reply, ServerRules, oracle};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) const ITALIC: &str =
    "_What is being worked on right now, what is pending, and what comes next._";

/// What is between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The notes that a fork was shown, and where they are.
pub(crate) fn shown(request: &Received) -> (String, String) {
    let said = request.last_user_text();
    let notes = between(&said, "<current-notes>\n", "\n</current-notes>").to_owned();
    (notes, between(&said, "They are in ", ", and you have read").to_owned())
}

pub(crate) fn edit(path: &str, old: &str, new: &str) -> Reply {
    Reply::tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

/// Counts up in Current State.
pub(crate) fn take_notes(request: &Received) -> Reply {
    let (notes, path) = shown(request);
    match notes.split_once("Update ") {
        Some((_, rest)) => {
            let number: u32 = rest.split('.').next().unwrap().parse().unwrap();
            edit(&path, &format!("Update {number}."), &format!("Update {}.", number + 1))
        }
        None => edit(&path, ITALIC, &format!("{ITALIC}\n\nUpdate 1.")),
    }
}

/// A server whose model reads a file of some 6,000 tokens in each turn, and
/// keeps notes as it is told.
pub(crate) fn server(notes: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> FakeModel {
    FakeModel::with_handler(ServerRules::default(), move |request| {
        match (request.source(), request.last_tool_results()) {
            ("session_memory", _) => notes(request),
            ("compact", _) => Reply::text("<summary>\nBy the model.\n</summary>"),
            (_, Some(_)) => Reply::text("I have read it."),
            _ if request.last_user_text().contains("hello") => Reply::text("Hello."),
            _ if request.last_user_text().contains("other") => {
                Reply::tool("Read", json!({"file_path": "other.txt"}))
            }
            _ => Reply::tool("Read", json!({"file_path": "big.txt"})),
        }
    })
}

pub(crate) fn place(notes: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Place {
    let place = Place::new(server(notes));
    place.write("big.txt", &"a line of a file with some words in it\n".repeat(540));
    place
}

pub(crate) async fn agent(place: &Place) -> Agent {
    agent_with(place, &[]).await
}

pub(crate) async fn agent_with(place: &Place, more: &[(&str, &str)]) -> Agent {
    let mut variables = vec![("/everfold/flags/session_memory", "true")];
    variables.extend(more);
    place.builder_with(&variables).build().await
}

/// One turn, and all that it left running.
pub(crate) async fn turn(session: &mut Session, prompt: &str) {
    say_ok(session, prompt).await;
    everfold_engine::finish(session).await.unwrap();
}

pub(crate) fn notes_of(session: &Session) -> String {
    std::fs::read_to_string(notes::notes_path(session)).unwrap()
}

fn updates(place: &Place) -> usize {
    place.model.requests_of("session_memory").len()
}

pub(crate) fn noted(place: &Place) -> Vec<Value> {
    let lines = place.transcript().into_iter();
    lines.filter(|line| line["subtype"] == "everfold_noted").collect()
}

#[tokio::test]
async fn l3_1_l3_2_notes_are_made_at_ten_thousand_tokens_in_one_file_for_its_owner() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "hello").await;
    assert!(session.fold().count().0 < 10_000, "{:?}", session.fold().count());
    assert!(updates(&place) == 0 && !notes::notes_path(&session).exists());
    turn(&mut session, "read it").await;
    assert_eq!(updates(&place), 1, "one request: the edit went well");
    let path = notes::notes_path(&session);
    let place_of_it = Path::new(session.id().as_str()).join("session-memory/summary.md");
    assert!(path.ends_with(place_of_it), "{}", path.display());
    let notes = notes_of(&session);
    assert_eq!(notes.lines().filter(|line| line.starts_with("# ")).count(), 10);
    assert!(
        notes.contains(&format!("# Current State\n{ITALIC}\n\nUpdate 1.\n\n# Task")),
        "{notes}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let decisions = noted(&place);
    assert_eq!(decisions.len(), 1);
    let through = &decisions[0]["everfold"]["through"];
    let mut shown = session.fold().messages().iter().flat_map(everfold_prefix::Message::pieces);
    assert!(shown.any(|piece| through == piece.record.as_str()), "{through}");
    assert_eq!(session.ledger().lines().filter(|line| line.0 == "session_memory").count(), 1);
}

#[tokio::test]
async fn l3_2_updated_after_five_thousand_more_and_not_before() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    for _ in 0..3 {
        turn(&mut session, "hello").await;
    }
    assert_eq!(updates(&place), 1);
    turn(&mut session, "read it").await;
    assert_eq!(updates(&place), 2);
    assert!(notes_of(&session).contains("Update 2."));
    let (mut session, _) = agent.resume(session.id().clone()).await.unwrap();
    turn(&mut session, "hello again").await;
    assert_eq!(updates(&place), 2, "a resumed session knows what the notes cover");
    turn(&mut session, "read it").await;
    assert_eq!(updates(&place), 3);
}

#[tokio::test]
async fn l3_4_pc4_the_update_is_a_fork_that_reads_its_parents_cache() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    for _ in 0..4 {
        turn(&mut session, "read it").await;
    }
    turn(&mut session, "hello").await;
    let all = place.model.requests();
    let forks = all.iter().enumerate().filter(|(_, request)| request.source() == "session_memory");
    let mut seen = 0;
    for (at, fork) in forks {
        let parent = all[..at].iter().rev().find(|request| request.source() == "main").unwrap();
        assert_eq!(oracle::first_break(parent, fork), None);
        assert_eq!(parent.body["tools"], fork.body["tools"]);
        let known = parent.usage.unwrap().prompt().0;
        let read = fork.usage.unwrap().cache_read;
        assert!(read * 100 >= known * 99, "{read} of {known}");
        seen += 1;
    }
    assert_eq!(seen, 4);
    let main: Vec<Received> = place.model.requests_of("main");
    oracle::assert_prefix_stable(&main);
    let last = main.last().unwrap().body.to_string();
    assert!(!last.contains("current-notes"), "nothing of it is in the conversation");
}

#[tokio::test]
async fn l3_4_s1_nothing_but_that_one_file_can_be_changed_or_read() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("victim.md");
    std::fs::write(&target, "mine").unwrap();
    let victim = target.display().to_string();
    let place = place(move |request| {
        if request.last_tool_results().is_some_and(|results| results.contains("refused")) {
            return Reply::text("I give up.");
        }
        let (_, path) = shown(request);
        edit(&victim, "mine", "yours")
            .and_tool("Write", json!({"file_path": path, "content": "all mine"}))
            .and_tool("Read", json!({"file_path": victim}))
            .and_tool("Bash", json!({"command": "ls"}))
            .and_tool("Edit", json!({"file_path": format!("{path}/../x.md"), "old_string": "", "new_string": "x"}))
    });
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    let forks = place.model.requests_of("session_memory");
    assert_eq!(forks.len(), 2);
    let results = forks[1].last_tool_results().unwrap();
    assert_eq!(results.matches("This call was refused").count(), 5, "{results}");
    assert!(!results.contains("mine"), "{results}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    assert!(noted(&place).is_empty());
    let blank = notes_of(&session);
    assert!(!blank.contains("all mine") && blank.starts_with("# Session Title"));
}

#[tokio::test]
async fn l3_1_an_update_that_changes_a_heading_is_thrown_away() {
    for (old, new) in [
        ("# Workflow", "# How we work"),
        (ITALIC, "_Changed._"),
        ("# Worklog", ""),
        ("# Session Title", "# Worklog\n# Session Title"),
    ] {
        let place = place(move |request| edit(&shown(request).1, old, new));
        let agent = agent(&place).await;
        let mut session = agent.start();
        turn(&mut session, "read it").await;
        let before = notes_of(&session);
        assert!(before.contains("# Workflow") && before.contains(ITALIC), "{before}");
        assert!(noted(&place).is_empty());
        turn(&mut session, "hello").await;
        assert_eq!(updates(&place), 1, "it is not tried again at once");
        turn(&mut session, "read it").await;
        assert_eq!(updates(&place), 2);
        assert_eq!(notes_of(&session), before);
    }
}

#[tokio::test]
async fn q2_an_update_that_fails_leaves_the_notes_and_the_turn_alone() {
    let failing = [
        Reply::error(500, "broken"),
        Reply::text("I would rather not."),
        Reply::text("").stop_reason("refusal"),
    ];
    for reply in failing {
        let place = place(move |request| {
            let (notes, _) = shown(request);
            if notes.contains("Update 1.") { reply.clone() } else { take_notes(request) }
        });
        let agent = agent(&place).await;
        let mut session = agent.start();
        turn(&mut session, "read it").await;
        let before = notes_of(&session);
        turn(&mut session, "read it").await;
        assert_eq!(notes_of(&session), before);
        assert_eq!(noted(&place).len(), 1);
    }
}

#[tokio::test]
async fn l3_4_updates_never_overlap() {
    let place = place(|request| take_notes(request).gate("notes"));
    let agent = agent(&place).await;
    let mut session = agent.start();
    say_ok(&mut session, "read it").await;
    for _ in 0..3 {
        say_ok(&mut session, "read it").await;
    }
    assert_eq!(updates(&place), 1, "one at a time, while it is due again and again");
    place.model.release("notes");
    everfold_engine::finish(&mut session).await.unwrap();
    say_ok(&mut session, "hello").await;
    everfold_engine::finish(&mut session).await.unwrap();
    assert_eq!(updates(&place), 2, "then the next");
    assert!(notes_of(&session).contains("Update 2."));
}

#[tokio::test]
async fn l3_4_what_a_person_wrote_in_between_is_not_lost() {
    let place = place(|request| {
        let reply = take_notes(request);
        if shown(request).0.contains("Update 1.") { reply.gate("second") } else { reply }
    });
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    say_ok(&mut session, "read it").await;
    place.model.wait_for_requests(6).await.unwrap();
    let mine = notes_of(&session).replace("Update 1.", "Update 7. I know better.");
    std::fs::write(notes::notes_path(&session), &mine).unwrap();
    place.model.release("second");
    everfold_engine::finish(&mut session).await.unwrap();
    assert_eq!(notes_of(&session), mine);
    assert_eq!(noted(&place).len(), 1);
    turn(&mut session, "read it").await;
    assert!(notes_of(&session).contains("Update 8. I know better."), "it is built upon");
}

#[tokio::test]
async fn l3_3_sections_over_their_cap_are_named_in_the_next_update() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    let long = notes_of(&session) + &"worked on. ".repeat(1_000);
    std::fs::write(notes::notes_path(&session), long).unwrap();
    turn(&mut session, "read it").await;
    let forks = place.model.requests_of("session_memory");
    assert!(!forks[0].last_user_text().contains("too long"));
    let said = forks[1].last_user_text();
    assert!(said.contains("These are too long") && said.contains("- Worklog has 2750 tokens"));
}

#[tokio::test]
async fn l3_8_a_long_turn_gets_its_notes_too() {
    let server = FakeModel::with_handler(ServerRules::default(), |request| {
        let rounds = request.messages().len() / 2;
        match request.source() {
            "session_memory" => take_notes(request),
            _ if rounds >= 8 => Reply::text("Enough."),
            _ => Reply::tool("Read", json!({"file_path": "big.txt", "offset": rounds + 1})),
        }
    });
    let place = Place::new(server);
    place.write("big.txt", &"a line of a file with some words in it\n".repeat(540));
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read on").await;
    let all = place.model.requests();
    let first = all.iter().position(|request| request.source() == "session_memory").unwrap();
    assert!(all[first..].iter().filter(|request| request.source() == "main").count() > 3);
    oracle::assert_prefix_stable(&place.model.requests_of("main"));
}

#[tokio::test]
async fn q3_l3_8_switched_off_or_without_auto_compact_there_are_no_notes() {
    for (name, value) in [
        ("/everfold/flags/session_memory", "false"),
        ("/everfold/flags/auto_compact", "false"),
        ("/everfold/provider/kind", "offline"),
    ] {
        let place = place(take_notes);
        let agent = agent_with(&place, &[(name, value)]).await;
        let mut session = agent.start();
        for _ in 0..3 {
            turn(&mut session, "read it").await;
        }
        assert_eq!(updates(&place), 0, "{name}");
        assert!(!notes::notes_path(&session).exists());
    }
}

fn config(place: &Place, name: &str, text: &str) -> PathBuf {
    let path = place.dirs.home().join("session-memory/config").join(name);
    place.dirs.write(path, text).unwrap()
}

#[tokio::test]
async fn l3_5_a_persons_own_template_and_prompt() {
    let place = place(|request| {
        let said = request.last_user_text();
        let path = between(&said, "Edit ", " now.").to_owned();
        edit(&path, "_for me_", "_for me_\n\n{{cwd}} $1 noted.")
    });
    config(&place, "template.md", "# Mine {{sessionId}}\n_for me_\n");
    config(&place, "prompt.md", "Edit {{notesPath}} now.\n{{currentNotes}}\n{{unknown}}");
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    let notes = notes_of(&session);
    assert_eq!(notes, format!("# Mine {}\n_for me_\n\n{{{{cwd}}}} $1 noted.\n", session.id()));
    turn(&mut session, "read it").await;
    let said = place.model.requests_of("session_memory")[1].last_user_text();
    assert!(said.ends_with(&format!("{}\n{{{{unknown}}}}", notes.trim_end())), "{said}");
}

#[tokio::test]
async fn l3_5_a_template_that_changes_in_mid_session_takes_the_notes_along() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    std::fs::write(notes::notes_path(&session), notes_of(&session) + "- began\n").unwrap();
    config(&place, "template.md", &format!("# Current State\n{ITALIC}\n# News\n_what is new_\n"));
    turn(&mut session, "read it").await;
    let notes = notes_of(&session);
    assert!(notes.contains("Update 2.") && notes.contains("- began"), "{notes}");
    assert!(notes.ends_with("# News\n_what is new_\n"), "{notes}");
    assert_eq!(noted(&place).len(), 2);
    config(&place, "template.md", "no headings at all");
    turn(&mut session, "read it").await;
    assert!(notes_of(&session).contains("Update 3."), "ours is used then");
}

#[tokio::test]
async fn s5_no_key_is_written_into_the_notes() {
    let place = place(|request| {
        let text = format!("{ITALIC}\n\nThe key is {}.", crate::place::KEY);
        edit(&shown(request).1, ITALIC, &text)
    });
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    let notes = notes_of(&session);
    assert!(notes.contains("The key is") && !notes.contains(crate::place::KEY), "{notes}");
}

#[cfg(unix)]
#[tokio::test]
async fn s6_notes_that_cannot_be_used_are_left_alone_and_the_session_goes_on() {
    type Spoil = fn(&Path, &Path);
    let spoil: [(&str, Spoil); 4] = [
        ("not UTF-8", |notes, _| std::fs::write(notes, b"# Session Title\n\xff\xfe").unwrap()),
        ("10 MB", |notes, _| std::fs::write(notes, "x".repeat(10 << 20)).unwrap()),
        ("a link out", |notes, victim| std::os::unix::fs::symlink(victim, notes).unwrap()),
        ("a directory", |notes, _| std::fs::create_dir(notes).unwrap()),
    ];
    for (what, spoil) in spoil {
        let place = place(take_notes);
        let victim = place.dirs.root().join("victim.md");
        std::fs::write(&victim, "# Session Title\nmine").unwrap();
        let agent = agent(&place).await;
        let mut session = agent.start();
        std::fs::create_dir_all(notes::notes_path(&session).parent().unwrap()).unwrap();
        spoil(&notes::notes_path(&session), &victim);
        for _ in 0..3 {
            turn(&mut session, "read it").await;
        }
        assert_eq!(updates(&place), 0, "{what}: no model is asked");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "# Session Title\nmine", "{what}");
        assert!(notes::notes(&session).await.is_err(), "{what}");
    }
}

#[tokio::test]
async fn l3_1_a_file_whose_headings_a_person_broke_is_mended_and_nothing_is_lost() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    std::fs::create_dir_all(notes::notes_path(&session).parent().unwrap()).unwrap();
    std::fs::write(notes::notes_path(&session), "my words\n# Worklog\n- one\n# Odd\ntwo\n")
        .unwrap();
    turn(&mut session, "read it").await;
    let notes = notes_of(&session);
    for kept in ["my words", "- one\n# Odd\ntwo", "Update 1."] {
        assert!(notes.contains(kept), "{kept}: {notes}");
    }
    assert!(notes.starts_with("# Session Title\n_"));
}

#[tokio::test]
async fn q4_a_forked_session_takes_the_notes_along() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    let (mut forked, _) = agent.fork(session.id()).await.unwrap();
    assert_eq!(notes_of(&forked), notes_of(&session));
    assert!(forked.fold().noted().is_some());
    turn(&mut forked, "read it").await;
    assert!(notes_of(&forked).contains("Update 2.") && notes_of(&session).contains("Update 1."));
}

#[tokio::test]
async fn l5_27_notes_keep_to_the_background_budget() {
    let place = place(take_notes);
    let agent = place
        .builder_with(&[("/everfold/flags/session_memory", "true")])
        .set("/everfold/budget/session_tokens", 1)
        .build()
        .await;
    let mut session = agent.start();
    for _ in 0..4 {
        turn(&mut session, "read it").await;
    }
    assert_eq!(updates(&place), 1, "the first one used it up");
}

#[tokio::test]
async fn q9_a_person_has_the_notes_brought_up_to_date_at_once() {
    let place = place(take_notes);
    let agent = agent(&place).await;
    let mut session = agent.start();
    let refused = notes::update_notes(&mut session).await.unwrap();
    assert!(matches!(refused, NotesUpdate::Refused(_)), "there is nothing to note yet");
    turn(&mut session, "hello").await;
    assert_eq!(notes::update_notes(&mut session).await.unwrap(), NotesUpdate::Changed);
    assert!(notes_of(&session).contains("Update 1."));
    let file = notes::notes(&session).await.unwrap().unwrap();
    notes::write_notes(&session, &file.text.replace("Update 1.", "Mine."), file.expect.clone())
        .await
        .unwrap();
    let stale = notes::write_notes(&session, "no", file.expect).await;
    assert!(stale.is_err() && notes_of(&session).contains("Mine."));
    let off = agent_with(&place, &[("/everfold/flags/session_memory", "false")]).await;
    let mut session = off.start();
    turn(&mut session, "hello").await;
    let refused = notes::update_notes(&mut session).await.unwrap();
    assert!(matches!(refused, NotesUpdate::Refused(_)));
}

#[tokio::test]
async fn q18_a_weak_model_fills_in_a_form_and_loses_nothing() {
    let place = place(|request| {
        assert_eq!(request.body.get("tools"), None, "no tools");
        let schema = &request.body["output_config"]["format"]["schema"];
        assert_eq!(schema["required"][1], "Current State");
        let said = request.last_user_text();
        assert!(said.contains("# Current State") && said.contains("person: hello"), "{said}");
        if said.contains("- port the parser") {
            return Reply::text("I would write that the parser is ported.");
        }
        Reply::text(r#"{"Current State": ["port the parser"], "Worklog": []}"#)
    });
    let builder = place.builder_with(&[("/everfold/flags/session_memory", "true")]);
    let agent = builder.set("/everfold/lean", true).build().await;
    let mut session = agent.start();
    turn(&mut session, "hello").await;
    assert_eq!(notes::update_notes(&mut session).await.unwrap(), NotesUpdate::Changed);
    let written = notes_of(&session);
    assert!(written.contains("what comes next._\n\n- port the parser\n\n# Task"), "{written}");
    // What is no form changes nothing.
    assert_eq!(notes::update_notes(&mut session).await.unwrap(), NotesUpdate::Unchanged);
    assert_eq!(notes_of(&session), written);
    assert_eq!(updates(&place), 2);
}

#[tokio::test]
async fn q18_a_model_on_its_own_fills_in_notes_behind_what_it_has_read() {
    let place = place(|_| Reply::text(r#"{"Current State": ["port the parser"], "Worklog": []}"#));
    let builder = place.builder_with(&[("/everfold/flags/session_memory", "true")]);
    let builder = builder.set("/everfold/lean", true);
    let agent = builder.set("/everfold/small_model", "claude-sonnet-5-5").build().await;
    let mut session = agent.start();
    turn(&mut session, "hello").await;
    assert_eq!(notes::update_notes(&mut session).await.unwrap(), NotesUpdate::Changed);
    assert!(notes_of(&session).contains("- port the parser"));
    let asked = place.model.requests();
    let (main, own) = (&asked[0], asked.last().unwrap());
    let read = |request: &Received| {
        let (messages, tools) = (&request.body["messages"], &request.body["tools"]);
        (messages.as_array().unwrap().len(), tools.to_string())
    };
    assert_eq!(own.source(), "session_memory");
    assert_eq!(read(own).1, read(main).1);
    assert_eq!(own.body["tool_choice"]["type"], "none");
    assert_eq!(read(own).0, read(main).0 + 2, "the answer and the question");
    assert!(own.last_user_text().contains("# Current State"), "{}", own.last_user_text());
}

#[tokio::test]
async fn q6_where_a_rule_denies_edits_no_model_is_asked_for_notes() {
    let place = place(take_notes);
    let agent = place
        .builder_with(&[("/everfold/flags/session_memory", "true")])
        .set("/permissions/deny", json!(["Edit"]))
        .build()
        .await;
    let mut session = agent.start();
    turn(&mut session, "read it").await;
    turn(&mut session, "read it").await;
    assert_eq!(updates(&place), 0);
}
