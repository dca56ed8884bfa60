//! The body of a skill with its arguments put in.
//!
//! `$ARGUMENTS` is all of them, `$ARGUMENTS[N]` and `$N` one of them, `$name`
//! one that `arguments` names, `${CLAUDE_SKILL_DIR}` the folder. Where the body
//! asks for none and some were given, they are put at its end. `` !`command` ``
//! stands for what a command prints; running it is for others.

use crate::skill::Skill;

/// A piece of a filled body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyPart {
    Text(String),
    /// The output of this command.
    Command(String),
}

impl Skill {
    /// The body with its arguments put in, in one pass: an argument that
    /// looks like a hole is not filled again.
    #[must_use]
    pub fn filled(&self, given: &str) -> String {
        let given = given.trim();
        let words: Vec<&str> = given.split_whitespace().collect();
        let folder = self.path.parent().map(|dir| dir.display().to_string()).unwrap_or_default();
        let word = |index: usize| words.get(index).copied().unwrap_or_default();
        let mut out = String::with_capacity(self.body.len() + given.len());
        let mut used = false;
        let mut rest = self.body.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            rest = after;
            if let Some(tail) = after.strip_prefix("{CLAUDE_SKILL_DIR}") {
                out.push_str(&folder);
                rest = tail;
            } else if let Some(tail) = after.strip_prefix("ARGUMENTS") {
                let index = tail.strip_prefix('[').and_then(|tail| tail.split_once(']'));
                let index = index.and_then(|(n, tail)| Some((n.parse().ok()?, tail)));
                let (value, tail) = index.map_or((given, tail), |(n, tail)| (word(n), tail));
                out.push_str(value);
                rest = tail;
                used = true;
            } else if let Some((index, tail)) = self.hole(after) {
                out.push_str(word(index));
                rest = tail;
                used = true;
            } else {
                out.push('$');
            }
        }
        out.push_str(rest);
        if !used && !given.is_empty() {
            out.push_str("\n\nARGUMENTS: ");
            out.push_str(given);
        }
        out
    }

    /// The argument that a `$` stands for by number or name, and what follows.
    fn hole<'a>(&self, after: &'a str) -> Option<(usize, &'a str)> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = after.find(|c: char| !is_part(c)).unwrap_or(after.len());
        let (name, tail) = after.split_at_checked(end)?;
        if let Some(index) = self.arguments.iter().position(|own| own == name) {
            return Some((index, tail));
        }
        let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, _) = name.split_at_checked(digits)?;
        // `$100` is money, and `$0` to `$9` are arguments.
        (digits == 1).then(|| number.parse().ok())?.map(|index| (index, after.split_at(1).1))
    }
}

/// A filled body, cut at its commands.
#[must_use]
pub fn parts(body: &str) -> Vec<BodyPart> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once("!`") {
        let Some((command, tail)) = after.split_once('`') else { break };
        parts.push(BodyPart::Text(before.to_owned()));
        parts.push(BodyPart::Command(command.to_owned()));
        rest = tail;
    }
    parts.push(BodyPart::Text(rest.to_owned()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::{Form, SkillOrigin};

    fn filled(body: &str, given: &str) -> String {
        let text = format!("---\nname: x\ndescription: d\narguments: file kind\n---\n{body}");
        Skill::read(&text, "x", "/s/x/SKILL.md".into(), SkillOrigin::Own, Form::Folder)
            .filled(given)
    }

    #[test]
    fn q5_arguments_are_put_in() {
        assert_eq!(filled("Do $ARGUMENTS now", "a b"), "Do a b now");
        assert_eq!(filled("$ARGUMENTS[1]-$0-$1-$5.", "a b"), "b-a-b-.");
        assert_eq!(
            filled("$file as $kind, $filet, $100", "a.rs fast"),
            "a.rs as fast, $filet, $100"
        );
        assert_eq!(filled("${CLAUDE_SKILL_DIR}/run.sh", ""), "/s/x/run.sh");
        assert_eq!(filled("Plain", "a"), "Plain\n\nARGUMENTS: a");
        assert_eq!(filled("$ARGUMENTS", "$0 $ARGUMENTS"), "$0 $ARGUMENTS");
        assert_eq!(filled("costs $ and $", ""), "costs $ and $");
    }

    #[test]
    fn q5_commands_are_found() {
        assert_eq!(
            parts("at !`date`!"),
            [
                BodyPart::Text("at ".into()),
                BodyPart::Command("date".into()),
                BodyPart::Text("!".into())
            ]
        );
        assert_eq!(parts("open !`never"), [BodyPart::Text("open !`never".into())]);
    }
}
