use super::*;

fn secret(path: &str) -> bool {
    let homes =
        Homes { person: Some(Path::new("/home/ada")), own: Some(Path::new("/home/ada/.everfold")) };
    is_credential(Path::new(path), homes)
}

#[test]
fn s10_credential_places_are_known() {
    for path in [
        "/home/ada/.ssh/id_rsa",
        "/home/ada/.ssh",
        "/srv/.ssh/config",
        "/home/ada/.SSH/id_rsa",
        "/home/ada/.aws/credentials",
        "/home/ada/.gnupg/private-keys-v1.d/x",
        "/home/ada/.config/gcloud/credentials.db",
        "/home/ada/.kube/config",
        "/home/ada/.docker/config.json",
        "/home/ada/.mozilla/firefox/x/logins.json",
        "/home/ada/.config/google-chrome/Default/Cookies",
        "/home/ada/Library/Keychains/login.keychain-db",
        "/home/ada/.local/share/keyrings/login.keyring",
        "/repo/.env",
        "/repo/.env.local",
        "/repo/.env.production",
        "/repo/.envrc",
        "/repo/sub/.ENV",
        "/home/ada/.netrc",
        "/home/ada/.pgpass",
        "/repo/.npmrc",
        "/home/ada/.pypirc",
        "/home/ada/.everfold/settings.json",
        "/home/ada/.everfold/trust/a.json",
        "/home/ada/.claude/.credentials.json",
        "/home/ada/.git-credentials",
        "/home/ada/.claude/settings.json",
        "/repo/service-account.json",
        "/repo/infra/terraform.tfstate",
        "/repo/deploy/id_ed25519",
        "/repo/certs/server-key.pem",
        "/repo/app.keystore",
        "/etc/shadow",
        "/proc/self/environ",
        "/proc/1234/environ",
        "/home/ada/.bash_history",
        "/home/*/.ssh/id_rsa",
        "/home/ada/.ss*/id_rsa",
        "/repo/.en*",
        "/repo/prod.env",
        "/repo/terraform.tfvars",
        "/repo/.secrets",
        "/repo/kubeconfig",
        "/repo/client_secret_1.apps.json",
        "/home/ada/.config/Slack/Cookies",
        "/home/ada/.config/netlify/config.json",
        "/home/ada/.local/share/fish/fish_history",
        "/home/ada/.vault_pass.txt",
        "/etc/ssh/ssh_host_rsa_key",
        "/etc/wireguard/wg0.conf",
    ] {
        assert!(secret(path), "{path}");
    }
}

#[test]
fn s10_what_is_beside_them_is_not() {
    for path in [
        "/repo/.env.example",
        "/repo/.env.sample",
        "/repo/.env.template",
        "/repo/.env.local.example",
        "/repo/.environment",
        "/repo/.env/lib/python3/site.py",
        "/repo/src/ssh.rs",
        "/repo/id_rsa.pub",
        "/repo/README.md",
        "/repo/cert.pem",
        "/repo/src/environ.rs",
        "/repo/.claude/settings.json",
        "/repo/main.tf",
        "/repo/src/secrets.rs",
        "/home/ada/.everfold/projects/x/memory/a.md",
        "/home/ada/.everfold/CLAUDE.md",
        "/home/ada/.docker/daemon.json",
        "/proc/cpuinfo",
        "/repo/*",
        "/repo/src/*.rs",
        "/repo/history",
        "/repo/example.env",
        "/repo/x.tfvars.example",
        "/repo/src/kubeconfig.rs",
        "/repo/src/secrets/mod.rs",
        "/home/ada/.config/nvim/init.lua",
    ] {
        assert!(!secret(path), "{path}");
    }
}
