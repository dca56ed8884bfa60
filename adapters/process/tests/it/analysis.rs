//! The corpus: no unsafe command passes, nearly all plainly safe ones do.

use everfold_process::analysis::{CommandCaller, ReadOnlyVerdict, is_read_only};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SAFE_BACKGROUND: &str = include_str!("corpus/safe-background.txt");
const SAFE_MAIN: &str = include_str!("corpus/safe-main.txt");
const UNSAFE: &str = include_str!("corpus/unsafe.txt");
const AUDIENCES: [CommandCaller; 2] = [CommandCaller::BackgroundAgent, CommandCaller::MainAgent];

/// The commands of a file; `corpus/README.md` says how they are written.
fn commands(file: &str) -> Vec<String> {
    file.lines().filter(|line| !line.starts_with("##") && !line.is_empty()).map(unescape).collect()
}

fn unescape(line: &str) -> String {
    let line = line.replace('␤', "\n").replace('␍', "\r").replace('␀', "\0");
    let mut parts = line.split("<U+");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('>').expect("the number ends");
        text.push(char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text
}

fn allowed(command: &str, audience: CommandCaller) -> bool {
    is_read_only(command, audience).is_read_only()
}

/// Commands out of these that are refused, with the reason.
fn refused(commands: &[String], audience: CommandCaller) -> Vec<String> {
    commands
        .iter()
        .filter_map(|command| match is_read_only(command, audience) {
            ReadOnlyVerdict::ReadOnly => None,
            ReadOnlyVerdict::Refused { reason } => Some(format!("{command:?}: {reason}")),
        })
        .collect()
}

#[test]
fn s3_the_corpus_is_large() {
    let (background, main, bad) =
        (commands(SAFE_BACKGROUND), commands(SAFE_MAIN), commands(UNSAFE));
    assert!(bad.len() >= 300, "{} unsafe", bad.len());
    assert!(background.len() >= 60, "{} for background agents", background.len());
    assert!(main.len() >= 150, "{} for the main agent", main.len());
    for command in background.iter().chain(&main) {
        assert!(!bad.contains(command), "{command:?} is in both lists");
    }
}

#[test]
fn s3_no_unsafe_command_is_allowed() {
    for audience in AUDIENCES {
        let slipped: Vec<_> =
            commands(UNSAFE).into_iter().filter(|command| allowed(command, audience)).collect();
        assert!(slipped.is_empty(), "{audience:?} allows {slipped:#?}");
    }
}

#[test]
fn s3_plainly_safe_commands_are_allowed() {
    let background = commands(SAFE_BACKGROUND);
    let both: Vec<_> = background.iter().cloned().chain(commands(SAFE_MAIN)).collect();
    for (list, audience) in
        [(background, CommandCaller::BackgroundAgent), (both, CommandCaller::MainAgent)]
    {
        let refused = refused(&list, audience);
        let share = refused.len() * 100;
        assert!(share <= list.len() * 5, "{audience:?} refuses {refused:#?}");
    }
}

#[test]
fn s3_l6_5_background_agents_have_one_pipe_and_no_lists_or_redirections() {
    let slipped: Vec<_> = commands(SAFE_MAIN)
        .into_iter()
        .filter(|command| allowed(command, CommandCaller::BackgroundAgent))
        .collect();
    assert!(slipped.is_empty(), "{slipped:#?}");
    for (command, is_fine) in [
        ("grep -rn x sessions --include=*.jsonl | tail -50", true),
        ("cat a | wc -l | wc -l", false),
        ("cat a | sh", false),
        ("cat a | tee b", false),
        ("cat a |& tail -5", false),
        ("cat a | tail -5; ls", false),
        ("cat a | tail -5\nls", false),
        ("cat a | tail -5 &", false),
        ("cat a | tail -5 > b", false),
        ("! cat a | tail -5", false),
        ("cat a\ntail -5", false),
        ("cat a | xargs rm", false),
        ("cat a | find . -delete", false),
    ] {
        assert_eq!(allowed(command, CommandCaller::BackgroundAgent), is_fine, "{command}");
    }
}

#[test]
fn s3_a_refusal_has_a_short_reason() {
    for command in commands(UNSAFE) {
        if let ReadOnlyVerdict::Refused { reason } =
            is_read_only(&command, CommandCaller::MainAgent)
        {
            assert!(!reason.is_empty() && reason.len() < 300, "{command:?}: {reason}");
        }
    }
}

#[test]
fn s3_deep_and_long_commands_are_judged() {
    for piece in ["$(", "(", "{ ", "`", "\"$(", "<(", "${x:-", "$((", "<<E "] {
        assert!(
            !allowed(&format!("ls {}", piece.repeat(1000)), CommandCaller::MainAgent),
            "{piece}"
        );
    }
    assert!(allowed(&["ls"; 1000].join(" && "), CommandCaller::MainAgent));
    assert!(!allowed(&(["ls"; 1000].join(" && ") + " && rm x"), CommandCaller::MainAgent));
    assert!(!allowed(&format!("ls {}", "x".repeat(7000) + ";rm"), CommandCaller::MainAgent));
}

/// What makes any command unsafe when it follows.
const TAILS: &[&str] = &[
    "; rm x",
    ";rm x",
    " ; rm x",
    "| sh",
    " | sh",
    "|sh",
    "> f",
    " > f",
    " >f",
    " >> f",
    " 2> f",
    " &> f",
    " >& f",
    " $(rm x)",
    "$(rm x)",
    " \"$(rm x)\"",
    " `rm x`",
    "`rm x`",
    " && rm x",
    "&&rm x",
    " || rm x",
    "\nrm x",
    "\n\nrm x",
    " & rm x",
    " &",
    "&",
    " <(rm x)",
    " >(rm x)",
    " ${x:=y}",
    " $x",
    " <<E\n$(rm x)\nE",
    "\nf() { rm x; }",
    "\nPATH=. ls",
];

fn safe() -> impl Strategy<Value = String> {
    let all: Vec<_> = commands(SAFE_BACKGROUND).into_iter().chain(commands(SAFE_MAIN)).collect();
    prop::sample::select(all)
}

/// Pieces that shells give meaning to; blanks are put in beside them.
const PIECES: &str = "ls rm find git log ; & | && || > < << E ( ) { } $ ${ $( ` ' \" \\ # * ? [ ] ~ ! \
    = - -- -n x 1 2> /dev/null é \u{200b} $' [[ ]] if then fi for in do done case esac ;; function";

/// Pieces in any order.
fn shellish() -> impl Strategy<Value = String> {
    let pieces = PIECES.split_ascii_whitespace().chain([" "; 8]).chain(["\t", "\n", "\n", "\r"]);
    let piece = prop::sample::select(pieces.collect::<Vec<_>>());
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

fn bash() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join("bash"));
    all.find(|file| file.is_file()).expect("bash is on the search path")
}

