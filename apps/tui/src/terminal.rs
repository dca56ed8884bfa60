//! The terminal itself: taken over at the start, given back whatever happens.

use crate::app::MouseUse;
use everfold_kernel::settings::Bell;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event as TermEvent,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
    supports_keyboard_enhancement,
};
use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

mod emoji_rows;

use emoji_rows::EmojiRows;

/// How long the reader of keys waits before it looks whether it shall pause.
const LOOK: Duration = Duration::from_millis(25);

/// Buttons and the wheel come to us; not every movement, which would draw the
/// screen anew each time.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";

/// Whether the screen is ours, for whoever has to give it back.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether what the mouse does comes to us.
static MOUSE: AtomicBool = AtomicBool::new(false);
/// Whether the terminal can tell Shift-Enter from Enter; it is asked once.
static TELLS_KEYS: OnceLock<bool> = OnceLock::new();
/// Whether it was asked to.
static KEYBOARD: AtomicBool = AtomicBool::new(false);

/// The screen, taken over.
pub(crate) struct Screen {
    pub(crate) terminal: Terminal<EmojiRows<CrosstermBackend<Stdout>>>,
}

impl Screen {
    /// Takes the screen over; a panic gives it back before it is told.
    pub(crate) fn take(mouse: MouseUse) -> io::Result<Self> {
        MOUSE.store(mouse == MouseUse::Ours, Ordering::SeqCst);
        enter()?;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        let backend = EmojiRows::new(CrosstermBackend::new(io::stdout()));
        Ok(Self { terminal: Terminal::new(backend)? })
    }

    /// Leaves the screen to another program.
    pub(crate) fn leave() {
        give_back();
    }

    pub(crate) fn come_back(&mut self) -> io::Result<()> {
        enter()?;
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if MOUSE.load(Ordering::SeqCst) {
        execute!(io::stdout(), Print(MOUSE_ON))?;
    }
    // Where the terminal does not answer, Alt-Enter and Ctrl-J make a new line.
    let tells = *TELLS_KEYS.get_or_init(|| supports_keyboard_enhancement().unwrap_or(false));
    if tells {
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
        KEYBOARD.store(true, Ordering::SeqCst);
    }
    Ok(())
}

/// Takes the mouse, or lets the terminal have it.
pub(crate) fn mouse(wanted: MouseUse) -> io::Result<()> {
    MOUSE.store(wanted == MouseUse::Ours, Ordering::SeqCst);
    match wanted {
        MouseUse::Ours => execute!(io::stdout(), Print(MOUSE_ON)),
        MouseUse::Terminals => execute!(io::stdout(), Print(MOUSE_OFF)),
    }
}

/// Calls the person, who may look elsewhere.
pub(crate) fn ring(how: Bell, text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    match how {
        Bell::Off => return Ok(()),
        Bell::Bell => write!(out, "\u{7}")?,
        // Nothing in the text can end the sequence early.
        Bell::Notify => {
            let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
            write!(out, "\u{1b}]9;{text}\u{7}")?;
        }
    }
    out.flush()
}

fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        // There is nobody to be told that this failed.
        if KEYBOARD.swap(false, Ordering::SeqCst) {
            let _ = execute!(out, PopKeyboardEnhancementFlags);
        }
        let _ = execute!(out, Print(MOUSE_OFF));
        let _ = execute!(
            out,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            ratatui::crossterm::cursor::Show
        );
        let _ = disable_raw_mode();
        let _ = out.flush();
    }
}

/// Puts a text on the clipboard of the terminal, wherever that runs (OSC 52).
pub(crate) fn copy(encoded: &str) -> io::Result<()> {
    let mut out = io::stdout();
    write!(out, "\u{1b}]52;c;{encoded}\u{7}")?;
    out.flush()
}

/// Stops the program until the shell wakes it.
pub(crate) fn suspend() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        if let Err(error) = kill_process(getpid(), Signal::TSTP) {
            tracing::warn!(%error, "the program could not be suspended");
        }
    }
}

const READ: u8 = 0;
const PAUSE: u8 = 1;
const PAUSED: u8 = 2;
const END: u8 = 3;

/// Keys, read by a thread of their own.
pub(crate) struct Keys {
    receiver: UnboundedReceiver<TermEvent>,
    state: Arc<AtomicU8>,
}

impl Keys {
    pub(crate) fn start() -> Self {
        let (sender, receiver) = unbounded_channel();
        let state = Arc::new(AtomicU8::new(READ));
        let own = Arc::clone(&state);
        std::thread::spawn(move || read(&sender, &own));
        Self { receiver, state }
    }

    /// The next one; none when the terminal is gone.
    pub(crate) async fn next(&mut self) -> Option<TermEvent> {
        self.receiver.recv().await
    }

    /// One that is there already.
    pub(crate) fn ready(&mut self) -> Option<TermEvent> {
        self.receiver.try_recv().ok()
    }

    /// Stops reading, so that another program gets the keys.
    pub(crate) async fn pause(&self) {
        self.state.store(PAUSE, Ordering::SeqCst);
        // One that has ended reads no more either.
        while self.state.load(Ordering::SeqCst) == PAUSE && !self.receiver.is_closed() {
            tokio::time::sleep(LOOK / 5).await;
        }
    }

    pub(crate) fn go_on(&self) {
        self.state.store(READ, Ordering::SeqCst);
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.state.store(END, Ordering::SeqCst);
    }
}

fn read(sender: &UnboundedSender<TermEvent>, state: &AtomicU8) {
    loop {
        match state.load(Ordering::SeqCst) {
            END => return,
            READ => {}
            _ => {
                state.store(PAUSED, Ordering::SeqCst);
                while state.load(Ordering::SeqCst) == PAUSED {
                    std::thread::sleep(LOOK);
                }
                continue;
            }
        }
        let came = match event::poll(LOOK) {
            Ok(true) => event::read(),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        // The terminal is gone, or nobody reads.
        if came.is_ok_and(|event| sender.send(event).is_ok()) {
            continue;
        }
        state.store(END, Ordering::SeqCst);
        return;
    }
}
