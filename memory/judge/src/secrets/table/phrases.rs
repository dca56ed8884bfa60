//! What people write: "the password is …", in the languages of R15, and names
//! with a value.

use crate::secrets::table::{Form, Rule};
use crate::secrets::{clause, codes, columns, logins, near, pieces, plain};

/// Parts of what a column of passwords is called.
const COLUMNS: &[&str] = &[
    "pass",
    "pw",
    "mdp",
    "key",
    "kennwort",
    "contrase",
    "senha",
    "wachtwoord",
    "has\u{142}o",
    "парол",
    "Парол",
    "密码",
    "パスワード",
    "비밀번호",
];

/// Whatever looks like a password, near a word for one.
pub(in crate::secrets) const NEAR: &[Rule] = &[
    Rule { kind: "a password", words: near::NAMES, form: Form::Block(near::passwords) },
    Rule { kind: "a password", words: plain::WORDS, form: Form::Block(plain::passwords) },
    Rule { kind: "a password", words: clause::WORDS, form: Form::Block(clause::passwords) },
    Rule {
        kind: "a password of a login",
        words: logins::WORDS,
        form: Form::Block(logins::passwords),
    },
    Rule { kind: "a key", words: logins::KEYS, form: Form::Block(logins::keys) },
    Rule { kind: "a password in code", words: logins::CALLS, form: Form::Block(logins::arguments) },
    Rule { kind: "a PIN", words: codes::WORDS, form: Form::Block(codes::numbers) },
    Rule { kind: "a recovery code", words: codes::LISTS, form: Form::Block(codes::lists) },
    Rule {
        kind: "a password",
        words: &["password ", "passwd ", "passphrase ", "pass ", "secret "],
        form: Form::Block(plain::lines),
    },
    Rule { kind: "a password", words: COLUMNS, form: Form::Block(columns::passwords) },
    Rule { kind: "a password", words: &["insert "], form: Form::Block(columns::inserted) },
    Rule {
        kind: "a piece of a key",
        words: &[
            "pass=", "pass =", "passw", "pwd", "secret", "token", "key", "auth", "cred", "dsn",
        ],
        form: Form::Block(pieces::summed),
    },
    Rule { kind: "a password of a login", words: near::LOGINS, form: Form::Block(near::logins) },
];