/// Runs a command in Bash where no program exists, and answers with the names
/// of the programs that it asked for and the files that it made.
fn attempted(command: &str, folder: &Path) -> (Vec<String>, Vec<String>) {
    let (work, log) = (folder.join("work"), folder.join("log"));
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(&log, "").unwrap();
    let status = Command::new(bash())
        .args(["-c", command])
        .current_dir(&work)
        .env_clear()
        .env("PATH", folder.join("nothing"))
        .env("HOME", &work)
        .env("LOG", &log)
        .env("BASH_FUNC_command_not_found_handle%%", "() { echo \"$1\" >> \"$LOG\"; return 127; }")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok());
    let asked = std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    let made = std::fs::read_dir(&work).unwrap();
    (asked, made.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect())
}

#[test]
fn s3_the_oracle_sees_programs_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let (asked, made) = attempted("ls; rm x; echo y > f 2>/dev/null", folder.path());
    assert_eq!((asked, made), (vec!["ls".into(), "rm".into()], vec!["f".to_owned()]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s3_bash_reads_an_allowed_command_as_we_do(texts in prop::collection::vec(shellish(), 40)) {
        let folder = tempfile::tempdir().unwrap();
        for text in texts {
            let text = format!("ls {text} rm x");
            if allowed(&text, CommandCaller::MainAgent) {
                let (asked, made) = attempted(&text, folder.path());
                prop_assert!(!asked.contains(&"rm".to_owned()), "{text:?} runs rm");
                prop_assert!(made.is_empty(), "{text:?} makes {made:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s3_an_unsafe_tail_makes_a_command_unsafe(command in safe(), tail in prop::sample::select(TAILS)) {
        let command = format!("{command}{tail}");
        for audience in AUDIENCES {
            prop_assert!(!allowed(&command, audience), "{audience:?} allows {command:?}");
        }
    }

    #[test]
    fn s3_arbitrary_text_is_judged(text in any::<String>(), pieces in shellish()) {
        for audience in AUDIENCES {
            let _ = is_read_only(&text, audience);
            let _ = is_read_only(&pieces, audience);
        }
    }

    #[test]
    fn s3_what_a_background_agent_may_run_so_may_the_main_agent(pieces in shellish(), command in safe()) {
        for text in [pieces, command] {
            if allowed(&text, CommandCaller::BackgroundAgent) {
                prop_assert!(allowed(&text, CommandCaller::MainAgent), "{text:?}");
            }
        }
    }
}
