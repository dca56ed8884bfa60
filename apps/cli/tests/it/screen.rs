//! The screen in a real terminal: keys go in through tmux, and what a person
//! would see comes out.

use crate::desk::{Desk, KEY};
use everfold_testkit::{Reply, ServerRules, TempHome, TestServer};
use serde_json::json;
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Terminals that were started.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_mins(1);

/// Longer than a question has to be seen before a key answers it.
const READ: Duration = Duration::from_millis(800);

/// A terminal with the program in it.
pub(crate) struct Terminal {
    socket: String,
}

impl Terminal {
    /// Starts the program; none where there is no tmux.
    pub(crate) fn start(desk: &Desk, args: &str) -> Option<Self> {
        Self::start_sized(desk, args, (80, 24))
    }

    /// The same at a size of columns and rows.
    pub(crate) fn start_sized(desk: &Desk, args: &str, size: (u16, u16)) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            // Said where people look when tests are green too easily.
            let _ = writeln!(std::io::stderr(), "SKIPPED: tmux is not installed");
            return None;
        }
        let name = desk.files.home().to_string_lossy().replace(['/', '.'], "-");
        // Never the socket of one that is about to end.
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: format!("everfold{name}-{next}") };
        let mut line = format!(
            "env -i HOME='{}' PATH=\"$PATH\" TERM=\"$TERM\" EDITOR='{}' \
             EVERFOLD_FLAG_SESSION_MEMORY=0 EVERFOLD_FLAG_EXTRACT=0 EVERFOLD_LIMIT_RETRY_BASE_MS=1 ",
            desk.files.home().display(),
            desk.files.home().join("editor.sh").display(),
        );
        if let Some(server) = &desk.server {
            let url = server.base_url();
            let key = ["ANTHROPIC_API_KEY=", KEY, " ANTHROPIC_BASE_URL=", &url, " "];
            line.extend(key);
        }
        let program = env!("CARGO_BIN_EXE_everfold");
        line.extend(["'", program, "' ", args, "; echo \"left with $?\"; exec cat"]);
        let project = desk.files.project().to_string_lossy().into_owned();
        let (width, height) = (size.0.to_string(), size.1.to_string());
        terminal.tmux(&["new-session", "-d", "-x", &width, "-y", &height, "-c", &project, &line]);
        Some(terminal)
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let done = Command::new("tmux")
            .args(["-L", &self.socket, "-f", "/dev/null"])
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Answers a question, once it has been there to be read (U1).
    pub(crate) fn answers(&self, key: &str) {
        std::thread::sleep(READ);
        self.press(&[key]);
    }

    pub(crate) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
    }

    /// Presses keys by their names.
    pub(crate) fn press(&self, keys: &[&str]) {
        let args: Vec<&str> = ["send-keys"].iter().chain(keys).copied().collect();
        self.tmux(&args);
    }

    /// Types a line and sends it.
    pub(crate) fn says(&self, text: &str) {
        self.types(text);
        self.sees(text.lines().last().unwrap_or_default());
        self.press(&["Enter"]);
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until a text is there, and gives the screen.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until a text is gone.
    #[track_caller]
    pub(crate) fn sees_no(&self, text: &str) -> String {
        self.until(text, |screen| !screen.contains(text))
    }

    #[track_caller]
    /// Waits until a text is there two times.
    pub(crate) fn sees_twice(&self, text: &str) -> String {
        self.until(text, |screen| screen.matches(text).count() >= 2)
    }

    pub(crate) fn until(&self, what: &str, done: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if done(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "waited for {what:?}:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

/// A model that writes a file when it is told to, and echoes otherwise.
fn writer() -> Desk {
    let server = TestServer::with_handler(ServerRules::default(), |request| {
        let said = request.last_user_text();
        let last = said.lines().last().unwrap_or_default().to_owned();
        match request.last_tool_results() {
            Some(_) => Reply::text("It is **done**."),
            None if said.contains("sleep") => {
                Reply::tool("Bash", json!({"command": "sleep 1; echo awake"}))
            }
            None if said.contains("write") => {
                Reply::tool("Write", json!({"file_path": "tea.txt", "content": "green\n"}))
            }
            None => Reply::text(format!("You said: {last}")),
        }
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

#[test]
fn q9_a_session_in_a_real_terminal() {
    let desk = writer();
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    let first = terminal.sees("what shall we do?");
    for part in ["everfold", "directory", "instructions", "memories", "claude-sonnet"] {
        assert!(first.contains(part), "{part}:\n{first}");
    }
    terminal.says("hello there");
    terminal.sees("You said: hello there");
    // A tool is asked for in place, and runs after a yes.
    terminal.says("write it");
    let asked = terminal.sees("Make this change?");
    assert!(asked.contains("tea.txt") && asked.contains("Always in this session"), "{asked}");
    assert!(
        asked.contains("+ green") || asked.contains("+green"),
        "what would change is shown: {asked}"
    );
    assert!(!desk.files.project().join("tea.txt").exists());
    terminal.answers("y");
    terminal.sees("done");
    assert_eq!(std::fs::read_to_string(desk.files.project().join("tea.txt")).unwrap(), "green\n");
    // The width changes, and everything is still there.
    terminal.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    terminal.until("the start again", |screen| {
        screen.contains("You said: hello there") && screen.lines().count() >= 40
    });
    terminal.tmux(&["resize-window", "-x", "50", "-y", "20"]);
    terminal.sees("done");
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]);
    // Leaving gives the screen back and says how to go on.
    terminal.press(&["C-d"]);
    let left = terminal.sees("left with 0");
    assert!(left.contains("everfold --resume") && !left.contains("You said"), "{left}");
    drop(terminal);
    let Some(again) = Terminal::start(&desk, "--continue") else { return };
    let resumed = again.sees("You said: hello there");
    assert!(resumed.contains("write it"), "{resumed}");
    // What was typed before is found again.
    again.press(&["Up"]);
    again.sees("› write it");
    again.press(&["C-c"]);
    again.press(&["C-r"]);
    again.types("hello");
    again.sees("search: hello");
}

#[test]
fn q5_a_server_asks_on_the_screen() {
    let desk = crate::interactive::asked_by_server();
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("go");
    let asked = terminal.sees("The server s asks");
    assert!(asked.contains("Who are you?"), "{asked}");
    std::thread::sleep(READ);
    terminal.types("Ada");
    terminal.sees("Your name: Ada");
    terminal.press(&["Enter"]);
    terminal.sees("may be empty");
    terminal.press(&["Enter"]);
    terminal.sees("y  Send this");
    terminal.press(&["y"]);
    terminal.sees("Done.");
    let told = desk.server().requests()[1].last_tool_results().unwrap();
    assert!(told.contains("accept") && told.contains("Ada"), "{told}");
}

#[test]
fn q6_a_no_is_told_with_its_reason() {
    let desk = writer();
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("write it");
    terminal.sees("Make this change?");
    terminal.answers("n");
    terminal.types("too early");
    terminal.sees("No, because: too early");
    terminal.press(&["Enter"]);
    terminal.sees("done");
    assert!(!desk.files.project().join("tea.txt").exists());
    let requests = desk.server().requests();
    let told = requests.iter().any(|request| {
        String::from_utf8_lossy(&request.raw).contains("the person said no: too early")
    });
    assert!(told, "the model is told why");
}

#[test]
fn q9_a_message_during_a_turn_waits_and_is_taken_up() {
    let desk = writer();
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("sleep a little");
    terminal.sees("Run this command?");
    terminal.answers("y");
    terminal.sees("running Bash");
    terminal.says("and then tea");
    terminal.sees("⋯ and then tea");
    let screen = terminal.sees("done");
    assert!(screen.contains("› and then tea") && !screen.contains('⋯'), "{screen}");
    let requests = desk.server().requests();
    let last = String::from_utf8_lossy(&requests.last().unwrap().raw).into_owned();
    assert!(last.contains("and then tea"), "{last}");
}

#[test]
fn q9_shell_memory_and_editor_are_at_hand() {
    let desk = Desk::offline();
    let script = desk.files.home().join("editor.sh");
    std::fs::write(&script, "#!/bin/sh\nprintf 'read from the editor' > \"$1\"\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    terminal.says("!echo $((6*7)) apples");
    terminal.sees("42 apples");
    terminal.says("# the shed is painted blue every spring");
    terminal.sees("memory: saved project/the-shed-is-painted-blue");
    let listed = desk.run(&["memory", "list"]).ok();
    assert!(listed.out.contains("shed"), "{}", listed.out);
    terminal.press(&["C-g"]);
    terminal.sees("› read from the editor");
    terminal.press(&["C-c"]);
    // Files complete after an at sign, commands after a slash.
    desk.files.write("kettle.md", "hot\n").unwrap();
    terminal.types("see @ket");
    terminal.sees("@kettle.md");
    terminal.press(&["Tab"]);
    terminal.sees("› see @kettle.md");
    terminal.press(&["C-c"]);
    terminal.types("/hea");
    terminal.sees("whether memory and context management earn their keep");
    terminal.press(&["Escape"]);
    // Another key at once would be read as one with Alt.
    terminal.sees_no("earn their keep");
    terminal.press(&["C-c"]);
    terminal.sees("what shall we do?");
}

#[test]
fn q9_the_persons_own_status_line_is_shown() {
    let desk = Desk::offline();
    let own = r#"{"statusLine": {"type": "command", "command": "grep -o 'context_window_size' && true"}}"#;
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("settings.json"), own).unwrap();
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("context_window_size");
}

#[test]
#[cfg(unix)]
fn q9_a_signal_gives_the_screen_back() {
    let desk = Desk::offline();
    let Some(terminal) = Terminal::start(&desk, "") else { return };
    terminal.sees("what shall we do?");
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let killed = Command::new("pkill").args(["-TERM", "-P", shell.trim(), "everfold"]).status();
    assert!(killed.unwrap().success());
    terminal.sees("left with");
    terminal.sees_no("what shall we do?");
    terminal.says("typed");
    terminal.until("an echo of the plain terminal", |screen| screen.matches("typed").count() == 2);
}
