//! Programs that hand out credentials without a word that names their file
//! (S10): each stands for the place that it takes them from.

use super::base_name;
use everfold_kernel::ports::CallWord;

/// A program, words of which one has to be there, and the place.
type Row = (&'static str, &'static [&'static str], &'static str);

const TABLE: &[Row] = &[
    ("gh", &["token", "-t", "--show-token"], "~/.config/gh/hosts.yml"),
    ("glab", &["token", "-t", "--show-token"], "~/.config/glab-cli/config.yml"),
    (
        "aws",
        &[
            "configure",
            "export-credentials",
            "get-session-token",
            "get-login-password",
            "get-login",
            "get-authorization-token",
            "get-secret-value",
            "assume-role",
        ],
        "~/.aws/credentials",
    ),
    (
        "gcloud",
        &[
            "print-access-token",
            "print-identity-token",
            "print-refresh-token",
            "config-helper",
            "access",
        ],
        "~/.config/gcloud/credentials.db",
    ),
    ("az", &["get-access-token", "secret", "list-keys"], "~/.azure/accessTokens.json"),
    ("kubectl", &["--raw", "secret", "secrets"], "~/.kube/config"),
    ("oc", &["-t", "--raw", "secret", "secrets"], "~/.kube/config"),
    ("git", &["credential", "credential-store", "credential-cache"], "~/.git-credentials"),
    ("doctl", &["auth", "registry"], "~/.config/doctl/config.yaml"),
    ("heroku", &["auth:token", "config", "config:get"], "~/.netrc"),
    ("npm", &["token", "_authToken", "ls", "list"], "~/.npmrc"),
    ("vault", &["kv", "read", "token", "print"], "~/.vault-token"),
    ("op", &["read", "item", "document", "signin"], "~/.config/op/config"),
    ("bw", &["get", "list", "export", "unlock"], "~/.config/bitwarden/data.json"),
    (
        "gpg",
        &["--export-secret-keys", "--export-secret-subkeys", "-d", "--decrypt"],
        "~/.gnupg/secring.gpg",
    ),
    (
        "gpg2",
        &["--export-secret-keys", "--export-secret-subkeys", "-d", "--decrypt"],
        "~/.gnupg/secring.gpg",
    ),
    (
        "security",
        &["find-generic-password", "find-internet-password", "dump-keychain", "export"],
        "~/Library/Keychains",
    ),
    ("secret-tool", &["lookup", "search"], "~/.local/share/keyrings"),
    ("pass", &[], "~/.password-store"),
    ("gopass", &[], "~/.password-store"),
    ("lpass", &[], "~/.lastpass"),
    ("sops", &["-d", "--decrypt", "decrypt", "exec-env"], "~/.config/sops/age/keys.txt"),
    ("compgen", &["-e", "-v"], super::touch::ENVIRONMENT),
    ("local", &["-p"], super::touch::ENVIRONMENT),
];

/// Settings of git that may hold a key.
const GIT_KEYS: &[&str] = &["credential", "extraheader", "token", "password", "secret"];

/// The place of the credentials that a program hands out.
pub(super) fn place_of(words: &[CallWord]) -> Option<&'static str> {
    let (program, args) = words.split_first()?;
    let name = base_name(&program.text);
    if name.starts_with("docker-credential-") || name.starts_with("git-credential") {
        return Some("~/.git-credentials");
    }
    let is = |wanted: &str| {
        args.iter().any(|word| {
            word.text == wanted || word.text.ends_with(wanted) && wanted.starts_with('_')
        })
    };
    if name == "git" && is("config") && reads_git_keys(args) {
        return Some("~/.git-credentials");
    }
    // Only what it lists of its settings, not of packages.
    if name == "npm"
        && !is("token")
        && !args.iter().any(|word| matches!(word.text.as_str(), "config" | "c"))
    {
        return None;
    }
    let row = TABLE.iter().find(|(known, ..)| *known == name)?;
    let (_, wanted, place) = row;
    (wanted.is_empty() || wanted.iter().any(|word| is(word))).then_some(*place)
}

fn reads_git_keys(args: &[CallWord]) -> bool {
    args.iter().any(|word| {
        let text = word.text.to_lowercase();
        matches!(text.as_str(), "-l" | "--list" | "list" | "--get-regexp")
            || GIT_KEYS.iter().any(|key| text.contains(key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: &str) -> Option<&'static str> {
        place_of(&line.split(' ').map(CallWord::exact).collect::<Vec<_>>())
    }

    #[test]
    fn s10_programs_that_hand_out_credentials_are_known() {
        for line in [
            "gh auth token",
            "aws configure get aws_secret_access_key",
            "git config -l",
            "gcloud auth print-access-token",
            "kubectl get secret x -o yaml",
            "pass show x",
            "git credential fill",
            "npm config get //registry/:_authToken",
            "gpg --export-secret-keys",
            "git config --get credential.helper",
        ] {
            assert!(place(line).is_some(), "{line}");
        }
        for line in [
            "gh pr list",
            "aws s3 ls",
            "git config user.name",
            "npm ls",
            "npm run build",
            "kubectl get pods",
            "git status",
            "gcloud compute instances list",
            "npm test",
        ] {
            assert!(place(line).is_none(), "{line}");
        }
    }
}
