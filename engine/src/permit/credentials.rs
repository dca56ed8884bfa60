//! Places where credentials are kept (S10).
//!
//! What is here is never read by agents that nobody watches, and asked about
//! for all others, unless a rule of the person names it. Paths come resolved;
//! names are compared without regard to case, because some file systems have
//! none, and `*` in a path is what a command does not tell.

use std::path::{Component, Path, PathBuf};

/// Directories by their last names, wherever they are: all in them counts.
const DIRECTORIES: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/doctl",
    ".config/heroku",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".config/containers",
    ".config/github-copilot",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/bravesoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".mozilla",
    ".librewolf",
    ".thunderbird",
    ".var/app/org.mozilla.firefox",
    "snap/firefox",
    "snap/chromium",
    "library/keychains",
    "library/cookies",
    "library/application support/google/chrome",
    "library/application support/firefox",
    "library/application support/bravesoftware",
    "library/application support/microsoft edge",
    "library/application support/chromium",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".electrum",
    ".bitcoin",
    ".ethereum",
    ".minikube",
    ".oci",
    ".step",
    ".terraform.d",
    ".chef",
    ".docker/contexts",
    ".ansible/vault",
    "etc/ssl/private",
    "etc/sudoers.d",
    "etc/letsencrypt",
    "run/secrets",
];

/// Files by their last names, wherever they are.
const FILES: &[&str] = &[
    ".docker/config.json",
    ".dockercfg",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".gemrc",
    ".gem/credentials",
    ".bundle/config",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/nuget.config",
    ".config/pip/pip.conf",
    ".config/configstore/firebase-tools.json",
    ".config/git/credentials",
    ".config/fish/fish_variables",
    ".git-credentials",
    ".terraformrc",
    ".vault-token",
    ".boto",
    ".s3cfg",
    ".rclone.conf",
    ".wgetrc",
    ".curlrc",
    ".htpasswd",
    ".smbcredentials",
    ".msmtprc",
    ".fetchmailrc",
    ".databrickscfg",
    ".snowsql/config",
    ".kaggle/kaggle.json",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".dbt/profiles.yml",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".gemini/.env",
    ".local/share/opencode/auth.json",
    ".config/opencode/auth.json",
    ".aider.conf.yml",
    "credentials.json",
    ".streamlit/secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "service-account.json",
    "service_account.json",
    "serviceaccount.json",
    "etc/shadow",
    "etc/shadow-",
    "etc/gshadow",
    "etc/gshadow-",
    "etc/sudoers",
    "etc/krb5.keytab",
    "docker.sock",
];

/// Endings of files that hold keys.
const ENDINGS: &[&str] = &[
    ".ppk",
    ".jks",
    ".keystore",
    ".kdbx",
    ".kdb",
    ".p12",
    ".pfx",
    ".keychain",
    ".keytab",
    ".ovpn",
    ".tfstate",
    ".tfstate.backup",
    ".auto.tfvars",
    ".agekey",
];

/// Settings of other agents below the person's home, which have keys in them.
const AGENT_FILES: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".cursor/mcp.json",
    ".config/goose/config.yaml",
    ".continue/config.json",
    ".continue/config.yaml",
];

/// Names of private keys.
const KEY_NAMES: &[&str] =
    &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "id_xmss"];

/// Endings of `.env` files that are for everybody to see.
const ENV_EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "tmpl", "schema"];

/// What of a process shows its variables and its memory.
const PROCESS_FILES: &[&str] = &["environ", "mem", "fd", "root", "cwd", "auxv", "maps"];

/// Names below our own home that hold settings and what a person trusts.
const OWN_FILES: &[&str] =
    &["settings", "trust", "credentials", "auth", "managed", "tokens", ".env"];

/// Where credentials are looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Homes<'a> {
    pub(super) person: Option<&'a Path>,
    pub(super) own: Option<&'a Path>,
}

/// Whether credentials are kept at a path.
pub(super) fn is_credential(path: &Path, homes: Homes<'_>) -> bool {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    DIRECTORIES.iter().any(|known| has_run(&names, known))
        || FILES.iter().any(|known| ends_with(&names, known))
        || names.last().is_some_and(|name| is_secret_name(name))
        || is_process_file(&names)
        || is_own(path, homes.own)
        || is_history(path, homes.person)
        || is_of_agent(path, homes.person)
}

