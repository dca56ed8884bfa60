//! The forms of secrets that are looked for.
//!
//! Forms that issuers document or that anybody can see in their own keys. A
//! rule with a group takes the group for the secret.

use regex::Regex;
use std::sync::LazyLock;

/// One form.
pub(super) struct Rule {
    /// What it is, with its article.
    pub(super) kind: &'static str,
    /// Lower-case words of which one must be there.
    pub(super) words: &'static [&'static str],
    /// Bits a character that it must have, where the form alone does not tell.
    pub(super) least_entropy: Option<f64>,
    pattern: &'static LazyLock<Option<Regex>>,
}

impl Rule {
    /// Its pattern; compiled at first use.
    pub(super) fn pattern(&self) -> Option<&'static Regex> {
        LazyLock::force(self.pattern).as_ref()
    }
}

macro_rules! rules {
    ($($kind:literal, $words:expr, $entropy:expr, $pattern:literal;)+) => {
        pub(super) const RULES: &[Rule] = &[$(
            Rule {
                kind: $kind,
                words: &$words,
                least_entropy: $entropy,
                pattern: {
                    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());
                    &PATTERN
                },
            },
        )+];
    };
}

rules! {
    "a private key", ["private key"], None, r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----";
    "an age secret key", ["age-secret-key-"], None, r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}\b";
    "an AWS access key", ["akia", "asia", "abia", "acca"], Some(3.0), r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b";
    "a GitHub token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], None, r"\bgh[pousr]_[A-Za-z0-9]{36,}\b";
    "a GitHub token", ["github_pat_"], None, r"\bgithub_pat_[A-Za-z0-9_]{40,}";
    "a GitLab token", ["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"], None, r"\b(?:glpat|gldt|glrt|glptt|glcbt|glsoat)-[A-Za-z0-9_.=-]{20,}";
    "a Slack token", ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe", "xapp-"], None, r"\b(?:xox[abeprs](?:\.xox[bp])?|xapp)-[A-Za-z0-9-]{16,}";
    "a Slack webhook", ["hooks.slack.com"], None, r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,}";
    "a Stripe key", ["sk_live_", "rk_live_", "sk_test_", "rk_test_"], None, r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}";
    "a Stripe webhook secret", ["whsec_"], None, r"\bwhsec_[A-Za-z0-9+/=]{24,}";
    "an Anthropic key", ["sk-ant-"], None, r"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{20,}";
    "an OpenAI key", ["sk-proj-", "sk-svcacct-", "sk-admin-"], None, r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}";
    "an API key", ["sk-"], Some(3.5), r"\b(sk-(?:or-v1-)?[A-Za-z0-9]{32,})\b";
    "a Google API key", ["aiza"], None, r"\bAIza[A-Za-z0-9_-]{35}";
    "a Google OAuth token", ["ya29."], None, r"\bya29\.[A-Za-z0-9_-]{30,}";
    "a Google OAuth secret", ["gocspx-"], None, r"\bGOCSPX-[A-Za-z0-9_-]{20,}";
    "an npm token", ["npm_"], None, r"\bnpm_[A-Za-z0-9]{36}\b";
    "a PyPI token", ["pypi-"], None, r"\bpypi-AgE[A-Za-z0-9_-]{50,}";
    "a crates.io token", ["cio"], Some(3.5), r"\b(cio[A-Za-z0-9]{32})\b";
    "a Hugging Face token", ["hf_"], None, r"\bhf_[A-Za-z0-9]{30,}\b";
    "a DigitalOcean token", ["dop_v1_", "doo_v1_", "dor_v1_"], None, r"\bdo[por]_v1_[a-f0-9]{64}\b";
    "a SendGrid key", ["sg."], None, r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}";
    "a Twilio key", ["sk"], Some(3.0), r"\b(SK[0-9a-f]{32})\b";
    "a Shopify token", ["shpat_", "shpss_", "shpca_", "shppa_"], None, r"\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}\b";
    "a Linear key", ["lin_api_", "lin_oauth_"], None, r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}";
    "a Notion token", ["ntn_"], None, r"\bntn_[A-Za-z0-9]{40,}";
    "a Telegram bot token", [":aa"], Some(3.5), r"\b(\d{8,10}:AA[A-Za-z0-9_-]{32,})";
    "a Discord bot token", ["discord"], Some(3.5), r"(?i)discord\S{0,20}\s*[:=]\s*.?([\w-]{23,28}\.[\w-]{6}\.[\w-]{27,})";
    "a Docker token", ["dckr_pat_"], None, r"\bdckr_pat_[A-Za-z0-9_-]{20,}";
    "a Vault token", ["hvs.", "hvb."], None, r"\bhv[sb]\.[A-Za-z0-9_-]{24,}";
    "a Databricks token", ["dapi"], Some(3.0), r"\b(dapi[a-f0-9]{32})\b";
    "an Azure storage key", ["accountkey="], None, r"(?i)AccountKey=[A-Za-z0-9+/]{80,}={0,2}";
    "a JSON web token", ["eyj"], None, r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}";
    "a password in an address", ["://"], Some(1.5), r#"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@'"<>]{0,64}:([^\s/@'"<>]{3,128})@[\w.\[-]"#;
    "a bearer token", ["bearer"], Some(3.0), r"(?i)\bbearer\s+([A-Za-z0-9_\-.=+/]{20,})";
    "basic credentials", ["basic "], Some(3.0), r"(?i)authorization:\s*basic\s+([A-Za-z0-9+/=]{12,})";
    "a password", ["password", "passwd", "passphrase", "pwd"], Some(2.3), r#"(?i)\b[\w-]*(?:password|passwd|passphrase|pwd)["'`*]*\s*(?:=>|:=|[:=]|\bis\b)\s*["'`*]*([^\s"'`*,]*[^A-Za-z\s"'`*,.;][^\s"'`*,]{3,}|[^\s"'`*,]{5,}[^A-Za-z\s"'`*,.;)])"#;
    "an API key or token", ["api_key", "api-key", "apikey", "api key", "secret", "token", "access_key", "access key", "auth_key", "private_key", "client_secret", "credential"], Some(3.2), r#"(?i)\b[\w-]*(?:api[_ -]?key|secret(?:[_ -]?(?:key|token))?|(?:auth|access|refresh|api|bot)?[_ -]?token|access[_ -]key|auth[_ -]key|private[_ -]key|credentials?)["'`*]*\s*(?:=>|:=|[:=]|\bis\b)\s*["'`*]*([A-Za-z0-9_\-.+/=~]*\d[A-Za-z0-9_\-.+/=~]{7,})"#;
}
