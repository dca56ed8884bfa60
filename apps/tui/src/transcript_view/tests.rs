use super::*;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use serde_json::json;

const PLAIN: Theme = Theme::new(false);

fn drawn(talk: &mut TranscriptView, width: u16, height: u16) -> Vec<String> {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    talk.draw(area, &mut buf, PLAIN);
    let row = |y| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
}

fn long_talk(count: usize) -> TranscriptView {
    let mut talk = TranscriptView::default();
    for at in 0..count {
        talk.push(Kind::Person(format!("question {at}")));
        talk.text(&format!("answer {at}"));
    }
    talk
}

#[test]
fn q9_the_end_is_followed_until_the_person_scrolls() {
    let mut talk = long_talk(20);
    assert_eq!(drawn(&mut talk, 30, 3), ["› question 19", "", "answer 19"]);
    talk.scroll(-4, PLAIN);
    let before = drawn(&mut talk, 40, 3);
    assert_eq!(before.first().map(String::as_str), Some("› question 18"));
    assert_eq!(before.last().map(String::as_str), Some("answer 18                ↓ 4 more lines"));
    talk.text(" and more\n\nof it\n\nto come");
    let after = drawn(&mut talk, 40, 3);
    assert_eq!(after.first(), before.first(), "what is read stays in its place");
    assert_eq!(after.last().map(String::as_str), Some("answer 18     ↓ 8 more lines, new below"));
    talk.scroll(50, PLAIN);
    assert_eq!(drawn(&mut talk, 30, 1), ["to come"]);
}

#[test]
fn q9_only_what_is_seen_is_laid_out() {
    let mut talk = long_talk(5_000);
    drawn(&mut talk, 80, 40);
    talk.choose_first(PLAIN);
    drawn(&mut talk, 80, 40);
    let laid = talk.cells.iter().filter(|cell| cell.is_laid()).count();
    assert!(laid < 400, "{laid} cells were laid out");
}

#[test]
fn q9_a_search_goes_through_everything_and_unfolds_it() {
    let mut talk = long_talk(10);
    let mut call = ToolCall::new("t1", "Bash", json!({"command": "cargo test"}));
    call.answered(&json!("line one\nthe Needle\nline three"), None);
    call.state = State::Done(None);
    talk.push(Kind::Tool(Box::new(call)));
    talk.text("the end");
    drawn(&mut talk, 40, 6);
    assert!(talk.search("needle", PLAIN));
    let lines = drawn(&mut talk, 40, 6);
    assert!(lines.iter().any(|line| line.contains("the Needle")), "{lines:?}");
    assert!(!talk.search("nothing like it", PLAIN));
    assert!(talk.search("question", PLAIN));
    let first = talk.chosen().map(Cell::words);
    assert_eq!(first.as_deref(), Some("question 9"));
    assert!(talk.find(-1, PLAIN));
    assert_eq!(talk.chosen().map(Cell::words).as_deref(), Some("question 8"));
    assert!(talk.find(1, PLAIN) && talk.find(1, PLAIN));
    assert_eq!(talk.chosen().map(Cell::words).as_deref(), Some("question 0"), "it goes round");
    assert!(!TranscriptView::default().search("x", PLAIN));
}

#[test]
fn q9_what_the_person_said_is_jumped_to() {
    let mut talk = long_talk(4);
    drawn(&mut talk, 40, 4);
    for expected in ["question 3", "question 2", "question 1", "question 0", "question 0"] {
        talk.choose_person(-1, PLAIN);
        assert_eq!(talk.chosen().map(Cell::words).as_deref(), Some(expected));
        assert!(drawn(&mut talk, 40, 4).iter().any(|line| line.contains(expected)));
    }
    talk.choose_person(1, PLAIN);
    assert_eq!(talk.chosen().map(Cell::words).as_deref(), Some("question 1"));
}

#[test]
fn q9_an_answer_that_starts_again_is_taken_back() {
    let mut talk = long_talk(1);
    talk.push(Kind::Person("go on".to_owned()));
    talk.thinking("hm");
    talk.text("this is");
    talk.take_back();
    assert_eq!(drawn(&mut talk, 30, 1), ["› go on"]);
}

#[test]
fn q9_thoughts_are_folded_and_unfold_together() {
    let mut talk = TranscriptView::default();
    for text in ["first idea", "second idea"] {
        let time = ThinkingTime::Took(std::time::Duration::from_millis(2_300));
        talk.push(Kind::Thinking(Thought { text: text.to_owned(), time }));
        talk.push(Kind::Person(text.to_owned()));
    }
    let lines = drawn(&mut talk, 30, 9);
    assert_eq!(lines.first().map(String::as_str), Some("∴ thought for 2.3 s"));
    assert!(!lines.contains(&"  first idea".to_owned()));
    talk.fold_thoughts(PLAIN);
    let lines = drawn(&mut talk, 30, 9);
    assert!(lines.contains(&"  first idea".to_owned()), "{lines:?}");
}

#[test]
fn s6_results_of_tools_do_not_steer_the_terminal() {
    let mut call = ToolCall::new("t1", "Ba\u{1b}sh", json!({"command": "a\u{1b}[2Jb\u{202e}"}));
    call.answered(&json!("x\u{1b}]0;owned\u{7}y\rz"), None);
    let mut shown = Cell::new(Kind::Tool(Box::new(call)));
    for open in [false, true] {
        shown.set_open(open);
        for line in shown.lines(60, PLAIN) {
            let text = line.to_string();
            assert!(
                !text.chars().any(|letter| letter.is_control() || letter == '\u{202e}'),
                "{text:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn q9_any_call_fits_any_width(
        name in ".{0,30}",
        key in prop::sample::select(vec!["command", "file_path", "old_string", "todos", "x"]),
        value in ".{0,60}",
        result in prop::collection::vec(any::<u8>(), 0..200),
        width in 1u16..200,
        failed in any::<bool>(),
    ) {
        let name = match value.len() % 3 { 0 => "Edit", 1 => "Write", _ => name.as_str() };
        let input = json!({key: value, "content": value, "new_string": "new\ntext", "todos": [
            {"content": value, "status": "completed"}]});
        let mut call = ToolCall::new("t1", name, input);
        call.answered(&json!(String::from_utf8_lossy(&result)), None);
        call.state = if failed { State::Failed(None) } else { State::Done(None) };
        let mut shown = Cell::new(Kind::Tool(Box::new(call)));
        for open in [false, true] {
            shown.set_open(open);
            for line in shown.lines(width, PLAIN) {
                prop_assert!(line.width() <= usize::from(width), "{line:?}");
            }
        }
    }
}

#[test]
fn q9_code_gets_its_colours_when_they_are_known() {
    let colours = Theme::new(true);
    let mut cell = Cell::answer("```rust\nfn main() {} // hi\n```\n");
    let plain = cell.lines(40, colours).to_vec();
    highlight::wait();
    let coloured = cell.lines(40, colours).to_vec();
    let text = |lines: &[ratatui::text::Line<'_>]| {
        lines.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(text(&plain), text(&coloured));
    let styles: Vec<_> =
        coloured.iter().flat_map(|line| &line.spans).map(|span| span.style).collect();
    assert!(styles.contains(&colours.code(highlight::Kind::Word)), "{coloured:?}");
    assert!(styles.contains(&colours.code(highlight::Kind::Comment)), "{coloured:?}");
    assert_eq!(cell.lines(40, Theme::new(false)).len(), coloured.len());
}
