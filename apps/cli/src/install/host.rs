//! Which files of which program get what. What each of them can do is in
//! docs/guide, a page for each.

use super::piece::{Hook, Piece};
use super::toml::Place;
use clap::ValueEnum;
use everfold_agent::hosts::HostKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of our server and of all that is ours.
const NAME: &str = "everfold";
/// What a model is told where hooks do not bring memories in.
const POINTER: &str = include_str!("pointer.md");
/// What opencode loads in the place of hooks.
const PLUGIN: &str = include_str!("opencode.js");
/// What pi does.
const EXTENSION: &str = include_str!("pi.js");
/// How both call us.
const CALL: &str = include_str!("call.js");
/// Tools of Claude Code that read or write files, and so memories.
const CLAUDE_TOOLS: &str = "Read|Edit|MultiEdit|Write";
/// The same of Gemini CLI.
const GEMINI_TOOLS: &str = "read_file|write_file|replace";
/// How long a hook may take before its host goes on without it, in seconds. It
/// takes a few milliseconds; the rest is for a machine that is busy.
const TIMEOUT_S: u64 = 10;

/// A program that Everfold can work beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// pi
    Pi,
}

/// One file, and what goes into it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) pieces: Vec<Piece>,
}

/// What the places and commands follow from.
pub(super) struct InstallEnv<'a> {
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) user_home: &'a Path,
    /// Our own program.
    pub(super) program: &'a Path,
    /// Our home, where it is not the usual one.
    pub(super) home: Option<&'a Path>,
}

impl Host {
    /// The one of a kind.
    pub(super) fn of(kind: HostKind) -> Self {
        match kind {
            HostKind::Claude => Self::Claude,
            HostKind::Codex => Self::Codex,
            HostKind::Gemini => Self::Gemini,
            HostKind::Opencode => Self::Opencode,
            HostKind::Pi => Self::Pi,
        }
    }

    /// Its name, as it is typed.
    pub(crate) fn as_str(self) -> &'static str {
        let kind = match self {
            Self::Claude => HostKind::Claude,
            Self::Codex => HostKind::Codex,
            Self::Gemini => HostKind::Gemini,
            Self::Opencode => HostKind::Opencode,
            Self::Pi => HostKind::Pi,
        };
        kind.as_str()
    }

    /// Where it keeps its files.
    pub(super) fn dir(self, env: &InstallEnv<'_>) -> PathBuf {
        let named = |name: &str| env.variables.get(name).filter(|path| !path.is_empty());
        match self {
            Self::Claude => named("CLAUDE_CONFIG_DIR")
                .map_or_else(|| env.user_home.join(".claude"), PathBuf::from),
            Self::Codex => {
                named("CODEX_HOME").map_or_else(|| env.user_home.join(".codex"), PathBuf::from)
            }
            Self::Gemini => env.user_home.join(".gemini"),
            Self::Opencode => named("XDG_CONFIG_HOME")
                .map_or_else(|| env.user_home.join(".config"), PathBuf::from)
                .join("opencode"),
            Self::Pi => named("PI_CODING_AGENT_DIR")
                .map_or_else(|| env.user_home.join(".pi/agent"), PathBuf::from),
        }
    }

    /// What the person has to do in it before all of it works.
    pub(super) fn next_step(self) -> Option<&'static str> {
        matches!(self, Self::Codex).then_some(
            "Codex runs new hooks only once you trust them: start it, and trust them in /hooks",
        )
    }

    /// The files and what goes into them.
    pub(super) fn parts(self, env: &InstallEnv<'_>) -> Vec<Part> {
        let dir = self.dir(env);
        match self {
            Self::Claude => claude(env, &dir),
            Self::Codex => codex(env, &dir),
            Self::Gemini => gemini(env, &dir),
            Self::Opencode => opencode(env, &dir),
            Self::Pi => vec![Part {
                path: dir.join("extensions/everfold.ts"),
                pieces: vec![Piece::Whole { text: env.script(EXTENSION, HostKind::Pi) }],
            }],
        }
    }
}

fn claude(env: &InstallEnv<'_>, dir: &Path) -> Vec<Part> {
    let hook = |event, matcher, timeout| env.hook(event, matcher, timeout);
    let hooks = vec![
        hook("SessionStart", None, Some(TIMEOUT_S)),
        hook("UserPromptSubmit", None, Some(TIMEOUT_S)),
        hook("PostToolUse", Some(CLAUDE_TOOLS), Some(TIMEOUT_S)),
        hook("PostToolUseFailure", None, Some(TIMEOUT_S)),
        hook("PreCompact", None, Some(TIMEOUT_S)),
        hook("PostCompact", None, Some(TIMEOUT_S)),
        hook("SubagentStop", None, Some(TIMEOUT_S)),
        hook("Stop", None, Some(TIMEOUT_S)),
        // The host gives all hooks of this event one and a half seconds.
        hook("SessionEnd", None, None),
    ];
    // The file with the servers stands beside the folder, or in the one that
    // the person chose.
    let state = if env.variables.contains_key("CLAUDE_CONFIG_DIR") {
        dir.join(".claude.json")
    } else {
        env.user_home.join(".claude.json")
    };
    let server = with_home(
        json!({"type": "stdio", "command": env.program, "args": ["mcp"]}),
        "env",
        env.home,
    );
    let server = Piece::Member { path: vec!["mcpServers", NAME], value: server };
    vec![
        Part { path: dir.join("settings.json"), pieces: hooks },
        Part { path: state, pieces: vec![server] },
    ]
}