super::patterns! { RULES:
    Worded "a password", ["passw", "passp", "pw", "kennwort", "wifi", "wi-fi", "wlan", "mot de passe", "mdp", "contrase", "clave", "senha", "wachtwoord", "has\u{142}", "арол", "密码"], r"(?i)(?:passwor[dt]|\bpw|\bpwd|passphrase|kennwort|\bwi-?fi|\bwlan|mot de passe|\bmdp|contraseña|\bclave|\bsenha|wachtwoord|hasło|пароль|密码)\b[^\n?]{0,40}?[?？][ \t]*\n?[ \t]*(?:>[ \t]*)?(?:[A-Za-z]{1,16}:[ \t]*)?([^\s?]{6,40})[ \t]*(?:\n|$)";
    Worded "a Wi-Fi password", ["wifi", "wi-fi", "wlan"], r#"(?i)(?:clé|clave|chiave|chave|key|codice|código|schlüssel|klucz|nyckel)[ \t]+(?:du |del |de la |do |da |de )?(?:wi-?fi|wlan)[ \t:=]+["'`]?([^\s"'`]{6,63})"#;
    Chosen "a Wi-Fi password", ["wlan", "wifi", "wi-fi", "ssid", "network", "netz", "réseau", "hotspot"], r#"(?i)\b(?:wlan|wi-?fi|ssid|network|netz(?:werk)?|réseau|hotspot)\b[^\n]{0,60}?[,;/][ \t]*(?:(?:das|the|its|la|le|il|de|and|und)[ \t]+){0,2}(?:password|passwort|kennwort|schlüssel|key|pw|mot de passe|contraseña|clave|senha|wachtwoord|lösenord|hasło)[ \t]+["'`]?([A-Za-z]{5,40})["'`]?[.!]?[ \t]*(?:\n|$)"#;
    Named "a password", ["password", "passwd", "passphrase", "passcode", "pwd", "pass phrase", "pass-phrase", "pass word", "pass code", "pass_phrase", "pass_word"], r#"(?i)(?:pass(?:wd|[ _-]?(?:word|phrase|code))|pwd)s?\d?["'`*_\])}\\]*(?:[ \t]*\([^()\n]{1,40}\))?["'`*]*[ \t]*(?:=>|:=|->|→|[:=]|[—–][ \t]|[ \t]-[ \t]|[ \t]*\|[ \t]|[ \t]+REG_SZ[ \t])[ \t]*(?:(?:[>|][+-]?[ \t]*)?\n[ \t]*)?"#;
    Named "a password", ["password", "passwd", "passphrase", "passcode", "pwd", "pass phrase", "pass-phrase", "pass code"], r#"(?i)(?:pass(?:word|wd|[ -]?(?:phrase|code))|\bpwd)s?["'`*]*[ \t]+(?:is|è|é|was|are|remains|changed to|set to|be|to|reads|equals|called|of)(?:[ \t]+(?:now|still|currently|just|simply|always|set to))?[ \t]*:?[ \t]+"#;
    Loose "a password", ["password", "passwd", "passphrase", "passcode", "pwd", "pw", "pass "], r"(?i)(?:pass(?:word|wd|phrase|code)|\bpwd|\bpw|\b(?:user|username|login|u)\b[^\n:=?!.]{1,40}?\bpass)s?,?[ \t]+";
    Loose "a password", ["password", "passwd", "passphrase", "passcode", "pwd", "pw ", "pass "], r"(?i)\b(?:pass(?:word|wd|phrase|code)?|pwd|pw)\b[^\n:=?!]{1,80}?(?::|=|\b(?:is|to|es|est|ist|lautet|este)|[ \t][éè]|→|->)[ \t]+(?:(?:now|still|currently|just|simply|always|again|jetzt|noch|ahora|toujours|maintenant|ancora|agora|ainda)[ \t]+)?";
    Mixed "a password", ["password", "passwd", "passphrase", "passcode", "pwd", "as pw", "as token", "as pin", "as api"], r#"(?i)\b(?:use|using|set|enter|type|try|nimm|mit|with)[ \t]+["'`]?([^\s"'`]{5,63}[^\s"'`.,;:)])["'`]?[ \t]+as[ \t]+(?:(?:the|a|my|your|its|our|their|new|temporary|initial|admin|root|default|wifi|wi-fi|db|database|login|user)[ \t]+){0,4}(?:password|passwd|passphrase|passcode|pass|pwd|pw|token|pin|api[ -]?key)\b"#;
    Mixed "a password", ["als passwort", "als kennwort", "comme mot de passe", "como contrase", "como clave", "como senha", "come password", "als wachtwoord"], r#"(?i)(?:^|[\s"'`(])([^\s"'`(]{5,63}[^\s"'`.,;:)])["'`]?[ \t]+(?:als (?:neues )?(?:passwort|kennwort|wachtwoord)|comme mot de passe|como (?:contrase(?:ñ|n)a|clave|senha)|come password)\b"#;
    Mixed "a login", ["login", "credential", "creds", "account"], r#"(?i)(?:^|[\s"'`(])(?:admin|root|user|guest|test|demo|sa|postgres|administrator|operator)[ \t]?[/:][ \t]?([^\s/"'`,;]{6,64})["'`]?[ \t][^\n]{0,40}?\b(?:logins?|credentials?|creds|account)\b"#;
    Named "a password", ["pass", "pw"], r#"(?i)(?:\b|_|db|root|admin|smtp|mail)(?:pass|pw|psw|passw|pswd)["'`*\])]*[ \t]*(?:=>|:=|[:=]|\bis\b|-[ \t])[ \t]*"#;
    Chosen "a password", ["password", "passwd", "passphrase", "define("], r#"(?i)(?:(?:set_?password|with_?password|\.password|set_?passphrase)\([ \t]*b?|define\([ \t]*['"][A-Za-z0-9_]*(?:password|passwd|pass|secret|_key|_salt)['"][ \t]*,|\(?['"]password['"][ \t]*,)[ \t]*["'](?:\{noop\})?([^"'\n]{3,200})["']"#;
    Mixed "a login", ["root ", "admin ", "administrator ", "postgres "], r#"(?i)\b(?:root|admin|administrator|postgres)[ \t]+(?:on|at|for|auf|an|sur|en|su|em|på)[ \t]+[\w.-]{2,30}[ \t]*(?:[:=]|->|→|\b(?:is|ist|est|es|è|é|är|er))[ \t]+["'`]?([A-Za-z0-9._!@#$%&*+-]*[_!@#$%&*][A-Za-z0-9._!@#$%&*+-]*)["'`]?(?:[\s.,;)]|$)"#;
    Loose "a password", ["log in", "login", "sign in", "logged in", "logs in", "ssh ", "connect"], r"(?i)\b(?:log(?:ged|s)?[ -]?in|sign in|connect[ \t]+(?:to|as)|ssh)\b[^\n:=?!]{1,60}?\b(?:with|using|by|mit|avec|con|com)[ \t]+";
    Spot "a login", ["login", "credential", "creds", "zugang", "account", "user", "identifiant", "acceso", "konto", "admin", "logon", "auth", "usuario", "логин"], r#"(?i)(?:log[io]n|credentials?|creds|zugangsdaten|zugang|anmeldung|account|user(?:name)?(?:[ \t]*[/+&][ \t]*(?:pass(?:word)?|pw))|identifiants?|acceso|credenciales|konto|логин(?:[ \t]*/[ \t]*пароль)?)\b[^\n:=/.]{0,40}?(?:[ \t]*[:=]|[ \t]+(?:is|are|ist|sind|est|sont|es|son))?[ \t]+["'`]?[\w.@+-]{2,40}["'`]?[ \t]*(?:/|\||:|,?[ \t]+(?:(?:and|und|et|y|e)[ \t]|/))[ \t]*["'`]?([^\s"'`/]*[A-Za-z][^\s"'`/]*\d(?:[^\s"'`/,;)]*[^\s"'`/,;).])?|[^\s"'`/]*\d[^\s"'`/]*[A-Za-z!@#$%^&*?][^\s"'`/,;).]*)"#;
    Chosen "a login", ["log", "sign", "get in", "cred", "account", "zugang", "identifiant", "acceso", "anmeld"], r#"(?i)\b(?:log(?:ged|s|ging)?[ -]?(?:in|on)|gets? in|sign(?:ed|s)?[ -]?in|credentials?|creds|account|zugang(?:sdaten)?|anmeldung|anmelden|identifiants?|acceso)\b[^\n.?!]{0,30}?(?:\b(?:with|as|using|is|are|mit|als|avec|con|by)[ \t]+|[:=][ \t]*)["'`]?[A-Za-z0-9_.@+-]{2,40}["'`]?[ \t]*[/|][ \t]*["'`]?([A-Za-z]{5,40})["'`]?(?:[ \t]*(?:\n|$|[.,;)!])|[ \t]+(?:on|for|at|in|and|to)\b)"#;
    Chosen "a login", ["user", "login", "account", "benutzer", "usuario", "utilisat", "identifiant", "utente", "gebruiker", "användare", "bruger", "bruker", "konto", "ssh "], r#"(?i)\b(?:user(?:name|[ -]?id)?|login|account|benutzer(?:name)?|usuario|utilisateur|identifiant|utente|gebruiker|användare|bruger|bruker|użytkownik|konto|ssh)\b[ \t]*(?:is|:|=|ist|est|es)?[ \t]*["'`]?[A-Za-z0-9_.@+-]{2,40}["'`]?(?:[ \t]*[,;/|&][ \t]*|[ \t]+)(?:(?:and|with|und|mit|et|avec|y|con|e)[ \t]+)?(?:the[ \t]+|das[ \t]+)?(?:password|passwd|passphrase|pass|pwd|pw|passwort|kennwort|mot de passe|mdp|contraseña|senha)[ \t]+["'`]?([^\s"'`,;]{5,40}?)["'`]?(?:[ \t]*(?:\n|$|[.,;)!]))"#;
    Chosen "a password", ["password", "passphrase", "passcode"], r#"(?i)\b(?:(?:set|changed?|reset|switched|rotated|updated|moved)\b[^\n.]{0,40}?\b(?:password|passphrase|passcode)\b[^\n.:=]{0,20}?[ \t]to|(?:use|using|with|enter|type|try)[ \t]+(?:the|this|his|her|my|our)[ \t]+(?:[A-Za-z0-9_]+[ \t]+)?(?:password|passphrase|passcode))[ \t]+["'`]?([A-Za-z]{5,40})["'`]?(?:[ \t]*(?:\n|$|[.,;)!])|[ \t]+(?:on|for|at|in|and|yesterday|today|now|again)\b)"#;
    Chosen "a login", ["password ", "pwd ", "pw ", "pass "], r#"(?i)\b(?:password|pwd|pw|pass)[ \t]+["'`]?([A-Za-z]{5,40})["'`]?[ \t]*[,;/][ \t]*(?:user(?:name)?|login|account)\b"#;
    Chosen "a login", ["credential", "creds"], r#"(?i)\b(?:credentials|creds)\b[^\n:=.]{0,30}[:=][ \t]*["'`]?[A-Za-z0-9_.@+-]{2,40}["'`]?[ \t]*,[ \t]*["'`]?([A-Za-z][^\s,;"'`]{4,40})["'`]?(?:[ \t]*(?:\n|$|[.;)!]))"#;
    Chosen "a Wi-Fi password", ["wifi", "wi-fi", "wlan"], r#"(?i)\b(?:wifi|wi-fi|wlan)\b(?:[ \t]+["'`]?[A-Za-z0-9_-]{2,32}["'`]?[ \t]*/|[^\n:=?!]{0,40}?\b(?:key|code|schlüssel|clé|clave|chiave)[ \t]+(?:is|ist|est|es|è))[ \t]*["'`]?([A-Za-z]{5,40})["'`]?(?:[ \t]*(?:\n|$|[.,;)!]))"#;
    Entered "a password", ["safe word", "safeword", "code word", "codeword", "secret word"], r"(?i)\b(?:safe|code|secret)[ -]?word\b[^\n:=?!.]{0,40}?(?:[:=]|\bis\b)[ \t]*";
    LooseToken "a key", [" key "], r"(?i)\b(?:here(?:'s| is)|this is|use|using|with)\b[^\n.:=]{0,24}?\bkey[ \t]+";
    Mixed "a login", ["login", "admin", "account", "panel"], r#"(?i)(?:^|[\s"'`(])[a-z][A-Za-z0-9_.@-]{1,30}:([a-z][^\s/:"'`]{5,40})["'`]?[ \t]+(?:works?|is|gets you)\b[^\n.]{0,20}?\b(?:login|log in|admin|account|panel|console|dashboard)\b"#;
    Chosen "a password", ["password", "passwd", "passphrase", "pwd"], r#"(?i)\b[A-Za-z0-9_]*(?:password|passwd|passphrase|pwd)["']?[ \t]+["']([A-Za-z0-9][^"'\n]{3,63})["']"#;
    Random "a token", ["token", "key", "secret"], r#"(?:^|[\s"'`(=])([A-Za-z0-9+/_.-]{28,}={0,2})["'`]?[ \t]+(?:is|was|=)[ \t]+(?:the|our|my|your|its|a|an)\b[^\n.:]{0,48}?\b(?:[Tt]oken|[Kk]ey|[Ss]ecret)\b"#;
    Random "a token", ["api token ", "api key ", "api-key ", "api-token ", "access token ", "secret key ", "auth token "], r#"(?i)\b(?:(?:api|access|auth)[ -](?:key|token)|secret key)[ \t]+["'`]?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b"#;
    Random "a token", ["as "], r#"(?i)(?:^|[\s"'`(=])([A-Za-z0-9+/_.-]{28,}={0,2})["'`]?[ \t]+as[ \t]+(?:(?:the|a|an|my|your|its|our|their|new|api|access|auth|admin|deploy|secret)[ \t]+){0,4}(?:token|key|secret|credential)\b"#;
    Named "a password", ["passwort", "kennwort", "passw", "losung", "passwörter"], r#"(?i)(?:passwort|kennwort|losungswort|passphrase)(?:es|s)?["'`*]*(?:[ \t]*\([^()\n]{1,40}\))?[ \t]*(?:=>|:=|[:=]|[—–][ \t]|[ \t](?:ist|lautet|war|heißt|wäre|bleibt)(?:[ \t]+(?:jetzt|nun|noch|immer))?:?[ \t])[ \t]*"#;
    Loose "a password", ["passwort", "kennwort"], r"(?i)(?:passwort|kennwort)\b(?:[^\n:=?!]{1,60}?(?::|\bist|\blautet|\bauf)[ \t]+|[ \t]+)";
    Named "a password", ["mot de passe", "mdp", "mots de passe", "phrase secr"], r#"(?i)(?:mots? de passe|\bmdp|phrase secrète)["'`*]*[ \t]*(?:=>|[:=]|[—–][ \t]|[ \t](?:est|c'est|devient|sera|reste)[ \t]*:?[ \t])[ \t]*"#;
    Loose "a password", ["mot de passe", "mdp"], r"(?i)(?:mot de passe|\bmdp)\b(?:[^\n:=?!]{1,60}?(?:[ \t]?:|\best)[ \t]+|[ \t]+)";
    Named "a password", ["contrase", "clave", "parola", "senha", "palavra", "passe", "codice", "segredo"], r#"(?i)(?:contrase(?:ñ|n\x{303}|n)as?|\bclave(?: de acceso| secreta)?|\bsenhas?|palavra[- ]passe|\bparol(?:a|ă|e)(?: d'ordine| chiave)?)["'`*]*[ \t]*(?:=>|[:=]|[—–][ \t]|[ \t](?:es|é|è|e|este|sigue siendo|diventa|era|ahora es)[ \t]*:?[ \t])[ \t]*"#;
    Loose "a password", ["contrase", "clave", "parola", "senha", "palavra"], r"(?i)(?:contrase(?:ñ|n\x{303}|n)a|\bclave|\bsenha|palavra[- ]passe|\bparol[aă])\b(?:[^\n:=?!]{1,60}?(?::|\bes|[ \t]é|[ \t]è|\beste)[ \t]+|[ \t]+)";
    Named "a password", ["wachtwoord", "paswoord"], r#"(?i)(?:wachtwoord|paswoord)["'`*]*[ \t]*(?:=>|[:=]|[—–][ \t]|[ \t](?:is|luidt|was|wordt)[ \t]*:?[ \t])[ \t]*"#;
    Loose "a password", ["wachtwoord"], r"(?i)wachtwoord\b(?:[^\n:=?!]{1,60}?(?::|\bis|\bluidt)[ \t]+|[ \t]+)";
    Named "a password", ["senord", "adgangskode", "passord", "kodeord", "salasana", "l\u{f6}senord", "lösen"], r#"(?i)(?:l(?:ö|o\x{308})senord|adgangskode|kodeord|passord|salasana|tunnussana)(?:et|en|n)?["'`*]*[ \t]*(?:=>|[:=]|[—–][ \t]|[ \t](?:är|er|on)[ \t]*:?[ \t])[ \t]*"#;
    Loose "a password", ["senord", "adgangskode", "passord", "kodeord", "salasana"], r"(?i)(?:l(?:ö|o\x{308})senord|adgangskode|kodeord|passord|salasana)(?:et|en|n)?\b(?:[^\n:=?!]{1,60}?(?::|\bär|\ber|\bon)[ \t]+|[ \t]+)";
    Named "a password", ["ароль", "АРОЛЬ", "аролата", "арола ", "аролу", "пароля", "кодовое слово", "ключ"], r#"(?i)(?:парол(?:ь|я|ем|а|ата|у)|кодовое слово)["'`*]*[ \t]*(?:=>|[:=]|[—–-][ \t]|[ \t](?:е|є|это|такой|теперь|был)[ \t]*:?[ \t])[ \t]*"#;
    Loose "a password", ["арол", "АРОЛ"], r"(?i)парол(?:ь|я|ем|а|ата|у)(?:[^\n:=?!]{1,60}?(?::|—|–|[ \t]-)[ \t]*|(?:[ \t]+[а-яёєіїґ]+){0,4}[ \t]+)";
    Named "a password", ["has\u{142}", "has\u{141}", "hasl", "heslo", "lozink", "zaporka", "slapta", "geslo"], r#"(?i)(?:has(?:ł|l)(?:o|em)|heslo|lozinka|zaporka|geslo|slaptažodis)["'`*]*[ \t]*(?:=>|[:=]|[—–-][ \t]|[ \t](?:to|jest|brzmi|je|yra)[ \t]*:?[ \t])[ \t]*"#;
    Loose "a password", ["has\u{142}", "has\u{141}", "heslo", "lozink"], r"(?i)(?:has(?:ł|l)(?:o|em)|heslo|lozinka)\b(?:[^\n:=?!]{1,60}?(?::|\bto|\bje)[ \t]+|[ \t]+)";
    Named "a password", ["ifre", "parola", "parolas", "jelsz", "salas"], r#"(?i)(?:[şs]ifre(?:si|niz|m|miz)?|parolas[ıi]|jelsz(?:ó|o|avunk|ava|avam))["'`*]*[ \t]*(?:=>|[:=]|[—–-][ \t]|[ \t](?:ez|a következő)[ \t]*:?[ \t]|[ \t])[ \t]*"#;
    Loose "a password", ["ifre", "parola", "jelsz"], r"(?i)(?:[şs]ifre(?:si)?|parolas[ıi]|jelsz(?:ó|ava))\b[^\n:=?!]{1,60}?:[ \t]+";
    Named "a password", ["ωδικ", "ΩΔΙΚ", "υνθηματικ", "κωδ"], r#"(?i)(?:κωδικ(?:ός|ό|ος|ού)(?: πρόσβασης)?|συνθηματικό)["'`*]*(?:[^\n:=?!]{0,40}?)(?:[:=]|[—–-][ \t]|[ \t]είναι[ \t]*:?[ \t])[ \t]*"#;
    Named "a password", ["كلمة", "رمز", "گذرواژه", "סיסמ", "كلمه"], r"(?:كلمة|كلمه|رمز)[ \t]*(?:ال)?(?:مرور|سر|عبور|دخول)(?:[^\n:=?!]{0,40}?)[ \t]*(?:[:=]|[ \t]هي[ \t]*:?|[ \t]هو[ \t]*:?|[ \t]است)[ \t]*|(?:سيسما|סיסמ(?:ה|א)|הסיסמה|گذرواژه)(?:[^\n:=?!]{0,40}?)[ \t]*(?:[:=]|[ \t]היא)?[ \t]+";
    Named "a password", ["كلمة", "رمز"], r"(?:كلمة|رمز)[ \t]*(?:ال)?(?:مرور|سر|عبور)[ \t]+";
    Named "a password", ["密码", "密碼", "口令", "通行碼", "通行码"], r#"(?:密码|密碼|口令|通行碼|通行码)[^\n:=：？。，a-zA-Z0-9]{0,12}?[ \t]*["'`*]*[:=：是为為成了 \t]+[:：]?[ \t]*"#;
    Mixed "a password", ["密码", "密碼", "口令"], "(?:密码|密碼|口令)([A-Za-z0-9][A-Za-z0-9!@#$%&*._+~-]{2,62}[A-Za-z0-9!@#$%&*])";
    Named "a password", ["パスワード", "暗証", "パスフレーズ", "合言葉"], r#"(?:パスワード|暗証番号|パスフレーズ|合言葉)[^\n:=：？。、a-zA-Z0-9]{0,12}?[ \t]*["'`*]*(?:[:=：はがをに]|[ \t])[ \t]*[:：]?[ \t]*"#;
    Named "a password", ["비밀번호", "암호", "패스워드", "비번"], r#"(?:비밀번호|암호|패스워드|비번)[^\n:=：？。a-zA-Z0-9]{0,12}?[ \t]*["'`*]*(?:[:=：는은가이를]|[ \t])[ \t]*[:：]?[ \t]*"#;
    Named "a password", ["mật khẩu", "kata sandi", "รหัสผ่าน", "पासवर्ड", "கடவு", "sandi"], r"(?i)(?:mật khẩu|kata sandi|รหัสผ่าน|पासवर्ड|கடவுச்சொல்)(?:[^\n:=?!a-zA-Z0-9]{0,20}?)[ \t]*(?:[ \t][^\n:=?!]{1,30}?[ \t]là|[:=]|[ \t]là|[ \t]adalah|คือ|है|[ \t])[ \t]*";
    Digits "a PIN", ["pin", "ПИН", "passcode", "geheimzahl", "暗証", "пин", "code", "combination", "código", "codice", "kod dost", "код доступа", "访问码", "アクセスコード"], r#"(?i)(?:(?:zugangs|zutritts|tür|toegangs|adgangs)-?codes?|code d'(?:accès|entrée)|código de acc?es+o|codice (?:d'|di )access?o|kod dostępu|код доступа|访问码|アクセスコード|\b(?:safe|lock|locker|vault|padlock)(?:'s)? combination|\bcombination (?:for|of|to) [^\n:=.]{1,30}?|\bpins?(?:[ -]?(?:code|number|nummer|kod|kode|koodi))?|passcode|geheimzahl|暗証番号|пин(?:-?код)?|(?:door|gate|alarm|entry|access|unlock|security|safe|lock|voicemail|garage|key ?pad|backup|recovery|verification) (?:pin|codes?)|\bcode (?:for|of|to) the (?:front |main |back )?(?:alarm|door|gate|safe|garage|lock|keypad|office|building|house|entrance)|\bcvv)["'`*]*(?:[ \t]+(?:for|of|to|für|de|del|da|van)[ \t][^\n:=?!.]{1,40}?)?[ \t]*(?:[:=]|\bto\b|\bis\b|\bist\b|\blautet\b|\best\b|\bes\b|\bé\b|\bè\b|—|–|は|是|为|→)[ \t]*"#;
    Loose "a password", ["code", "codice", "código", "key"], r"(?i)(?:\b(?:recovery|backup|access|unlock|rescue|emergency|toegangs|inlog|zugangs|accès)[ _-]?(?:codes?|keys?)|code d'accès|código de acceso|codice d'accesso)\b[^\n:=?!.]{0,40}?[ \t]*(?:[:=]|\b(?:is|are|ist|lautet|est|es)\b)[ \t]*";
    Loose "a password", ["p:"], r"(?i)\bu(?:ser(?:name)?)?:[ \t]*\S+[ \t,;/|]+p(?:ass)?:[ \t]*";
    Digits "a PIN", ["pin"], r"(?i)\bpin(?:[ -]?code)?[^\x00-\x7f]{1,6}[ \t]*";
    Mixed "a password", ["pass"], r"(?m)^[ \t]*[Pp]ass[ \t]+(\S{6,64})[ \t]*$";
    Digits "a PIN", ["pin", "пин", "ПИН", " code"], r"\b(?:PIN|[Mm]y pin|[Yy]our pin|[Cc]ard pin|(?i:pin code|pin-code|pincode|(?:door|gate|alarm|entry|safe|garage) (?:code|pin)|pin-?nummer|code pin|codice pin|kod pin|пин-?код))[ \t]+";
    Token "an API key or token", ["key", "secret", "token", "credential", "creds", "bearer"], r#"(?i)(?:(?:api|app|application|secret|access|auth|private|signing|encryption|cipher|crypto?|aes|wpa|wep|master|account|client|service|license|licence|deploy|webhook|admin|shared|write|ingest(?:ion)?|integration|routing|storage|server|session|host|project|root|consumer|subscription|functions?|instrumentation|maps?|rpc|hmac|jwt|data|stream|live|test|prod|staging|product|activation)[_ .-]?keys?|secrets?|tokens?|credentials?|creds|keypass|apikey)(?:[_-]?(?:value|base|v?\d|prod|dev|live|test|staging))?["'`*\])\\]*(?:[ \t]*\([^()\n]{1,40}\))?[ \t]*(?:=>|:=|->|→|[:=]|[—–][ \t]|\b(?:is|was|ist|lautet|est|es|é|è)\b)[ \t]*:?[ \t]*(?:[>|][+-]?[ \t]*\n[ \t]*)?"#;
    LooseToken "an API key or token", ["key", "secret", "token", "schlüssel", "clé", "clave", "chiave", "chave", "люч", "окен", "sleutel", "nyckel", "nøgle", "密钥", "密鑰", "令牌", "キー", "トークン", "토큰", "api 키", "api키", "인증키", "비밀키", "jeton", "pat ", "pat:", "pat="], r#"(?i)(?:密钥|密鑰|令牌|トークン|キー|토큰|키)[ \t]*["'`*]*[:=是为為は는은가]?[ \t]*|(?:\b|_)(?:[a-z]*(?:api|application|secret|access|auth|private|signing|master|service|license|deploy|webhook|admin|integration|ingest)[ _-]?keys?|secrets?|tokens?|api-?schlüssel|schlüssel|clé(?: d'api| api)?|clave(?: de api| api)?|chiave(?: api)?|chave(?: de api)?|jeton|(?:api-)?(?:ключ|sleutel|nyckel|nøgle)|токен|PATs?)\b(?:[ \t]*\([^()\n]{1,40}\)[ \t]*|[^\n?!:=]{0,60}?(?::|=|\b(?:is|ist|lautet|est|es|é|è)\b|—|→|->|は|是)[ \t]*|[ \t]+)"#;
    LooseToken "an API key or token", ["key", "token", "appid"], r#"(?i)\b(?:datadog|cloudflare|algolia|cohere|mistral|deepgram|assemblyai|stripe|twilio|openai|anthropic|zendesk|intercom|auth0|okta|box|hetzner|linode|railway|vercel|netlify|fastly|pagerduty|opsgenie|honeycomb|mongodb|atlas|elastic|snowflake|jira|confluence|asana|trello|linkedin|twitter|facebook|shodan|newrelic|rollbar|bugsnag|segment|mixpanel|amplitude|sonar|jenkins|travis|circleci|gitea|forgejo|codeberg|grafana|vultr|ovh|scaleway|hubspot|pipedrive|freshdesk|weather|openweather|maps)\b[^\n]{0,20}?\b(?:key|token|secret|pat|appid)\b[^\n]{0,20}?[\s"'`(]"#;
    Token "a piece of a key", ["part", "half", "piece", "chunk", "frag", "first", "second"], r#"(?i)\b(?:[A-Za-z0-9_]*(?:token|key|secret|pass(?:word)?|pwd|credential)[A-Za-z0-9_]*(?:part|half|piece|chunk|frag|segment)[A-Za-z0-9_]*|[A-Za-z0-9_]*(?:part|half|piece|chunk|frag|segment|first|second)[A-Za-z0-9_]*(?:token|key|secret|password|credential)[A-Za-z0-9_]*)["']?[ \t]*(?:=>|:=|[:=])[ \t]*"#;
    Named "a password", ["p a s s", "p.a.s.s", "p-a-s-s"], r"(?i)\bp[ .-]a[ .-]s[ .-]s[ .-]w[ .-]o[ .-]r[ .-]d[ \t]*(?:[:=]|[ \t]is[ \t])[ \t]*";
}
