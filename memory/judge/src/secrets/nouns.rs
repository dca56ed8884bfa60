//! What a password is called, in the languages of R15: the nouns that every
//! look for one goes by, in the letters that all their forms share.
//!
//! Each look has nouns of its own besides: those that are words of something
//! else as well, and are told from it there.

/// A list of nouns: these, and those of one look.
macro_rules! with_nouns {
    ($($own:literal),+ $(,)?) => {
        &[
            "pass phrase",
            "kennwort",
            "contrase",
            "wachtwoord",
            "paswoord",
            "senord",
            "adgangskode",
            "kodeord",
            "passord",
            "salasana",
            "ifre",
            "slaptaž",
            "pasahitz",
            "mật khẩu",
            "арол",
            "ωδικ",
            "סיסמ",
            "पासवर्ड",
            "পাসওয়ার্ড",
            "密码",
            "密碼",
            "口令",
            "パスワード",
            "비밀번호",
            "암호",
            "비번",
            "pwd",
            "mdp",
            "clave",
            "senha",
            "parol",
            "parool",
            "heslo",
            "lozink",
            "geslo",
            "jelsz",
            $($own),+
        ]
    };
}
pub(super) use with_nouns;
