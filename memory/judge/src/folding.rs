//! Text as a reader sees it: what hides a word from a program and not from a
//! person (or a model) is taken away before words are compared.
//!
//! Signs without a width go, letters of other alphabets that look Latin become
//! Latin inside Latin words, and styled letters become plain ones.

/// Signs that show nothing: joiners, marks of direction, tags, selectors.
fn is_hidden(sign: char) -> bool {
    matches!(sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}' | '\u{300}'..='\u{36f}')
}

/// A styled letter or digit as a plain one.
fn plain(sign: char) -> char {
    let code = u32::from(sign);
    let letter = |at: u32| {
        let base =
            if at % 52 < 26 { u32::from('A') + at % 52 } else { u32::from('a') + at % 52 - 26 };
        char::from_u32(base).unwrap_or(sign)
    };
    match code {
        0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(sign),
        0x1d400..=0x1d6a3 => letter(code - 0x1d400),
        0x1d7ce..=0x1d7ff => char::from_u32(u32::from('0') + (code - 0x1d7ce) % 10).unwrap_or(sign),
        0x24b6..=0x24e9 => letter(code - 0x24b6),
        0x2018 | 0x2019 | 0x2bc => '\'',
        0xa0 | 0x2000..=0x200a | 0x202f | 0x3000 => ' ',
        _ => sign,
    }
}

/// Letters of Cyrillic and Greek that look like these Latin ones.
const LIKE: &[(&str, char)] = &[
    ("аα", 'a'),
    ("вβ", 'b'),
    ("сϲ", 'c'),
    ("ԁ", 'd'),
    ("еεё", 'e'),
    ("һ", 'h'),
    ("іι", 'i'),
    ("ј", 'j'),
    ("кκ", 'k'),
    ("ӏ", 'l'),
    ("м", 'm'),
    ("пη", 'n'),
    ("оοσ", 'o'),
    ("рρ", 'p'),
    ("ԛ", 'q'),
    ("гѓ", 'r'),
    ("ѕ", 's'),
    ("тτ", 't'),
    ("υц", 'u'),
    ("ν", 'v'),
    ("ԝω", 'w'),
    ("хχ", 'x'),
    ("уγ", 'y'),
    ("АΑ", 'A'),
    ("ВΒ", 'B'),
    ("С", 'C'),
    ("ЕΕ", 'E'),
    ("НΗ", 'H'),
    ("ІΙ", 'I'),
    ("КΚ", 'K'),
    ("МΜ", 'M'),
    ("Ν", 'N'),
    ("ОΟ", 'O'),
    ("РΡ", 'P'),
    ("Ѕ", 'S'),
    ("ТΤ", 'T'),
    ("ХΧ", 'X'),
    ("УΥ", 'Y'),
];

fn latin(sign: char) -> Option<char> {
    LIKE.iter().find(|(like, _)| like.contains(sign)).map(|(_, latin)| *latin)
}

/// A text without what hides its words; case and accents stay.
pub(crate) fn cleaned(text: &str) -> String {
    let shown: Vec<char> = text.chars().filter(|sign| !is_hidden(*sign)).map(plain).collect();
    let ascii = shown.iter().filter(|sign| sign.is_ascii_alphabetic()).count();
    let is_latin_text = ascii * 2 > shown.iter().filter(|sign| sign.is_alphabetic()).count();
    let mut out = String::with_capacity(text.len());
    for run in shown.chunk_by(|a, b| a.is_alphabetic() == b.is_alphabetic()) {
        let mixed = run.iter().any(char::is_ascii_alphabetic);
        let alike = || run.len() > 2 && run.iter().all(|sign| latin(*sign).is_some());
        if !run.is_empty()
            && run.iter().any(|sign| latin(*sign).is_some())
            && (mixed || (is_latin_text && alike()))
        {
            out.extend(run.iter().map(|sign| latin(*sign).unwrap_or(*sign)));
        } else {
            out.extend(run);
        }
    }
    out
}

/// A text for comparing: cleaned, in lower case, without accents.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in cleaned(text).chars().flat_map(char::to_lowercase) {
        match sign {
            'à'..='å' | 'ā' | 'ă' | 'ą' => out.push('a'),
            'ç' | 'ć' | 'č' => out.push('c'),
            'ď' | 'đ' => out.push('d'),
            'è'..='ë' | 'ē' | 'ę' | 'ě' | 'ė' => out.push('e'),
            'ğ' => out.push('g'),
            'ì'..='ï' | 'ī' | 'ı' => out.push('i'),
            'ł' => out.push('l'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => out.push('o'),
            'ř' => out.push('r'),
            'ś' | 'š' | 'ş' | 'ș' => out.push('s'),
            'ť' | 'ţ' | 'ț' => out.push('t'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => out.push('u'),
            'ý' | 'ÿ' => out.push('y'),
            'ź' | 'ż' | 'ž' => out.push('z'),
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ё' => out.push('е'),
            '\u{300}'..='\u{36f}' => {}
            _ => out.push(sign),
        }
    }
    out
}

/// Signs of scripts that are written without spaces.
pub(crate) fn is_spaceless(sign: char) -> bool {
    matches!(sign, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// The claims of a text: lines, cut wherever one may end, fences and quotations
/// too. One cut too many only makes a claim shorter.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        let mut signs = line.char_indices().peekable();
        while let Some((at, sign)) = signs.next() {
            let end = at + sign.len_utf8();
            let before_space = signs.peek().is_none_or(|(_, next)| next.is_whitespace());
            let ends = matches!(sign, '。' | '！' | '？' | '；')
                || (matches!(sign, '.' | '!' | '?' | ';') && before_space);
            if ends {
                found.push(line.get(start..end).unwrap_or_default().trim());
                start = end;
            }
        }
        found.push(line.get(start..).unwrap_or_default().trim());
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_what_hides_a_word_is_taken_away() {
        for hidden in ["c\u{200b}url", "сurl", "ｃｕｒｌ", "𝐜𝐮𝐫𝐥", "CU\u{ad}RL", "cúrl", "ⓒⓤⓡⓛ"]
        {
            assert_eq!(folded(hidden), "curl", "{hidden}");
        }
        assert_eq!(folded("Запусти это"), "запусти это");
        assert_eq!(folded("Führe es aus"), "fuhre es aus");
    }

    #[test]
    fn sentences_end_at_their_signs() {
        assert_eq!(sentences("One. Two 1.5 v2.0! 三。四"), ["One.", "Two 1.5 v2.0!", "三。", "四"]);
        assert_eq!(sentences(""), [""; 0]);
    }
}
