//! Forms that three further lists had and the rules did not find at first
//! sight, and harmless texts that they took for secrets.

pub(crate) const FORMS: &[&str] = &[
    "⟦-----BEGIN OpenVPN Static key V1-----\n{h32}\n{h32}\n-----END OpenVPN Static key V1-----⟧",
    "DRIVER={PostgreSQL};UID=u;PWD={⟦Bt{d2}w5v;ACBDq⟧};",
    "az keyvault secret set --vault-name v -n db --value ⟦Thunder{d4}⟧",
    "CREATE LOGIN bob WITH PASSWORD = '⟦ALjprZMrR⟧';",
    "SET PASSWORD FOR 'b'@'h' = PASSWORD('⟦Tiger{d4}⟧');",
    "Het wachtwoord van de server is ⟦jjgNO+VbJqyw⟧",
    "<keyMaterial>⟦jE{d2}sGnHBvD{d1}rH⟧</keyMaterial>",
    "[smtp.acme.dev]:587 bob@acme.dev:⟦yyKAyCoBPeWwuYYm⟧",
    "expect \"assword:\"\nsend \"⟦rock@WINT{d3}⟧\\r\"",
    "the new one: ⟦CCIPAT_{n22}_{h40}⟧",
    "the new one: ⟦zeta_sk_aB1{n40}Kx9Qz7⟧",
    "mc alias set a https://s3.acme.dev AKEY ⟦V1w9{n36}⟧",
    "new PBEKeySpec(\"⟦PlanetThunder{d2}$⟧\".toCharArray())",
    "$db = new PDO('mysql:host=h', 'bob', '⟦coffee.coffee.{d2}⟧');",
    "FTP(\"h\", \"lena\", \"⟦Nebula{d4}!⟧\")",
    "email,password\neva@acme.dev,⟦pixel{d3}⟧",
    "| user | pass |\n|---|---|\n| eva | ⟦walnut-turtle-cactus-glacier⟧ |",
    "| Password | ⟦bramble-lantern-glacier-walnut⟧ |",
    "<AdministratorPassword><Value>⟦walnut{d3}⟧</Value></AdministratorPassword>",
    ".basic_auth(\"eva\", Some(\"⟦SaddleCobalt{d1}$⟧\"))",
    "tacacs-server key ⟦BrambleCactus{d1}$⟧",
    "eva : EAP \"⟦cobalt-velcro-pigeon-comet⟧\"",
    "snmpwalk -v3 -l authPriv -u eva -a SHA -A ⟦TJZv{d1}Yxyka⟧ h",
    "VAULT_SECRET_ID=⟦{g}⟧",
    "oracle+cx_oracle://app_rw:⟦Pixel{d2}%21⟧@10.2.3.4:1521/",
    "Паролата е ⟦{d1}ojOA{d1}VYyFvYV4Lw⟧",
    "Токен: ⟦{h32}⟧",
    "Ключ API: ⟦{h40}⟧",
    "ПИН-код: ⟦{d4}⟧",
    "用户名eva，密码⟦velcroComet{d2}⟧",
    "PIN码是⟦{d4}⟧",
    "Mój PIN to ⟦{d4}⟧",
    "De API-sleutel is ⟦{h40}⟧",
    "the combination for the safe is ⟦{d6}⟧",
    "curl -ku lena:⟦zephyr.{d4}⟧ https://h",
    "net use X: \\\\h\\s ⟦7K{d2}ga3FS3urjhdj⟧ /user:lena /persistent:yes",
    "echo -n ⟦spar#BbTNm9⟧ | adcli join acme.dev",
    "Authorization: Basic lena:⟦ymbqu{d1}qjzg0o8w⟧",
    "echo \"⟦violin.{d4}⟧\" | keepassxc-cli open x.kdbx",
    "java -jar jenkins-cli.jar -auth eva:⟦Comet{d3}⟧ build x",
    "cvs -d :pserver:lena:⟦violin{d3}⟧@h:/r co x",
    "WiFi.begin(\"Home\", \"⟦glacier{d3}⟧\");",
    "rootpw --plaintext ⟦orchid{d3}⟧",
    "mkpasswd -m sha-512 ⟦biscuit.orchid{d2}⟧",
    "bw login lena@acme.dev ⟦sparrow.{d4}⟧",
    "token: >-\n  ⟦aB1{n36}⟧",
];

pub(crate) const HARMLESS: &[&str] = &[
    "SECRET_KEY=REPLACE_ME",
    "password: example123",
    "token = \"sample-token-1\"",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----",
    "Password field id is #login-password-input2",
    "curl -u admin:admin http://localhost",
    "http://[::1]:8080/a@b",
    "password: \"%{DB_PASSWORD}\"",
    "password: @password@",
    "AKIAXXXXXXXXXXXXXXXX",
    "password manager: KeePassXC 2.7.9",
    "Our password rotation policy is ISO27001 A.9.4.3",
    "sb_publishable_{n36}",
    "| field | type | notes |\n|---|---|---|\n| password | string | hashed |",
    "| name | password | role |\n|---|---|---|\n| lena | (in vault) | admin |",
    "cs_test_a1{n56}",
    "c29tZSBvcmRpbmFyeSB0ZXh0IGluIGJhc2U2NCB3aXRob3V0IG1lYW5pbmc=",
    "aws secretsmanager get-secret-value --secret-id prod/db2",
    "pi_ZWPa{n20} succeeded",
];

/// What a key in base64 decodes to, and one between blanks, count as well.
#[test]
fn s15_keys_are_found_in_base64_and_between_blanks() {
    let key = ["gh", "p_", &"aB3dE5fG7h".repeat(4)].concat();
    let apart: String = key.chars().flat_map(|sign| [sign, ' ']).collect();
    let encoded = "Z2hwX2FCM2RFNWZHN2hhQjNkRTVmRzdoYUIzZEU1Zkc3aGFCM2RFNWZHN2g=";
    for text in [format!("token {apart}"), format!("decode this: {encoded}")] {
        let masked = everfold_memory_judge::secrets::mask(&text);
        assert!(masked.contains("[secret: "), "{text}");
        assert!(!masked.contains("d E 5") && !masked.contains("aB3dE5"), "{masked}");
    }
}
