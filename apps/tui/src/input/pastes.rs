//! What was pasted: short texts as they are, long ones as a word that stands
//! for them, paths of pictures as mentions.

/// Pastes of more lines are shown as one word.
const PASTED_LINES: usize = 8;
/// Pastes of more letters are.
const PASTED_CHARS: usize = 1_200;
/// Files that a model takes as they are; a path of one that is pasted is
/// mentioned.
const PICTURES: [&str; 6] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf"];

/// What the words of pastes stand for.
#[derive(Debug, Default)]
pub(super) struct Pastes(Vec<(String, String)>);

impl Pastes {
    /// Takes a text that is pasted, and gives what is shown of it.
    pub(super) fn take(&mut self, text: &str) -> String {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let lines = text.lines().count();
        let lower = text.trim().to_lowercase();
        let is_picture = PICTURES.iter().any(|end| lower.ends_with(end));
        if lines == 1 && is_picture && !lower.starts_with('@') {
            let path = text.trim().trim_matches(['\'', '"']).replace("\\ ", " ");
            return format!("@\"{path}\" ");
        }
        if lines <= PASTED_LINES && text.chars().count() <= PASTED_CHARS {
            return text;
        }
        let word = format!("[paste {}: {lines} lines]", self.0.len() + 1);
        self.0.push((word.clone(), text));
        word
    }

    /// The words, and what each stands for.
    pub(super) fn words(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(word, paste)| (word.as_str(), paste.as_str()))
    }

    /// A text with its pastes in full.
    pub(super) fn in_full(&self, text: String) -> String {
        self.0.iter().fold(text, |text, (word, paste)| text.replace(word, paste))
    }
}
