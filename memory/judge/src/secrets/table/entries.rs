//! Entries of configurations, and codes and phrases that stand under a name.

super::patterns! { RULES:
    Certain "a signature of a request", ["signature=", "digest "], r#"(?i)(?:credential=\S{20,}[^\n]{0,200}?signature=|authorization["']?:[ \t]*["']?digest[ \t][^\n]{0,400}?\bresponse=)["']?([0-9a-f]{32,128})\b"#;
    Certain "an address that nobody else has", ["/private-"], r"/private-([0-9a-f]{20,})\b";
    Certain "a time-based code's secret", ["otpauth-migration://"], r"(?i)otpauth-migration://offline\?data=([A-Za-z0-9%+/=_-]{20,})";
    Certain "a time-based code's secret", ["totp", "2fa", "mfa", "authenticator", "two-factor", "otp"], r"(?i)(?:totp|2fa|mfa|authenticator|two-factor|otp)[ _-]*(?:setup|backup|manual|entry|recovery)?[ _-]*(?:secret|seed|key|code)[^\n]{0,16}?[:=\s][ \t]*((?-i:(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4})|(?-i:[A-Z2-7]{16,64}))\b";
    Certain "a seed phrase", ["bip39", "bip-39", "mnemonic", "12 words", "24 words", "seed phrase", "seed words", "secret phrase", "wörter", "palabras", "mots"], r#"(?i)(?:bip-?39(?: seed)?|mnemonic|(?:12|24) (?:words|wörter|palabras|mots)|(?:seed|secret|recovery) (?:phrase|words))[^\n:=]{0,24}?(?:[:=]|\bis\b|->|[ \t])\s*["'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"#;
    Chosen "an answer to a security question", ["security question", "security answer", "maiden name", "sicherheitsfrage", "question secr", "pregunta de seguridad"], r#"(?i)(?:security (?:question|answer)|maiden name|sicherheitsfrage|question secrète|pregunta de seguridad)[^\n]{0,60}?(?:[=:]|\b(?:is|ist|est|es)\b)[ \t]*["'`]?([A-Za-z]{4,30})["'`]?(?:[.,;]?[ \t]*(?:\n|$))"#;
    Certain "a key of a cipher", ["key="], r"(?i)\b(?:iv|aes|cipher|encrypt\w*|hmac|nonce)\b[^\n]{0,80}?\bkey=([0-9a-f]{32,64})\b";
    Certain "a sealed password of Maven", ["<master>", "<password>"], r"<(?:master|password|passphrase)>\s*(\{[A-Za-z0-9+/]{24,}={0,2}\})\s*<";
    LooseToken "a key in a configuration", ["api_hash", "app_certificate", "hash_salt", "pepper"], r#"(?i)(?:api_hash|app_certificate|hash_salt|pepper)["'\]]*[ \t]*(?:=>|[=:])[ \t]*"#;
    LooseToken "a key in a configuration", ["crypt", "cipher", "jwt"], r#"(?i)(?:crypt|cipher|encryption|jwt)["']?[ \t]*(?:=>|[:=])[ \t]*[\[{(][ \t]*["']?key["']?[ \t]*(?:=>|[:=])[ \t]*"#;
    Chosen "a password in a configuration", ["['password']", "[\"password\"]"], r#"\[["']password["']\]\[["'][A-Za-z0-9_-]{1,40}["']\][ \t]*=[ \t]*["']([^"'\n]{4,64})["']"#;
    Chosen "a password in a configuration", ["client "], r"\bclient[ \t]+\S{1,60}[ \t]*\{[^}]{0,200}?\bsecret[ \t]*=[ \t]*([^\s}]{4,64})";
    Chosen "a community of a network", ["rocommunity", "rwcommunity"], r"\br[ow]community6?[ \t]+(\S{4,64})";
    Chosen "a password in a configuration", ["<auth-user-pass>"], r"<auth-user-pass>\s*\S{1,64}\s+(\S{4,64})\s*</auth-user-pass>";
    Chosen "a login", ["user"], r#"(?im)(?:^|[\n:])[ \t]*(?:proxy-)?user[ \t]*[=:]?[ \t]*"[A-Za-z0-9_.@-]{2,40}:([^"\n:]{4,64})""#;
    Chosen "a Wi-Fi password", ["wlan", "wifi", "wi-fi", "wpa", "wep"], r#"(?i)\b(?:wlan|wi-?fi|wpa[23]?|wep)[- ]?(?:schlüssel|key|code|clé|psk)["'`*]*[ \t]*(?:[:=]|\b(?:is|ist|lautet|est)\b)[ \t]*["'`]?([A-Za-z0-9!@#$%&*_-]{8,63})\b"#;
    Chosen "a password in a configuration", ["value"], r#"(?i)(?:password|passwd|pwd)["']?[ \t]+value[ \t]*=[ \t]*["']([^"'\n]{4,64})["']"#;
    Worded "a password in a connection string", ["@"], r#"(?:^|[\s"'`=(])[\w$]{2,30}/([^\s@/"']{6,64})@(?://)?[\w.-]+[:/]"#;
    Worded "a password in code", ["convertto-securestring"], r#"(?i)["']([^"'\n]{6,64})["'][ \t]*\|[ \t]*convertto-securestring"#;
}
