//! How a fleet lets us in (F2, F5): TLS, certificates, keys, credentials and
//! permissions, against real servers on loopback; and what is said where it does
//! not. The certificates are made by `openssl`.

use crate::desk::{Desk, Ran};
use crate::fleet::Server;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Certificates of two authorities.
struct Certificates {
    dir: tempfile::TempDir,
}

impl Certificates {
    fn make() -> Option<Self> {
        let own = Self { dir: tempfile::tempdir().unwrap() };
        if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
            println!("skipped: there is no openssl");
            return None;
        }
        std::fs::write(own.path("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
        std::fs::write(own.path("elsewhere"), "subjectAltName=DNS:elsewhere.example\n").unwrap();
        for authority in ["ca", "other"] {
            own.openssl(&format!(
                "req -x509 {KEY} -keyout {authority}.key -out {authority}.pem -days 2 -subj \
                 /CN={authority}"
            ));
        }
        for (leaf, authority, days, names) in [
            ("server", "ca", "2", "names"),
            ("expired", "ca", "-1", "names"),
            ("misnamed", "ca", "2", "elsewhere"),
            ("client", "ca", "2", "names"),
            ("stranger", "other", "2", "names"),
        ] {
            own.openssl(&format!("req {KEY} -keyout {leaf}.key -out {leaf}.csr -subj /CN={leaf}"));
            own.openssl(&format!(
                "x509 -req -in {leaf}.csr -CA {authority}.pem -CAkey {authority}.key \
                 -CAcreateserial -days {days} -extfile {names} -out {leaf}.pem"
            ));
        }
        Some(own)
    }

    fn openssl(&self, args: &str) {
        let mut command = Command::new("openssl");
        let done = command.args(args.split_whitespace()).current_dir(self.dir.path()).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A server's block of TLS.
    fn block(&self, leaf: &str, more: &str) -> String {
        let (cert, key) = (self.path(&format!("{leaf}.pem")), self.path(&format!("{leaf}.key")));
        let (cert, key) = (cert.display(), key.display());
        format!("tls {{ cert_file: \"{cert}\", key_file: \"{key}\"\n {more} }}\n")
    }

    fn ca(&self) -> Value {
        json!({"tls_ca": self.path("ca.pem")})
    }
}

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// Somebody whose settings say so of the fleet.
fn member(fleet: &Value) -> Desk {
    let desk = Desk::offline();
    settle(&desk, fleet);
    desk
}

fn settle(desk: &Desk, fleet: &Value) {
    let home = desk.files.home().join(".everfold");
    std::fs::create_dir_all(&home).unwrap();
    let limits = json!({"fleet": {"ack_s": 5, "connect_s": 5}});
    let settings = json!({"everfold": {"fleet": fleet, "limits": limits}});
    std::fs::write(home.join("settings.json"), settings.to_string()).unwrap();
}

fn init(desk: &Desk, address: &str) -> Ran {
    desk.run(&["fleet", "init", address, "--name", "crew", "--replicas", "1"])
}

fn join(desk: &Desk, address: &str) -> Ran {
    desk.run(&["fleet", "join", address, "--name", "crew"])
}

/// That joining, looking, sharing and the doctor work.
#[track_caller]
fn works(desk: &Desk, address: &str) {
    join(desk, address).ok();
    let args = ["memory", "add", "--name", "Deploy day", "--type", "project", "--scope", "team"];
    let args = [&args[..], &["--description", "when we ship"]].concat();
    let added = desk.run_with(&args, "We ship on Thursdays.").ok();
    assert!(!added.err.contains("not pushed"), "{}", added.err);
    let status = desk.run(&["fleet", "status"]).ok();
    assert!(status.out.contains("no session is online"), "{status:?}");
    assert!(!status.out.contains("not pushed"), "{status:?}");
    // One server alone is no cluster; all else is as it should be.
    let doctor = desk.run(&["fleet", "doctor"]).failed(1);
    let bad: Vec<&str> = doctor.out.lines().filter(|line| line.starts_with("FAIL")).collect();
    assert!(bad.iter().all(|line| line.contains("fewer than 3 replicas")), "{}", doctor.out);
    assert!(doctor.out.contains("writing and reading work"), "{}", doctor.out);
}

/// That it is refused with this word, in one line, and nothing is bound.
#[track_caller]
fn refused(desk: &Desk, address: &str, said: &[&str]) {
    let ran = join(desk, address).failed(1);
    assert_eq!(ran.err.trim_end().lines().count(), 1, "{}", ran.err);
    assert!(said.iter().all(|said| ran.err.contains(said)), "{said:?}: {}", ran.err);
    assert!(desk.run(&["fleet", "status"]).failed(1).err.contains("no team"));
}

fn tls(address: &str) -> String {
    address.replace("nats://", "tls://")
}

#[test]
fn f2_a_server_with_tls_is_joined_and_each_wrong_certificate_is_named() {
    let Some(certs) = Certificates::make() else { return };
    let Some(server) = Server::with(&certs.block("server", "")) else { return };
    let good = member(&certs.ca());
    let address = tls(&server.address);
    init(&good, &address).ok();
    works(&good, &address);
    let unknown = ["not signed by a CA that is known here", "set everfold.fleet.tls_ca"];
    refused(&member(&json!({})), &address, &unknown);
    refused(&member(&json!({})), &server.address, &unknown);
    let other = json!({"tls_ca": certs.path("other.pem")});
    refused(&member(&other), &address, &["not signed by the CA in", "other.pem"]);
    let missing = json!({"tls_ca": certs.path("missing.pem")});
    refused(&member(&missing), &address, &["missing.pem", "everfold.fleet.tls_ca", "not exist"]);

    let Some(server) = Server::with(&certs.block("expired", "")) else { return };
    refused(&member(&certs.ca()), &tls(&server.address), &["certificate has expired"]);
    let Some(server) = Server::with(&certs.block("misnamed", "")) else { return };
    refused(&member(&certs.ca()), &tls(&server.address), &["certificate is for another host"]);

    let Some(server) = Server::start() else { return };
    refused(&member(&certs.ca()), &tls(&server.address), &["does not speak TLS", "nats://"]);
}

#[test]
fn f2_a_server_that_wants_our_certificate_says_which() {
    let Some(certs) = Certificates::make() else { return };
    let verify = format!("verify: true, ca_file: \"{}\"", certs.path("ca.pem").display());
    let Some(server) = Server::with(&certs.block("server", &verify)) else { return };
    let address = tls(&server.address);
    let shown = |leaf: &str| {
        let (cert, key) = (certs.path(&format!("{leaf}.pem")), certs.path(&format!("{leaf}.key")));
        member(&json!({"tls_ca": certs.path("ca.pem"), "tls_cert": cert, "tls_key": key}))
    };
    let good = shown("client");
    init(&good, &address).ok();
    works(&good, &address);
    refused(
        &member(&certs.ca()),
        &address,
        &["everfold.fleet.tls_cert and everfold.fleet.tls_key"],
    );
    refused(&shown("stranger"), &address, &["does not accept our certificate"]);
}

/// A file with the seed of a key.
fn seed(dir: &Path, key: &KeyPair) -> PathBuf {
    let file = dir.join(key.public_key());
    std::fs::write(&file, key.seed().unwrap()).unwrap();
    file
}

#[test]
fn f5_an_nkey_lets_in_and_a_missing_permission_is_named() {
    let keys: Vec<KeyPair> = (0..4).map(|_| KeyPair::new_user()).collect();
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/fleet.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let own = guide.split_once("permissions: {").unwrap().1.split_once("}}").unwrap().0;
    let fewer = own.replace("\"$JS.API.STREAM.MSG.GET.KV_everfold-crew-memory\",", "");
    let users = format!(
        "authorization {{ users = [ {{ nkey: {} }}, {{ nkey: {}, permissions: {{ {own} }} }}, \
         {{ nkey: {}, permissions: {{ {fewer} }} }} ] }}",
        keys[0].public_key(),
        keys[1].public_key(),
        keys[2].public_key()
    );
    let Some(server) = Server::with(&users) else { return };
    let dir = tempfile::tempdir().unwrap();
    let with = |key: &KeyPair| member(&json!({"nkey": seed(dir.path(), key)}));
    let boss = with(&keys[0]);
    init(&boss, &server.address).ok();
    let args = ["memory", "add", "--name", "Ports", "--type", "project", "--scope", "team"];
    let args = [&args[..], &["--description", "ports"]].concat();
    boss.run_with(&args, "Staging listens on port 8443.").ok();
    works(&with(&keys[1]), &server.address);
    let missing = ["does not allow this user to publish", "MSG.GET.KV_everfold-crew-memory"];
    refused(&with(&keys[2]), &server.address, &missing);
    refused(&with(&keys[3]), &server.address, &["does not know the NKey in", "public key"]);
    let nobody = ["everfold.fleet.credentials or everfold.fleet.nkey"];
    refused(&member(&json!({})), &server.address, &nobody);
    let nonsense = dir.path().join("nonsense");
    std::fs::write(&nonsense, "no seed").unwrap();
    refused(&member(&json!({"nkey": nonsense})), &server.address, &["no NKey seed"]);
}

/// A signed statement, as the servers read them.
fn jwt(signer: &KeyPair, subject: &KeyPair, expires: Option<i64>, nats: &Value) -> String {
    let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let mut claims = json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "iss": signer.public_key(),
        "name": "test", "sub": subject.public_key(), "nats": nats,
    });
    if let Some(expires) = expires {
        claims["exp"] = expires.into();
    }
    let head = encoded(&json!({"typ": "JWT", "alg": "ed25519-nkey"}));
    let text = format!("{head}.{}", encoded(&claims));
    let signature = BASE64_URL_SAFE_NO_PAD.encode(signer.sign(text.as_bytes()).unwrap());
    format!("{text}.{signature}")
}

