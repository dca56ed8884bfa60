//! What the secret screen stops, and what it lets through. The samples are
//! made up, and put together here so that no scanner takes them for real.

use everfold_memfile::secrets::find;

/// Signs of an alphabet in an order that looks random.
fn pick(alphabet: &[u8], len: usize) -> String {
    let mut state: u32 = 12_345;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    (0..len).map(|_| char::from(alphabet[next() % alphabet.len()])).collect()
}

fn noise(len: usize) -> String {
    pick(b"aB3dE5fG7hJ9kL2mN4pQ6rS8tV1wX0yZ", len)
}

fn hex(len: usize) -> String {
    pick(b"0123456789abcdef", len)
}

fn upper(len: usize) -> String {
    pick(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", len)
}

/// Keys with a form of their own.
fn issued() -> Vec<String> {
    let n = noise;
    vec![
        format!("{}{}", "AKIA", upper(16)),
        format!("{}{}", "ASIA", upper(16)),
        format!("{}{}", "ghp_", n(36)),
        format!("{}{}", "gho_", n(36)),
        format!("{}{}", "ghs_", n(40)),
        format!("{}{}", "github_pat_", n(82)),
        format!("{}{}", "glpat-", n(20)),
        format!("{}{}", "glrt-", n(20)),
        format!("{}{}-{}", "xoxb-", "123456789012", n(24)),
        format!("{}{}", "xoxp-", n(40)),
        format!("{}{}", "xapp-1-", n(40)),
        format!("https://hooks.slack.com/services/{}/{}/{}", "T0AB12CD3", "B0AB12CD3", n(24)),
        format!("{}{}", "sk_live_", n(24)),
        format!("{}{}", "rk_live_", n(24)),
        format!("{}{}", "whsec_", n(32)),
        format!("{}{}", "sk-ant-api03-", n(80)),
        format!("{}{}", "sk-proj-", n(48)),
        format!("{}{}", "sk-", n(48)),
        format!("{}{}", "sk-or-v1-", hex(64)),
        format!("{}{}", "AIza", n(35)),
        format!("{}{}", "ya29.", n(60)),
        format!("{}{}", "GOCSPX-", n(28)),
        format!("{}{}", "npm_", n(36)),
        format!("{}{}", "pypi-AgE", n(80)),
        format!("{}{}", "cio", n(32)),
        format!("{}{}", "hf_", n(34)),
        format!("{}{}", "dop_v1_", hex(64)),
        format!("SG.{}.{}", n(22), n(43)),
        format!("{}{}", "shpat_", hex(32)),
        format!("{}{}", "lin_api_", n(40)),
        format!("{}:AA{}", "123456789", n(33)),
        format!("{}{}", "dckr_pat_", n(27)),
        format!("{}{}", "hvs.", n(30)),
        format!("{}{}", "dapi", hex(32)),
        format!("DefaultEndpointsProtocol=https;AccountKey={}==", n(86)),
        format!("eyJ{}.eyJ{}.{}", n(20), n(40), n(43)),
    ]
}

/// Secrets that only their surroundings tell.
fn written() -> Vec<String> {
    let n = noise;
    vec![
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE".to_owned(),
        "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
        "-----BEGIN PRIVATE KEY-----".to_owned(),
        "-----BEGIN PGP PRIVATE KEY BLOCK-----".to_owned(),
        format!("postgres://app:{}@db.internal:5432/app", "s3cr3tPw"),
        format!("mongodb+srv://root:{}@cluster0.x.net", "hunter2!"),
        format!("redis://:{}@cache:6379", "p4ssw0rdX"),
        format!("Authorization: Bearer {}", n(40)),
        format!("Authorization: Basic {}=", n(23)),
        format!("password = \"{}\"", "Tr0ub4dor&3"),
        format!("The database password is {}", "k9#mQ2vLx"),
        format!("DB_PASSWORD={}", "kd83-aq0Z"),
        format!("\"password\": \"{}\"", "correct-h0rse"),
        format!("api_key: {}", n(32)),
        format!("API key is `{}`", n(24)),
        format!("client_secret={}", n(30)),
        format!("export STRIPE_TOKEN={}", n(30)),
        format!("aws_secret_access_key = {}", n(40)),
    ]
}

#[test]
fn l5_18_secrets_are_found() {
    let positives = [issued(), written()].concat();
    assert!(positives.len() >= 40);
    for text in &positives {
        let found = find(&format!("Some words before.\n{text} and after"));
        assert_eq!(found.len(), 1, "{text} {found:?}");
        assert_eq!(found[0].line, 2, "{text}");
    }
}

#[test]
fn l5_18_what_only_looks_like_a_secret_passes() {
    let negatives = [
        "550e8400-e29b-41d4-a716-446655440000".to_owned(),
        format!("commit {}", hex(40)),
        format!("sha256:{}", hex(64)),
        format!("blake3 {}", hex(64)),
        "The password reset flow sends an email.".to_owned(),
        "password: required".to_owned(),
        "Passwords are hashed with argon2id".to_owned(),
        "password = os.environ[\"DB_PASSWORD\"]".to_owned(),
        "password: ${DB_PASSWORD}".to_owned(),
        "password: <your password>".to_owned(),
        "password=changeme123".to_owned(),
        "PASSWORD=$(pass show db)".to_owned(),
        "the password is stored in 1Password".to_owned(),
        "token: string".to_owned(),
        "token is refreshed every 15 minutes".to_owned(),
        "max_tokens: 20000".to_owned(),
        "input tokens = 180000".to_owned(),
        "api_key: YOUR_API_KEY_1234567".to_owned(),
        "api_key = process.env.API_KEY_2".to_owned(),
        "API key is read from ANTHROPIC_API_KEY".to_owned(),
        "apiKeyHelper: a command that prints the key".to_owned(),
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        format!("{}{}", "ghp_", "x".repeat(36)),
        format!("{}{}", "AKIA", "IOSFODNN7EXAMPLE"),
        "AKIA is what AWS keys start with".to_owned(),
        "Stripe keys start with sk_live_ or sk_test_".to_owned(),
        "GitHub tokens look like ghp_…".to_owned(),
        "https://user@example.com/path".to_owned(),
        "https://example.com:8080/path@x".to_owned(),
        "postgres://user:password@localhost/db is the example".replace("password@", "<password>@"),
        "git@github.com:owner/repo.git".to_owned(),
        "postgres://app:${DB_PASS}@db/app".to_owned(),
        "secret santa is on 2026-12-18".to_owned(),
        "secrets live in the vault, under team/payments".to_owned(),
        "The Secret: never deploy on Fridays".to_owned(),
        "token budget: 25000-ish per request".to_owned(),
        "-----BEGIN PUBLIC KEY-----".to_owned(),
        "-----BEGIN CERTIFICATE-----".to_owned(),
        "bearer of bad news".to_owned(),
        "Authorization: Bearer <token>".to_owned(),
        "session 01932f6e-7c1a-7000-8000-0123456789ab".to_owned(),
        "originSessionId: 01932f6e-7c1a-7000-8000-0123456789ab".to_owned(),
        "task-runner-config-for-the-frontend-and-backend".to_owned(),
        "disk-usage and risk-assessment reports".to_owned(),
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".to_owned(),
        "version = \"1.29.0-rc.1\"".to_owned(),
        "key: value, access: public, credentials: include".to_owned(),
        "passphrase: ask the on-call engineer".to_owned(),
    ];
    assert!(negatives.len() >= 40);
    for text in &negatives {
        assert_eq!(find(text), [], "{text}");
    }
}
