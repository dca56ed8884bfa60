//! Key files, and the files that programs keep passwords in.

use crate::secrets::table::{Form, Rule};
use crate::secrets::{blocks, issued};

/// Key files of several lines.
pub(in crate::secrets) const KEYS: &[Rule] = &[
    Rule {
        kind: "a private key",
        words: &["---- begin ", "-----begin "],
        form: Form::Block(blocks::private_keys),
    },
    Rule {
        kind: "a PuTTY private key",
        words: &["putty-user-key-file-", "private-lines:"],
        form: Form::Block(blocks::putty_keys),
    },
    Rule {
        kind: "a Kubernetes secret",
        words: &["kind: secret", "kind: \"secret\""],
        form: Form::Block(blocks::kubernetes_secrets),
    },
    Rule { kind: "a Discord bot token", words: &["."], form: Form::Block(blocks::discord_tokens) },
];

/// Long words by their own looks.
pub(in crate::secrets) const LONG: &[Rule] =
    &[Rule { kind: "an issued key", words: &["_", "-", "."], form: Form::Block(issued::keys) }];

super::patterns! { RULES:
    Chosen "a password in a vault", ["\"value\""], r#""value"[ \t]*:[ \t]*"([^"\n]{4,64})"[ \t]*,[ \t]*"(?:name|key|label|designation)"[ \t]*:[ \t]*"[A-Za-z0-9_-]*(?:password|passwd|secret)""#;
    Entered "a key in a variable", ["secret="], r#"\b[A-Z][A-Z0-9_]*_SECRET=["']?"#;
    Chosen "a login", ["\"secret\""], r#"(?i)"(?:user(?:name)?|login)"\s*:\s*"[^"\n]{1,64}"\s*,\s*"secret"\s*:\s*"([^"\n]{4,200})""#;
    Chosen "a key in XML", ["keymaterial>", "wirelesskey>", "networkkey>", "presharedkey>"], r"(?i)<(?:[A-Za-z0-9_.-]+:)?(?:keymaterial|wirelesskey|networkkey|presharedkey)>\s*([^<\s]{5,64})\s*</";
    Chosen "a password in a configuration", ["password ", "passwd ", "passphrase ", "pass ", "psk ", "secret ", "pass\t", "password\t", "secret\t"], r#"(?im)(?:^[ \t]*(?:(?:set|setenv|define|option|default|export)[ \t]+)?(?:[A-Za-z0-9_./-]*[_.](?:password|passwd|passphrase|pass|psk|secret)|(?:ssl|auth)[A-Za-z0-9_]*pass|(?-i:[A-Za-z0-9_]*[a-z]P(?:assword|assphrase|asswd|ass)))|[ \t][A-Za-z0-9_-]*-(?:password|passphrase|secret|psk)|\bDefaultPassword)[ \t]+(?:REG_SZ[ \t]+|[057][ \t]+)?["']?([^\s"';=:]{4,64})["']?[ \t]*(?:;|$)"#;
    Chosen "a password in a configuration", ["storepass", "keypass"], r#"(?:store|key)Password[ \t]+["']([^"'\n]{4,64})["']"#;
    Chosen "a Wi-Fi password", ["option key"], r#"\boption key[ \t]+["']?([^\s"']{5,64})"#;
    Given "a Wi-Fi password", ["shared-key", "shared_key", "sharedkey"], r"(?i)\bpre[-_]?shared[-_]?key[\x22']?[ \t]*[:=][ \t]*";
    Chosen "a password in a configuration", ["password"], r#"(?im)\b(?:define|setenv|setvar|chap|pap|mysqladmin[ -~\t]{0,60}?|passwd/\S+)[ \t]+password[ \t]+(?:[057][ \t]+)?["']?([^\s"';=:]{4,64})["']?[ \t]*(?:;|$)"#;
    Chosen "a password in code", ["#define"], r#"(?i)#define[ \t]+[A-Za-z0-9_]*(?:pass|password|psk|pwd|secret)[A-Za-z0-9_]*[ \t]+"([^"\n]{4,64})""#;
    Chosen "a community of a network", ["snmp-server community", "isakmp key"], r"(?i)(?:snmp-server community|isakmp key(?:[ \t]+[06])?)[ \t]+(\S{4,64})";
    Spot "a password in XML", ["<pass"], r"(?i)<pass(?:word)?[ \t][^<>\n]{0,60}>([^<\s]{3,200})</";
    Random "a key in a configuration", ["secret \""], r#"(?i)\bsecret[ \t]+"([A-Za-z0-9+/]{16,}={0,2})""#;
    Random "a key in a configuration", ["key:", "key =", "key="], r#"(?i)\bkey["']?[ \t]*[:=][ \t]*["']([A-Za-z0-9+/]{42,43}=)["']"#;
    Certain "a hash of a password", [":"], r"(?m)(?:^|[ \t])[A-Za-z0-9_.@-]{1,40}:[A-Za-z0-9_ .@-]{1,60}:([0-9a-f]{32})[ \t]*$";
    Certain "a password of a network device", ["password 7"], r"(?i)\bpassword 7 ([0-9a-f]{8,64})\b";
    Given "a password in a directory", ["userpassword::"], r"(?i)\buserPassword::[ \t]*";
    Entered "a default of a variable", ["default"], r#"(?i)[A-Za-z0-9_]*(?:password|passwd|secret)[A-Za-z0-9_]*["']?:[ \t]*\{?\s*(?:["']?[A-Za-z0-9_]+["']?:[^\n]*\n\s*){0,3}?["']?default["']?[ \t]*:[ \t]*"#;
    Entered "a default of a variable", ["fetch("], r#"(?i)fetch\([ \t]*["'][A-Za-z0-9_]*["'][ \t]*\)[ \t]*\{[ \t]*"#;
    Certain "an AWS secret key", ["akia", "asia"], r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b[^A-Za-z0-9+/]{1,40}([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/]|$)";
    Entered "a password in a page", ["type=\"password\"", "type='password'", "type=password"], r#"(?i)type=["']?password["']?[^<>\n]{0,80}?[ \t]value="#;
    Certain "a recovery key", ["-"], r"\b((?:\d{6}-){7}\d{6})\b";
    Certain "an app password", ["app password", "app-password", "app pass"], r#"(?i)app[ -]pass(?:word)?[^\n]{0,20}?[\s"'`:]((?:[a-z]{4}[ -]){3}[a-z]{4})\b"#;
    Random "a wallet key", ["wif", "wallet", "privkey", "private"], r"\b([5KL][1-9A-HJ-NP-Za-km-z]{50,51})\b";
    Certain "a wallet key", ["keypair", "solana", "secret"], r"(\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\])";
    Certain "an age secret key", ["age-secret-key-", "age-plugin-"], r"\bAGE-(?:SECRET-KEY|PLUGIN-[A-Z]+)-1[0-9A-Z]{40,}\b";
    Certain "a private key", ["b3blbnnzac1rzxktdjea"], r"\bb3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/=\s]{40,}";
    Certain "a private key", ["miieowibaa", "miiepaibaa", "miiepqibaa", "miieogibaa", "miievqibad", "miievwibad", "miievaibad", "miieugibad", "mhccaqee", "miijkaibaa", "miijkqibaa", "miijqgibad", "miijqwibad", "miievg", "miigraibaa", "mc4caqawbqyd", "mightagea"], r"\b(?:MII[A-Za-z0-9]{2}[A-Za-z0-9+/](?:IBAA|IBAD)|MHcCAQEE|MC4CAQAwBQYD|MIGHAgEA)[A-Za-z0-9+/=]{20,}";
    Certain "a private key in base64", ["ls0tls1crudjti"], r"\bLS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0Eg|BFQyBQ|BPUEVOU1NI|BFTkNSWVBURUQ|BEU0Eg|BQR1AgUFJJ)[A-Za-z0-9+/=]{20,}";
    Given "a client key", ["client-key-data"], r"(?i)client-key-data:\s*";
    Certain "a WireGuard key", ["privatekey", "presharedkey", "private-key", "preshared-key", "wireguard", "wg_", "wg "], r#"(?i)(?:private[-_ ]?key|preshared[-_ ]?key|\bpsk|\bwg\w*|wireguard)\b[^\nbB]{0,30}?(?:[:=]|\bis\b|\s)\s*["'`]?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)"#;
    Certain "a minisign secret key", ["rwrty0iy", "rwqaaei"], r"\b(RW(?:RTY0Iy|QAAEIy)[A-Za-z0-9+/=]{40,})";
    Certain "a signify secret key", ["rwrcsw"], r"\b(RWRCSw[A-Za-z0-9+/=]{60,})";
    Certain "a Nix or cosign key", ["-1:", "encrypted cosign"], r"\b([\w.-]+-1:[A-Za-z0-9+/]{86}==)";
    Certain "an SSH host or JWK private part", ["\"kty\""], r#""kty"[^}]{0,400}?"d"\s*:\s*"([A-Za-z0-9_-]{30,})""#;
    Certain "an extended private key", ["xprv", "yprv", "zprv", "tprv"], r"\b([xyzt]prv[A-Za-z0-9]{100,112})\b";
    Certain "a Nostr secret key", ["nsec1"], r"\b(nsec1[a-z0-9]{58})\b";
    Certain "an Ethereum private key", ["0x"], r"(?i)(?:private|priv|secret|signer|deployer)[^\n]{0,30}?\b(0x[0-9a-f]{64})\b";
    Certain "a seed phrase", ["seed", "mnemonic", "recovery phrase", "wallet"], r#"(?i)(?:seed|mnemonic|recovery phrase|wallet)[^\n:=]{0,24}(?:[:=]|\bis\b)\s*["'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"#;
    Certain "a time-based code's secret", ["otpauth://"], r"(?i)otpauth://[^\s]*?secret=([A-Z2-7]{8,}=*)";
    Certain "a time-based code's secret", ["totp", "2fa", "mfa", "authenticator"], r#"(?i)(?:totp|2fa|mfa|authenticator)[ _-]*(?:secret|seed|key)[^\n]{0,12}?[:=\s][ \t]*["'`(]?([A-Z2-7]{16,64}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4})\b"#;
    Given "a password in a netrc file", ["password"], r"(?i)(?:\bmachine\s+\S+(?:\s+(?:login|account|user)\s+\S+)*|\bdefault(?:\s+(?:login|account|user)\s+\S+)+)\s+(?:password|passwd)\s+";
    Entered "a password in a netrc file", ["login"], r"(?i)\blogin\s+\S+\s+(?:password|passwd)\s+";
    Certain "a password in a pgpass file", [":5432:", ":*:", ":5433:", ":5434:", ":6432:", ":5439:", ":25060:", ":6543:"], r"(?m)(?:^|[\s`])[\w.*-]+:(?:\d{4,5}|\*):[^:\s]*[^:\s\d][^:\s]*:[^:\s]+:([^\s:`$<{*\[][^\s`]{2,})";
    Certain "a hash of a password", ["$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$7$", "$apr1$", "$gy$"], r"(\$(?:1|5|6|7|y|gy|apr1|2[aby])\$(?:rounds=\d+\$)?[A-Za-z0-9./$]{16,})";
    Certain "a hash of a password", ["$argon2", "$scrypt$", "$pbkdf2", "pbkdf2_sha", "pbkdf2:sha", "scrypt:", "scram-sha-256$"], r"(\$(?:argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*)\$[A-Za-z0-9,=.+/$-]{30,}|pbkdf2_sha(?:1|256|512)\$\d+\$[A-Za-z0-9]+\$[A-Za-z0-9+/=]{20,}|(?:pbkdf2:sha\d+:\d+|scrypt:\d+:\d+:\d+)\$[A-Za-z0-9]+\$[a-f0-9]{40,}|SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+)";
    Certain "a hash of a password", ["{sha}", "{ssha", "{crypt}", "{sha512}", "{pbkdf2"], r"(?i)(\{(?:S?SHA(?:256|512)?|CRYPT|PBKDF2[\w-]*)\}[A-Za-z0-9+/=$.]{12,})";
    Certain "a hash of a password", [":aad3b435", ":::"], r"\b([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::";
    Basic "a Docker registry login", ["\"auth\"", "auth:", "\"auth\\\""], r#"(?i)\\?["']?\bauth\\?["']?\s*:\s*\\?["']([A-Za-z0-9+/=_-]{8,})\\?["']"#;
    Given "a Docker identity token", ["identitytoken", "registrytoken"], r#"(?i)"(?:identitytoken|registrytoken)"\s*:\s*"#;
    Given "an npm token", ["_authtoken", "_password"], r"(?i)(?:^|[\s:])_(?:authToken|password)[ \t]*[= ][ \t]*";
    Basic "an npm login", ["_auth"], r#"(?i)\b_auth\s*=\s*["']?([A-Za-z0-9+/=]{8,})"#;
    Given "a password in a configuration", ["requirepass", "masterauth", "ansible_", "rcon.password", "bindpw", "rootpw", "ldap_bind", "bindcredentials", "olcrootpw"], r"(?im)(?:^|[\s;])(?:requirepass|masterauth|ansible_(?:ssh_)?(?:become_)?pass(?:word)?|ansible_sudo_pass|rcon\.password|\w*bindpw|(?:olc)?rootpw|bindcredentials)[ \t]*[:= ][ \t]*";
    Given "a Wi-Fi password", ["psk", "wpa_passphrase", "wifi", "wi-fi", "wlan"], r"(?i)(?:\bpsk\s*[=:]\s*|wpa_passphrase(?:=|[ \t]+\S+[ \t]+)|wifi[ -~\t]{0,10};P:|WIFI:[ -~\t]{0,60}?;P:)";
    Loose "a Wi-Fi password", ["psk "], r"(?i)\bpsk[ \t]+";
    Loose "a Wi-Fi password", ["wifi", "wi-fi", "wlan", "ssid"], r"(?i)\b(?:wifi|wi-fi|wlan|ssid)\b[^\n]{0,40}?(?:key|code|pass|schlüssel|clave|clé|:|/)\s*(?:is|ist|est|es|[:=])?\s+";
    Loose "a Wi-Fi password", ["wifi", "wi-fi", "wlan", "ssid"], r"(?i)\b(?:wifi|wi-fi|wlan|ssid)\b[^\n/]{1,40}?[ \t]/[ \t]";
    Given "an rclone or s3cmd key", ["pass =", "pass2 =", "secret_key =", "pass=", "secret_key="], r"(?im)^\s*(?:pass2?|secret_key|gs_secret_access_key)\s*=\s*";
    Shaped "a key in XML", ["key"], r"(?i)<(?:[\w.-]+:)?[\w.-]*key(?:material|value|phrase)?>\s*(?:<!\[CDATA\[)?([^<\s\]]{8,64})(?:\]\]>)?\s*</";
    Shaped "a password of a dial-in file", [" *", "\t*"], r#"(?m)^["']?[\w.@\\-]{2,40}["']?[ \t]+(?:\*|[\w-]{2,20})[ \t]+["']?([^\s"']{6,64})["']?[ \t]+(?:\*|[\d.]{7,})[ \t]*$"#;
    Named "a password in XML", ["password", "passwd", "pwd", "passphrase"], r"(?i)(?:password|passwd|pwd|passphrase)(?:</[\w:.-]+)?>\s*<[\w:.-]+>\s*";
    Shaped "a password of a mounted share", ["://"], r"(?m)(?:^|[ \t])https?://\S+[ \t]+[\w.@\\-]{2,40}[ \t]+(\S{6,64})[ \t]*$";
    Spot "a password in XML", ["password>", "passphrase>", "secret>", "token>", "apikey>", "passwd>", "pass>", "accesskey>", "privatekey>", "psk>", "pwd>"], r"(?i)<(?:[\w.-]+:)?[\w.-]*(?:password|passwd|passphrase|secret|token|apikey|pass|accesskey|privatekey|psk|pwd)>\s*(?:<!\[CDATA\[)?([^<\s\]]{3,200})(?:\]\]>)?\s*</";
    Given "a password in XML", ["password", "secret", "token", "apikey"], r#"(?i)(?:key|name)\s*=\s*"[\w.:-]*(?:password|secret|token|apikey|passphrase)"\s+value\s*=\s*"#;
    Given "a cleartext group policy password", ["cpassword="], r"(?i)\bcpassword\s*=\s*";
    Certain "an Ansible vault", ["$ansible_vault"], r"(\$ANSIBLE_VAULT;[\d.]+;AES256[\w;.-]*\s+[0-9a-f\s]{64,}[0-9a-f])";
    Given "a key of a web framework", ["secret_key_base", "app_key", "django_secret", "nextauth_secret", "session_secret", "cookie_secret", "jwt_secret", "auth_secret"], r#"(?i)(?:secret_key_base|\bapp_key|django_secret_key|nextauth_secret|session_secret|cookie_secret|jwt_secret|auth_secret)["']?\s*[:=]\s*(?:base64:)?"#;
    Named "a password in code", ["password", "passwd", "pwd", "passphrase"], r"(?i)\b\w*(?:password|passwd|pwd|passphrase)\w*[ \t]*:[ \t]*[&\w<>'\[\] ]{2,24}?[ \t]*=[ \t]*";
    Token "a key in code", ["key", "secret", "token"], r"(?i)\b\w*(?:api_?key|secret|token|access_?key|private_?key)\w*[ \t]*:[ \t]*[&\w<>'\[\] ]{2,24}?[ \t]*=[ \t]*";
    Entered "a default of a variable", ["env(", "getenv(", "environ.get(", "fetch(", "config(", "setdefault("], r#"(?i)(?:env|environ\.get|fetch|config|setdefault|setenv|putenv)\([ \t]*["'][A-Za-z0-9_.]*(?:password|passwd|pwd|passphrase|_pass|api_?key|secret|token|access_?key|private_?key)[A-Za-z0-9_.]*["'][ \t]*,[ \t]*"#;
    Entered "a default of a variable", ["env."], r"(?i)\benv\.[A-Za-z0-9_]*(?:password|passwd|pwd|passphrase|_pass|api_?key|secret|token|access_?key|private_?key)[A-Za-z0-9_]*[ \t]*(?:\|\||\?\?)[ \t]*";
    Entered "a default of a variable", ["${"], r"(?i)\$\{[A-Za-z0-9_.]*(?:password|passwd|pwd|passphrase|_pass|api_?key|secret|token|access_?key|private_?key)[A-Za-z0-9_.]*:[-=]?";
    Entered "a default of a variable", ["variable"], r#"(?i)\bvariable[ \t]+"[A-Za-z0-9_]*(?:password|passwd|pwd|passphrase|_pw\b|_pass\b|api_?key|secret|token|access_?key|private_?key)[A-Za-z0-9_]*"[ \t]*\{[^}]{0,200}?\bdefault[ \t]*=[ \t]*"#;
    Entered "a password in XML", ["password", "passwd", "pwd", "secret", "token", "apikey", "api_key", "api-key"], r#"(?i)<(?:[a-z-]*property|entry|param|parameter|setting|add|string|prop|arg|env|var)[ \t][^<>\n]{0,80}?(?:name|key|id)=["'][A-Za-z0-9_.:-]*(?:password|passwd|pwd|passphrase|secret|token|api[-_]?key)[A-Za-z0-9_.:-]*["'][^<>\n]{0,40}?(?:>(?:[ \t\n]*<value>)?|value=)[ \t]*"#;
    Entered "a login", ["auth=", "auth ="], r#"(?i)\bauth[ \t]*=[ \t]*\(?[ \t]*["'][^"'\n]+["'][ \t]*,[ \t]*"#;
}
