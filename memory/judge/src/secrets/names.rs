//! What is called so by its trade, and is no password: algorithms, versions,
//! tickets, machines and what people count.

use super::proof::is_all_digits;

/// `argon2id`, `sha256-hashed`, `v1.2.3`, `OPS-1234`, `2026-03-05`, `utf8mb4`.
pub(super) fn is_technical(word: &str) -> bool {
    const NAMES: &str = "\
        argon argonid argoni bcrypt scrypt pbkdf sha md aes rsa hmac utf utfmb base oauth x \
        tls ssl v http pkcs ed blake blakeb blakes fa ks s ec ipv uint int float u i f str \
        varchar es rs hs ps p level step version part field col column page line section \
        chapter option phase day week q h n k m vault rfc issue pr ticket uintarray aesgcm \
        aescbc hsm pgp ln ian ay saml openid secp secpr secpk curve chacha poly chachapoly \
        xchachapoly iso nist soc cve cwe din crc ntlmv ntlm scramsha password shasum mdsum bsum st nd rd th";
    let mut parts =
        word.split(['-', '_', '/', '.', '+', '(', ')', ',']).filter(|part| !part.is_empty());
    let name: String = parts
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_alphabetic())
        .collect::<String>()
        .to_lowercase();
    let short_rest = parts.clone().all(|part| {
        part.chars().all(char::is_alphabetic) || part.len() <= 4 && is_all_digits(part)
    });
    let is_name = (NAMES.split_ascii_whitespace().any(|technical| technical == name)
        && name != "password"
        || word.eq_ignore_ascii_case("1password"))
        && short_rest;
    let is_ticket = word.split_once('-').is_some_and(|(project, number)| {
        project.len() >= 2
            && project.bytes().all(|b| b.is_ascii_uppercase())
            && number.len() <= 6
            && is_all_digits(number)
    });
    let is_numbers =
        word.trim_start_matches('v').split(['.', '-', '/', ':', ',', 'T', '_']).all(is_all_digits)
            && word.contains(['.', '-', '/', ':', ',']);
    is_name || is_ticket || is_numbers || is_version(word)
}

fn is_version(word: &str) -> bool {
    let mut parts = word.trim_start_matches(['v', '^', '~', '=', '>', '<']).split('.');
    parts.next().is_some_and(is_all_digits) && parts.next().is_some_and(is_all_digits)
}

/// `id_user2`, `#login-password2`.
pub(super) fn is_snake_case(word: &str) -> bool {
    let selector = word.strip_prefix('#').filter(|name| name.contains('-'));
    let (name, sign) = selector.map_or((word, '_'), |name| (name, '-'));
    name.contains(sign) && name.split(sign).all(|part| part.len() <= 14 && is_word(part))
}

/// `replica`, `east1`, `db12`.
pub(super) fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    part.len() <= 14
        && part.len() - letters.len() <= 2
        && !letters.is_empty()
        && letters.bytes().all(|b| b.is_ascii_lowercase())
}

/// A number behind what says that it is computed: `the checksum of … is …`.
pub(super) fn is_digest(head: &str, word: &str) -> bool {
    const NAMES: &str = "\
        checksum digest sha sha1 sha256 sha384 sha512 md5 fingerprint thumbprint etag integrity commit";
    let line = head.get(head.floor_char_boundary(head.len().saturating_sub(80))..);
    let line = line.unwrap_or_default().rsplit('\n').next().unwrap_or_default().to_lowercase();
    matches!(word.len(), 32 | 40 | 56 | 64 | 96 | 128)
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && line
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|part| NAMES.split_ascii_whitespace().any(|name| name == part))
}

/// What is called so, and counted.
pub(super) fn is_of_machines(part: &str) -> bool {
    const NAMES: &str = "\
        server srv host web node vm box cluster prod production staging stage dev test testing \
        backup db database app api user admin root guest account team group room floor line page \
        port issue ticket pull sprint release version rev build step phase task case rule chapter \
        section table figure fig appendix example sample version item slot disk drive raid switch \
        router gateway firewall proxy cache worker runner pool queue topic shard replica primary \
        windows win office iphone ipad pixel galaxy android ubuntu debian fedora centos rhel suse \
        python node nodejs java jdk openjdk dotnet postgres postgresql mysql mariadb oracle mongo \
        redis chrome firefox safari outlook exchange sharepoint macos ios esp raspberry fritzbox \
        keepass bitwarden onepassword opera edge visual studio vscode eclipse php laravel rails \
        spring django angular react vue typescript rust golang swift kotlin argon bcrypt scrypt \
        sha md aes rsa base utf latin iso rfc cve cwe nist owasp covid gpt claude llama gemini \
        january february march april may june july august september october november december \
        monday tuesday wednesday thursday friday saturday sunday week day month year quarter \
        keycloak okta github gitlab google cloudflare postfix nginx apache traefik grafana kibana jenkins \
        eth wlan tty com usb hdmi vlan cpu gpu ram ssd nvme min max len length chars minlength \
        maxlength password passwd passwort token secret pass key login";
    let lower = part.to_lowercase();
    NAMES.split_ascii_whitespace().any(|name| name == lower)
}

/// `Keycloak25`, `server04`: such a name, and at most three digits.
pub(super) fn is_numbered(word: &str) -> bool {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    (1..=3).contains(&(word.len() - name.len())) && is_of_machines(name)
}
