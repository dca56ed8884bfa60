//! Samples with generated parts, so that nothing here is or looks like a real
//! key to a reader or a scanner.
//!
//! In a template, `·` is nothing (it splits prefixes that scanners know),
//! `⟦…⟧` is the secret, and `{n36}` stands for 36 random signs: `n` letters and
//! digits, `l` lower-case ones, `h` hex, `u` capitals and digits, `d` digits,
//! `b` base64, `a` letters, `p` a password, `w` one of plain letters, `c` one
//! with a capital, `g` a UUID, `r` base64 as it stands in a URL.

/// A sample: what stands before, the secret, what stands after.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) before: String,
    pub(crate) secret: String,
    pub(crate) after: String,
}

impl Sample {
    pub(crate) fn text(&self) -> String {
        format!("{}{}{}", self.before, self.secret, self.after)
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        dice.below(2);
        dice
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn signs(&mut self, alphabet: &str, len: usize) -> String {
        let all: Vec<char> = alphabet.chars().collect();
        (0..len).map(|_| all[self.below(all.len())]).collect()
    }

    fn password(&mut self) -> String {
        let words =
            ["Falcon", "brücke", "Kestrel", "tundra", "Mosaic", "harbor", "Quartz", "velvet"];
        let word = words[self.below(words.len())].replace('ü', "u");
        let number = 10 + self.below(90);
        match self.below(6) {
            0 => format!("{word}{number}!"),
            1 => format!(
                "{}{}",
                self.signs("abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRST", 6),
                self.signs("23456789", 3)
            ),
            2 => format!("{word}-{number}-EXAMPLE"),
            3 => format!("{}#{}{number}", self.signs("abcdefgh", 4), self.signs("KLMNPQRS", 3)),
            4 => format!("{word}_{number}{}", self.signs("abcdefgh", 3)),
            _ => format!(
                "{}7{}",
                self.signs("abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRST23456789", 8),
                self.signs("xyz", 3)
            ),
        }
    }

    /// A password as people like them best: words, and nothing else.
    fn word(&mut self) -> String {
        let plain = ["sunflower", "blueberry", "dragonfly", "marmalade", "pineapple", "waterfall"];
        let odd = ["letmein", "qwertzui", "iloveyou", "zaphod", "gandalf", "opensesame"];
        let ends = ["", "", "moon", "garden", "tiger", "snow"];
        match self.below(4) {
            0 => odd[self.below(odd.len())].into(),
            1 => {
                let mut made = String::new();
                for _ in 0..3 + self.below(2) {
                    made += &self.signs("bdfgklmnprstvz", 1);
                    made += &self.signs("aeiou", 1);
                }
                made
            }
            _ => [plain[self.below(plain.len())], ends[self.below(ends.len())]].concat(),
        }
    }

    fn part(&mut self, what: &str) -> String {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let (kind, len) = what.split_at(1);
        let len = len.parse().unwrap_or(0);
        match kind {
            "n" => self.signs(&format!("{LOWER}{UPPER}"), len),
            "l" => self.signs(LOWER, len),
            "h" => self.signs("0123456789abcdef", len),
            "u" => self.signs(&format!("{UPPER}234567"), len),
            "d" => self.signs("123456789", len),
            "b" => self.signs(&format!("{LOWER}{UPPER}+/"), len),
            "r" => self.signs(&format!("{LOWER}{UPPER}0123456789-_"), len),
            "a" => self.signs("abcdefghijklmnopqrstuvwxyz", len),
            "p" => self.password(),
            "w" => self.word(),
            "c" => {
                let word = self.word();
                word[..1].to_uppercase() + &word[1..]
            }
            "g" => [8, 4, 4, 4, 12].map(|len| self.signs("0123456789abcdef", len)).join("-"),
            other => panic!("{other} in a template"),
        }
    }

    pub(crate) fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            let inner = &rest[at + 1..];
            let end = inner.find('}').unwrap_or(0);
            let what = &inner[..end];
            let is_part = what
                .starts_with(['n', 'l', 'h', 'u', 'd', 'b', 'a', 'p', 'w', 'c', 'g', 'r'])
                && what[1..].bytes().all(|b| b.is_ascii_digit());
            if is_part {
                text.push_str(&self.part(what));
                rest = &inner[end + 1..];
            } else {
                text.push('{');
                rest = inner;
            }
        }
        text.push_str(rest);
        text.replace('·', "")
    }

    /// The sample that a template describes.
    pub(crate) fn sample(&mut self, template: &str) -> Sample {
        let filled = self.fill(template);
        let (before, rest) =
            filled.split_once('⟦').unwrap_or_else(|| panic!("no secret in {template}"));
        let (secret, after) = rest.split_once('⟧').unwrap();
        Sample { before: before.into(), secret: secret.into(), after: after.into() }
    }
}