fn codex(env: &InstallEnv<'_>, dir: &Path) -> Vec<Part> {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "SubagentStop",
        "Stop",
    ];
    let hooks = events.map(|event| env.hook(event, None, Some(TIMEOUT_S)));
    let server = with_home(json!({"command": env.program, "args": ["mcp"]}), "env", env.home);
    let value = server.as_object().cloned().unwrap_or_default();
    let place = Place { around: "mcp_servers", name: NAME };
    vec![
        Part { path: dir.join("hooks.json"), pieces: hooks.into() },
        Part { path: dir.join("config.toml"), pieces: vec![Piece::Table { place, value }] },
        Part { path: dir.join("AGENTS.md"), pieces: vec![Piece::Section { text: POINTER }] },
    ]
}

fn gemini(env: &InstallEnv<'_>, dir: &Path) -> Vec<Part> {
    const MILLISECONDS: u64 = 1_000;
    let hook = |event, matcher| env.hook(event, matcher, Some(TIMEOUT_S * MILLISECONDS));
    let server = with_home(json!({"command": env.program, "args": ["mcp"]}), "env", env.home);
    let pieces = vec![
        hook("SessionStart", None),
        hook("BeforeAgent", None),
        hook("AfterTool", Some(GEMINI_TOOLS)),
        hook("PreCompress", None),
        hook("AfterAgent", None),
        hook("SessionEnd", None),
        Piece::Member { path: vec!["mcpServers", NAME], value: server },
    ];
    vec![Part { path: dir.join("settings.json"), pieces }]
}

fn opencode(env: &InstallEnv<'_>, dir: &Path) -> Vec<Part> {
    let with_comments = dir.join("opencode.jsonc");
    let path = if with_comments.exists() { with_comments } else { dir.join("opencode.json") };
    let server = with_home(
        json!({"type": "local", "command": [env.program, "mcp"], "enabled": true}),
        "environment",
        env.home,
    );
    let server = Piece::Member { path: vec!["mcp", NAME], value: server };
    let plugin = env.script(PLUGIN, HostKind::Opencode);
    vec![
        Part { path, pieces: vec![server] },
        Part { path: dir.join("plugins/everfold.js"), pieces: vec![Piece::Whole { text: plugin }] },
        Part { path: dir.join("AGENTS.md"), pieces: vec![Piece::Section { text: POINTER }] },
    ]
}

impl InstallEnv<'_> {
    /// A script that a host loads, which knows whom to call.
    fn script(&self, text: &str, host: HostKind) -> String {
        let call = json!([self.program, self.home, host.as_str()]).to_string();
        text.replace("__HEAD__", CALL.replace("__CALL__", &call).trim_end())
    }

    fn hook(
        &self,
        event: &'static str,
        matcher: Option<&'static str>,
        timeout: Option<u64>,
    ) -> Piece {
        let home = self.home.map(|home| format!(" --home {}", quoted(home)));
        let program = format!("{} hook{}", quoted(self.program), home.unwrap_or_default());
        Piece::Hook(Hook { event, matcher, program, timeout })
    }
}

/// A server that is told of our home, where it is not the usual one.
fn with_home(mut server: Value, key: &str, home: Option<&Path>) -> Value {
    if let (Some(home), Some(server)) = (home, server.as_object_mut()) {
        server.insert(key.to_owned(), json!({"EVERFOLD_HOME": home}));
    }
    server
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%\\".contains(c);
    if text.chars().all(plain) {
        return text.into_owned();
    }
    if cfg!(windows) { format!("\"{text}\"") } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_paths_with_blanks_are_one_word() {
        assert_eq!(quoted(Path::new("/usr/bin/everfold")), "/usr/bin/everfold");
        #[cfg(unix)]
        assert_eq!(quoted(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }

    #[test]
    fn x2_the_plugin_is_the_same() {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code");
        let text = std::fs::read_to_string(plugin.join("hooks/hooks.json")).unwrap();
        let plugin: Value = serde_json::from_str(&text).unwrap();
        let env = InstallEnv {
            variables: &BTreeMap::new(),
            user_home: Path::new("/h"),
            program: Path::new("everfold"),
            home: None,
        };
        let mut settings = "{}".to_owned();
        for piece in claude(&env, Path::new("/c")).remove(0).pieces {
            settings = piece.put(&settings).unwrap();
        }
        let command = r#"\"${CLAUDE_PLUGIN_ROOT}/bin/everfold-hook\""#;
        let ours: Value =
            serde_json::from_str(&settings.replace("everfold hook", command)).unwrap();
        assert_eq!(ours, plugin);
    }

    #[test]
    fn x2_each_host_has_its_own_places() {
        let variables = BTreeMap::from([("CODEX_HOME".to_owned(), "/c".to_owned())]);
        let env = InstallEnv {
            variables: &variables,
            user_home: Path::new("/h"),
            program: Path::new("/bin/everfold"),
            home: None,
        };
        let places = |host: Host| -> Vec<String> {
            let parts = host.parts(&env).into_iter();
            parts.map(|part| part.path.display().to_string()).collect()
        };
        assert_eq!(places(Host::Claude), ["/h/.claude/settings.json", "/h/.claude.json"]);
        assert_eq!(places(Host::Codex), ["/c/hooks.json", "/c/config.toml", "/c/AGENTS.md"]);
        assert_eq!(places(Host::Gemini), ["/h/.gemini/settings.json"]);
        assert_eq!(
            places(Host::Opencode),
            [
                "/h/.config/opencode/opencode.json",
                "/h/.config/opencode/plugins/everfold.js",
                "/h/.config/opencode/AGENTS.md"
            ]
        );
    }
}