/// Places of credentials that are known by name, for a sandbox to hide.
pub(super) fn known_places(homes: Homes<'_>) -> Vec<PathBuf> {
    let rooted =
        |known: &&&str| ["etc/", "run/", "docker.sock"].iter().any(|s| known.starts_with(s));
    let system = DIRECTORIES.iter().chain(FILES).filter(rooted);
    let mut places: Vec<PathBuf> = system.map(|known| Path::new("/").join(known)).collect();
    if let Some(home) = homes.person {
        let own = DIRECTORIES.iter().chain(FILES).filter(|known| !rooted(known));
        places.extend(own.map(|known| home.join(known)));
        // As they are written where case counts.
        for known in [
            ".config/BraveSoftware",
            "Library/Keychains",
            "Library/Cookies",
            "Library/Application Support/Google/Chrome",
            "Library/Application Support/Firefox",
            ".env",
            ".bash_history",
            ".zsh_history",
            ".psql_history",
            ".python_history",
            ".mysql_history",
            ".node_repl_history",
        ] {
            places.push(home.join(known));
        }
    }
    if let Some(own) = homes.own {
        places.extend(
            ["settings.json", "settings.local.json", "trust.json", "trust"]
                .map(|name| own.join(name)),
        );
    }
    places
}

/// Whether some names stand one after another in a path.
fn has_run(names: &[&str], known: &str) -> bool {
    let wanted: Vec<&str> = known.split('/').collect();
    names.windows(wanted.len()).any(|window| same(window, &wanted))
}

fn ends_with(names: &[&str], known: &str) -> bool {
    let wanted: Vec<&str> = known.split('/').collect();
    let skip = names.len().checked_sub(wanted.len());
    skip.and_then(|skip| names.get(skip..)).is_some_and(|tail| same(tail, &wanted))
}

fn same(names: &[&str], wanted: &[&str]) -> bool {
    names.iter().zip(wanted).all(|(name, wanted)| could_be(name, wanted))
}

/// Whether a name is another one. Where some of it is not known, whether it
/// could be; nothing known is no hint.
fn could_be(name: &str, wanted: &str) -> bool {
    if name == wanted {
        return true;
    }
    let known = name.chars().filter(|c| !matches!(c, '*' | '?')).count();
    known >= 2
        && name.contains('*')
        && globset::Glob::new(name).is_ok_and(|glob| glob.compile_matcher().is_match(wanted))
}

fn is_secret_name(name: &str) -> bool {
    let key = KEY_NAMES.iter().any(|known| could_be(name, known))
        || ENDINGS.iter().any(|ending| name.ends_with(ending));
    let pem = match name.rsplit_once('.') {
        Some((stem, "pem")) => stem.contains("key") || stem.contains("priv"),
        Some((stem, "key")) => !stem.contains("pub"),
        _ => false,
    };
    key || pem || is_env(name)
}

/// `.env` and what begins with it, but for examples.
fn is_env(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else {
        return name.contains('*') && could_be(name, ".env");
    };
    let own = rest.is_empty() || rest.starts_with(['.', '-', '_', '~', '*']) || rest == "rc";
    let mut words = rest.split(['.', '-', '_']);
    own && !words.any(|word| ENV_EXAMPLES.contains(&word))
}

/// `/proc/1/environ` and its kin.
fn is_process_file(names: &[&str]) -> bool {
    match names {
        ["proc", process, rest @ ..] => {
            let of_process = matches!(*process, "self" | "thread-self")
                || process.chars().all(|c| c.is_ascii_digit() || c == '*');
            of_process && rest.iter().any(|name| PROCESS_FILES.contains(name))
                || matches!(*process, "kcore" | "kmem")
        }
        ["dev", "mem" | "kmem" | "port"] => true,
        _ => false,
    }
}

fn is_own(path: &Path, own: Option<&Path>) -> bool {
    let Some(inside) = own.and_then(|own| path.strip_prefix(own).ok()) else { return false };
    let Some(first) = inside.components().next() else { return false };
    let first = first.as_os_str().to_string_lossy().to_lowercase();
    OWN_FILES.iter().any(|known| first.starts_with(known))
}

/// Settings of another agent, which are the person's own.
fn is_of_agent(path: &Path, home: Option<&Path>) -> bool {
    let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) else { return false };
    let name = inside.to_string_lossy().to_lowercase();
    AGENT_FILES.contains(&name.as_str())
}

/// What was typed into shells and clients of databases.
fn is_history(path: &Path, home: Option<&Path>) -> bool {
    let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) else { return false };
    let name = inside.to_string_lossy().to_lowercase();
    name.starts_with('.') && name.ends_with("_history") && !name.contains('/')
}

#[cfg(test)]
mod tests;
