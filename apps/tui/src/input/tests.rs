//! Typing, key by key.

use super::*;

fn typed(input: &mut Input, text: &str) {
    for letter in text.chars() {
        let _ = input.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
    }
}

fn press(input: &mut Input, code: KeyCode, modifiers: KeyModifiers) -> Typed {
    input.key(KeyEvent::new(code, modifiers))
}

fn with_commands() -> Input {
    let mut input = Input::default();
    let info = |name: &str, takes: &str| CommandInfo {
        names: vec![name.to_owned()],
        takes: takes.to_owned(),
        about: String::new(),
    };
    input.know(vec![info("context", ""), info("compact", "[GUIDANCE]"), info("cost", "")]);
    input
}

#[test]
fn q9_enter_sends_and_other_enters_are_lines() {
    let mut input = Input::default();
    typed(&mut input, "one");
    press(&mut input, KeyCode::Enter, KeyModifiers::ALT);
    typed(&mut input, "two");
    press(&mut input, KeyCode::Char('j'), KeyModifiers::CONTROL);
    typed(&mut input, "three\\");
    press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    typed(&mut input, "four");
    let sent = press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(sent, Typed::Sent("one\ntwo\nthree\nfour".to_owned()));
    assert!(input.is_empty());
}

#[test]
fn q9_a_command_is_completed_and_sent_by_enter() {
    let mut input = with_commands();
    typed(&mut input, "/cos");
    let sent = press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(sent, Typed::Sent("/cost".to_owned()));
    typed(&mut input, "/comp");
    press(&mut input, KeyCode::Tab, KeyModifiers::NONE);
    assert_eq!(input.text(), "/compact ");
}

#[test]
fn q9_files_are_asked_for_once_and_completed() {
    let mut input = Input::default();
    typed(&mut input, "see ");
    let asked = press(&mut input, KeyCode::Char('@'), KeyModifiers::NONE);
    assert_eq!(asked, Typed::Files);
    input.know_files(vec!["src/lib.rs".to_owned(), "README.md".to_owned()]);
    typed(&mut input, "lib");
    press(&mut input, KeyCode::Tab, KeyModifiers::NONE);
    assert_eq!(input.text(), "see @src/lib.rs ");
    input.set("");
    typed(&mut input, "see @");
    input.know_files(vec!["src/lib.rs".to_owned()]);
    typed(&mut input, "src/lib.rs");
    let sent = press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(sent, Typed::Sent("see @src/lib.rs".to_owned()));
}

#[test]
fn q9_a_long_paste_is_one_word_and_sent_in_full() {
    let mut input = Input::default();
    let long = "line\n".repeat(40);
    input.paste(&long);
    assert_eq!(input.area.lines(), ["[paste 1: 40 lines]"]);
    let Typed::Sent(text) = press(&mut input, KeyCode::Enter, KeyModifiers::NONE) else {
        panic!("not sent")
    };
    assert_eq!(text, long);
}

#[test]
fn q13_the_path_of_a_picture_is_mentioned() {
    let mut input = Input::default();
    input.paste("/tmp/my\\ shot.png");
    assert_eq!(input.text(), "@\"/tmp/my shot.png\" ");
}

#[test]
fn q9_history_is_searched_with_control_r() {
    let mut input = Input::default();
    input.remember(vec!["run the tests".into(), "read it".into()]);
    press(&mut input, KeyCode::Char('r'), KeyModifiers::CONTROL);
    typed(&mut input, "tes");
    press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(input.text(), "run the tests");
    press(&mut input, KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(input.text(), "read it");
}

#[test]
fn l5_33_what_is_pasted_stays_pasted_while_the_rest_is_typed() {
    let mut input = Input::default();
    typed(&mut input, "fix ");
    input.paste("boom at seven");
    typed(&mut input, " now");
    press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    let sent = input.take_sent();
    assert_eq!(sent.text, "fix boom at seven now");
    assert_eq!(
        sent.pasted.iter().map(|range| sent.text.get(range.clone()).unwrap()).collect::<Vec<_>>(),
        ["boom at seven"]
    );
    press(&mut input, KeyCode::Up, KeyModifiers::NONE);
    press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(input.take_sent(), sent, "out of the history");
    let long = "line\n".repeat(40);
    input.paste(&long);
    press(&mut input, KeyCode::Enter, KeyModifiers::NONE);
    let sent = input.take_sent();
    assert_eq!((sent.text.as_str(), sent.pasted.len()), (long.as_str(), 1));
}
