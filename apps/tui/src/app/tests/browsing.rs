//! What the keys do to the cell that is chosen.

use crate::app::{Act, App, Phase};
use crate::host::Welcome;
use crate::theme::Theme;
use crate::transcript_view::Kind;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use std::path::PathBuf;
use std::time::Instant;

/// An answer with code and, last, what was recalled; the person walks through.
fn walking() -> App {
    let mut app = App::new(Theme::new(false), Welcome::default());
    app.talk.text("See:\n\n```rust\nfn main() {}\n```\n");
    app.talk.push(Kind::Recalled(vec![PathBuf::from("/m/dates.md"), "/m/style.md".into()]));
    see(&mut app);
    app.key(KeyEvent::new(KeyCode::Char('o'), KeyModifiers::CONTROL));
    app
}

fn see(app: &mut App) -> String {
    let area = Rect::new(0, 0, 100, 24);
    let mut buf = Buffer::empty(area);
    app.render(area, &mut buf, Instant::now());
    buf.content().iter().map(ratatui::buffer::Cell::symbol).collect()
}

fn press(app: &mut App, letter: char) -> Vec<Act> {
    see(app);
    app.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE))
}

#[test]
fn q9_a_cell_is_copied_as_text_or_as_what_a_program_wants_of_it() {
    let mut app = walking();
    let [Act::Copy(text)] = &press(&mut app, 'y')[..] else { panic!("nothing is copied") };
    assert_eq!(text, "dates.md, style.md");
    assert!(see(&mut app).contains("copied"));
    press(&mut app, 'k');
    let [Act::Copy(text)] = &press(&mut app, 'y')[..] else { panic!("nothing is copied") };
    assert!(text.starts_with("See:"), "{text}");
    let [Act::Copy(code)] = &press(&mut app, 'Y')[..] else { panic!("nothing is copied") };
    assert_eq!(code.trim(), "fn main() {}");
}

#[test]
fn q9_files_of_a_cell_are_opened_and_a_memory_is_edited() {
    let mut app = walking();
    let [Act::Open(files)] = &press(&mut app, 'o')[..] else { panic!("nothing is opened") };
    assert_eq!(files, &[PathBuf::from("/m/dates.md"), "/m/style.md".into()]);
    app.phase = Phase::Turn { since: Instant::now(), doing: String::new() };
    assert!(press(&mut app, 'e').is_empty());
    assert!(see(&mut app).contains("not while something is running"));
    app.phase = Phase::Rest;
    press(&mut app, 'e');
    assert_eq!(app.waiting, ["/memory edit dates"], "until there is a session");
    let mut app = walking();
    press(&mut app, 'k');
    for (letter, said) in [('o', "no file to open"), ('e', "no memory to edit")] {
        assert!(press(&mut app, letter).is_empty());
        assert!(see(&mut app).contains(said), "{letter}");
    }
}