/// A `.creds` file of a user of an account.
fn creds(dir: &Path, account: &KeyPair, expires: Option<i64>) -> PathBuf {
    let user = KeyPair::new_user();
    let claims = json!({
        "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
    });
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n-----BEGIN USER \
         NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        jwt(account, &user, expires, &claims),
        user.seed().unwrap()
    );
    let file = dir.join(format!("{}.creds", user.public_key()));
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn f5_credentials_let_in_over_tls_and_expired_ones_are_named() {
    let Some(certs) = Certificates::make() else { return };
    let (operator, system, account) =
        (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let limits = |storage: i64| {
        json!({"type": "account", "version": 2, "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
            "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": storage,
            "disk_storage": storage, "streams": storage, "consumer": storage,
        }})
    };
    let account_of = |key: &KeyPair, storage| jwt(&operator, key, None, &limits(storage));
    let operator_is = json!({"type": "operator", "version": 2,
        "system_account": system.public_key()});
    let top = format!(
        "{}operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{ {}: {}, {}: \
         {} }}\n",
        certs.block("server", ""),
        jwt(&operator, &operator, None, &operator_is),
        system.public_key(),
        system.public_key(),
        account_of(&system, 0),
        account.public_key(),
        account_of(&account, -1),
    );
    let Some(server) = Server::with(&top) else { return };
    let address = tls(&server.address);
    let with =
        |file: PathBuf| member(&json!({"tls_ca": certs.path("ca.pem"), "credentials": file}));
    let good = with(creds(certs.dir.path(), &account, None));
    init(&good, &address).ok();
    works(&good, &address);
    let expired = with(creds(certs.dir.path(), &account, Some(1_750_000_000)));
    refused(&expired, &address, &["does not accept the credentials in", "expired"]);
    let foreign = with(creds(certs.dir.path(), &KeyPair::new_account(), None));
    refused(&foreign, &address, &["does not accept the credentials in"]);
    let broken = with(certs.path("ca.pem"));
    refused(&broken, &address, &["ca.pem", "everfold.fleet.credentials"]);
}
