//! Issuers whose keys begin with a short name of their own.

super::patterns! { RULES:
    Random "an issued key", ["p8e-", "aio_", "lip_", "unkey_", "retool_", "esecret_", "testsk_", "livesk_", "apify_api_", "ptr_", "mdb_sa_sk_", "csb_v1_", "dtn_", "plane_api_", "n8n_api_", "ol_api_", "polar_oat_", "dub_", "y0_", "ory_", "sm_pat_", "sm_aat_", "sm_sat_", "rdme_", "tok_", "patsk_"], r"\b((?:p8e-|aio_|lip_|unkey_|retool_|esecret_|testsk_|livesk_|apify_api_|ptr_|mdb_sa_sk_|csb_v1_|dtn_|plane_api_|n8n_api_|ol_api_|polar_oat_|dub_|y0__?|ory_(?:pat|at|rt)_|sm_[aps]at_|sm_pat_|rdme_|tok_|patsk_)[A-Za-z0-9_=-]{16,})";
    Random "an issued key", ["dnkey-", "s-s4t2", "rootly_", "cu_", "zpka_", "signkey-"], r"\b(dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}|s-s4t2(?:ud|af)-[a-f0-9]{64}|rootly_[a-f0-9]{64}|cu_[a-f0-9]{32}|zpka_[a-z0-9]{32}_[a-z0-9]{8}|signkey-[a-z]+-[a-f0-9]{32,})";
    Random "an issued key", ["waka_", "xaat-", "xapt-", "xait-", "sk-", "rsk-", "secret-live-", "secret-test-"], r"\b((?:waka_(?:tok_|ref_|sec_)?|xa[api]t-|r?sk-|secret-(?:live|test)-)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|secret-(?:live|test)-[A-Za-z0-9_-]{36}=?)";
    Random "a MaxMind key", ["_mmk"], r"\b([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)\b";
    Random "an Azure key", ["+ast", "acdb", "+aba", "+amc", "azeg", "+asb", "+aeh", "aiot", "+arm", "azca", "azse", "+acr"], r"(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{33,80}(?:\+ASt|ACDb|\+ABa|\+AMC|AZEG|\+ASb|\+AEh|AIoT|\+ARm|AzCa|AzSe|\+ACR)[A-Za-z0-9+/]{4,10}={0,2})";
    Certain "a sealed token", [".local."], r"\b(v[1-4]\.local\.[A-Za-z0-9_-]{40,})";
    Certain "a New Relic key", ["nral"], r"\b([a-f0-9]{32,36}NRAL)\b";
    Certain "a key of a key set", ["\"oct\""], r#""kty"\s*:\s*"oct"[^}]{0,200}?"k"\s*:\s*"([A-Za-z0-9_-]{20,})"|"k"\s*:\s*"([A-Za-z0-9_-]{20,})"[^}]{0,200}?"kty"\s*:\s*"oct""#;
    Certain "a wallet key", ["keypair", "solana", "secret"], r"(\[(?:\s*\d{1,3}\s*,){31}(?:(?:\s*\d{1,3}\s*,){32})?\s*\d{1,3}\s*\])";
    Random "a wallet key", ["wif", "btc", "bitcoin"], r"\b([5KL][1-9A-HJ-NP-Za-km-z]{49,51})\b";
    Certain "a licence key", ["key", "licen", "lizenz", "serial", "activation", "recovery", "product", "unlock"], r"(?i)(?:key|licen[sc]e|lizenz\w*|serial|activation|recovery|product|unlock)[^\n]{0,40}?[\s:=`](?-i:((?:[A-Z0-9]{4,8}-){3,9}[A-Z0-9]{4,8}))\b";
    Random "a licence key", ["licen", "lizenz"], r"(?i)(?:licen[sc]e|lizenz)[^\n]{0,20}?[\s:=`](?-i:((?:[A-Z0-9]{5,8} ){3,9}[A-Z0-9]{5,8}))\b";
    LooseToken "a licence key", ["licen", "lizenz"], r"(?i)(?:licen[sc]e|lizenz)(?:[_ -]?(?:key|code|schlüssel))?[ \t]*(?:->|=>|:|=|\bis\b)[ \t]*";
    Certain "a NuGet key", ["<apikeys>"], r#"(?i)<apikeys>[^<]{0,40}<add[^>]{0,200}?value="([^"\n]{20,})""#;
    Certain "a webhook", ["/bot/v2/hook/", "/webhook/send?key="], r"(?:/bot/v2/hook/|/webhook/send\?key=)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})";
    Certain "a DeepL key", [":fx"], r"\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:fx)\b";
    Random "a Vultr key", ["vultr"], r"(?i)vultr[^\n]{0,20}?(?-i:\b([A-Z0-9]{36}))\b";
}
