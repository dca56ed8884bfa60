//! One skill.

use everfold_frontmatter::{Fence, fence};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Longest name.
const NAME_CHARS: usize = 64;

/// A skill, or a custom command.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// What it is called by.
    pub name: String,
    /// What it is for and when to use it, in one line.
    pub description: String,
    /// What its arguments look like, for people.
    pub argument_hint: Option<String>,
    /// Names of its arguments, in order.
    pub arguments: Vec<String>,
    /// Who may call it.
    pub invocation: Invocation,
    /// Permission rules that hold while it is in use.
    pub allowed_tools: Vec<String>,
    /// Permission rules by which tools are refused while it is in use.
    pub disallowed_tools: Vec<String>,
    /// Who carries it out.
    pub context: SkillContext,
    /// The model that carries it out; none is the one that does anyway.
    pub model: Option<String>,
    /// Globs of files: the model is told of it once it touches one of them.
    pub paths: Vec<String>,
    /// What is run at events once it is taken up, as settings write it.
    pub hooks: Map<String, Value>,
    pub body: String,
    pub path: PathBuf,
    pub origin: SkillOrigin,
    /// What is wrong with its file, for `doctor`.
    pub faults: Vec<String>,
}

/// Who carries a skill out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SkillContext {
    /// Whoever takes it up.
    #[default]
    Here,
    /// An agent, which tells what came of it (`context: fork`).
    Agent {
        /// Its kind; none is the one for everything.
        kind: Option<String>,
    },
}

/// Who may call a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocation {
    /// The model and the person.
    Both,
    /// The person alone (`disable-model-invocation`).
    Person,
    /// The model alone (`user-invocable: false`).
    Model,
    /// Nobody: it says both.
    Nobody,
}

/// Whose a skill is. What a repository brings may not widen permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillOrigin {
    Own,
    /// A repository's that the person trusts.
    Trusted,
    Repository,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A folder with `SKILL.md`, which names it.
    Folder,
    /// A file under `commands/`.
    Flat,
}

impl Skill {
    /// Reads a skill. `given` is the name of its folder or file.
    #[must_use]
    pub fn read(text: &str, given: &str, path: PathBuf, origin: SkillOrigin, form: Form) -> Self {
        let (fields, body, mut faults) = split(text);
        let value = |key: &str| fields.get(key).and_then(plain);
        let name = value("name").unwrap_or_else(|| given.to_owned());
        if form == Form::Folder {
            if fields.get("name").is_none() {
                faults.push("it has no name; its folder's is used".to_owned());
            } else if name != given {
                faults.push(format!(
                    "its name {name:?} is not that of its folder; {given:?} is used"
                ));
            }
            if !is_name(given) {
                faults.push(format!(
                    "{given:?} is not a valid skill name: a to z, 0 to 9 and single hyphens, at \
                     most {NAME_CHARS}"
                ));
            }
        }
        let first = body.lines().map(str::trim).find(|line| !line.is_empty());
        let first = first.map(|line| line.trim_start_matches('#').trim().to_owned());
        let mut description = value("description").unwrap_or_else(|| {
            if form == Form::Folder {
                faults.push("it has no description; its first line is used".to_owned());
            }
            first.unwrap_or_default()
        });
        if let Some(when) = value("when_to_use") {
            description = format!("{description} {when}");
        }
        faults.extend(unused(&fields));
        let yes = |key: &str| value(key).is_some_and(|text| text == "true" || text == "yes");
        let no = |key: &str| value(key).is_some_and(|text| text == "false" || text == "no");
        Self {
            name: given.to_owned(),
            description: description.split_whitespace().collect::<Vec<_>>().join(" "),
            argument_hint: value("argument-hint"),
            arguments: fields.get("arguments").map(words).unwrap_or_default(),
            invocation: match (yes("disable-model-invocation"), no("user-invocable")) {
                (false, false) => Invocation::Both,
                (true, false) => Invocation::Person,
                (false, true) => Invocation::Model,
                (true, true) => Invocation::Nobody,
            },
            allowed_tools: fields.get("allowed-tools").map(rules).unwrap_or_default(),
            disallowed_tools: fields.get("disallowed-tools").map(rules).unwrap_or_default(),
            context: match value("context").as_deref() {
                Some("fork") => SkillContext::Agent { kind: value("agent") },
                _ => SkillContext::Here,
            },
            model: value("model").filter(|model| model != "inherit"),
            paths: fields.get("paths").map(words).unwrap_or_default(),
            hooks: fields.get("hooks").and_then(Value::as_object).cloned().unwrap_or_default(),
            body: body.trim().to_owned(),
            path,
            origin,
            faults,
        }
    }

    /// Whether the model may call it.
    #[must_use]
    pub fn is_for_model(&self) -> bool {
        matches!(self.invocation, Invocation::Both | Invocation::Model)
    }

    /// Whether the person may call it.
    #[must_use]
    pub fn is_for_person(&self) -> bool {
        matches!(self.invocation, Invocation::Both | Invocation::Person)
    }

    /// Whether it may run things by itself: one of a repository that nobody
    /// trusts may not (S7).
    #[must_use]
    pub fn may_act(&self) -> bool {
        self.origin != SkillOrigin::Repository
    }

    /// The permission rules that it may bring: none where it is a
    /// repository's that nobody trusts (S7).
    #[must_use]
    pub fn rules(&self) -> &[String] {
        match self.origin {
            SkillOrigin::Own | SkillOrigin::Trusted => &self.allowed_tools,
            SkillOrigin::Repository => &[],
        }
    }
}

fn split(text: &str) -> (Map<String, Value>, &str, Vec<String>) {
    match fence(text) {
        Fence::None => (Map::new(), text, Vec::new()),
        Fence::Unclosed { .. } => {
            let fault = "its frontmatter is not closed; end it with a line that is just `---`";
            (Map::new(), text, vec![fault.to_owned()])
        }
        Fence::Closed { yaml, body } => {
            let (front, fault) = everfold_frontmatter::read(text.get(yaml).unwrap_or_default());
            let faults = fault.map(|fault| fault.to_string()).into_iter().collect();
            (front, text.get(body..).unwrap_or_default(), faults)
        }
    }
}

/// Fields that say something which is not done.
fn unused(fields: &Map<String, Value>) -> Vec<String> {
    let hooks = fields.get("hooks").is_some_and(|hooks| !hooks.is_object());
    hooks.then(|| "its hooks are not an object".to_owned()).into_iter().collect()
}

fn is_name(name: &str) -> bool {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=NAME_CHARS).contains(&name.len())
        && name.chars().all(known)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

fn plain(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Names in a list, or in a text with spaces or commas between.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(plain).collect(),
        Value::String(text) => {
            let words = text.split([' ', ',']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Permission rules; what stands in parentheses belongs together.
fn rules(value: &Value) -> Vec<String> {
    let Value::String(text) = value else { return words(value) };
    let mut rules = vec![String::new()];
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            rules.push(String::new());
        } else if let Some(last) = rules.last_mut() {
            last.push(c);
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn skill(text: &str) -> Skill {
        Skill::read(text, "tidy-up", "/s/tidy-up/SKILL.md".into(), SkillOrigin::Own, Form::Folder)
    }

    #[test]
    fn q5_a_skill_is_read_with_its_fields() {
        let read = skill(
            "---\nname: tidy-up\ndescription: Tidies.\nwhen_to_use: When it is a mess.\n\
             argument-hint: \"[dir]\"\narguments: [dir, depth]\nallowed-tools: Bash(git add:*), Read Edit(src/**)\n\
             disable-model-invocation: true\nsomething-new: 3\n---\n\n# Tidy\nDo it.\n",
        );
        assert_eq!(read.description, "Tidies. When it is a mess.");
        assert_eq!(read.arguments, ["dir", "depth"]);
        assert_eq!(read.allowed_tools, ["Bash(git add:*)", "Read", "Edit(src/**)"]);
        assert_eq!(read.invocation, Invocation::Person);
        assert_eq!(read.body, "# Tidy\nDo it.");
        assert_eq!((&read.context, read.paths.len()), (&SkillContext::Here, 0));
        assert!(read.faults.is_empty(), "{:?}", read.faults);
    }

    #[test]
    fn q5_a_skill_says_who_carries_it_out_and_when_it_is_told() {
        let read = skill(
            "---\nname: tidy-up\ndescription: d\ncontext: fork\nagent: explore\nmodel: haiku\n\
             paths: src/**, *.md\ndisallowed-tools: Bash(rm:*) WebFetch\nhooks:\n  Stop:\n    - hooks: []\n---\nb",
        );
        assert_eq!(read.context, SkillContext::Agent { kind: Some("explore".into()) });
        assert_eq!(read.model.as_deref(), Some("haiku"));
        assert_eq!(read.paths, ["src/**", "*.md"]);
        assert_eq!(read.disallowed_tools, ["Bash(rm:*)", "WebFetch"]);
        assert!(read.hooks.contains_key("Stop") && read.faults.is_empty(), "{:?}", read.faults);
        let odd = skill("---\nname: tidy-up\ndescription: d\nmodel: haiku\nhooks: 3\n---\nb");
        assert_eq!(odd.faults.len(), 1, "{:?}", odd.faults);
        assert_eq!((odd.context, odd.model.as_deref()), (SkillContext::Here, Some("haiku")));
    }

    #[test]
    fn q5_broken_frontmatter_is_read_as_far_as_it_goes() {
        let read = skill("---\nname: tidy-up\ndescription: fix: all of it\n---\nbody");
        assert_eq!((read.description.as_str(), read.body.as_str()), ("fix: all of it", "body"));
        assert_eq!(read.faults.len(), 1);
        let unclosed = skill("---\nname: tidy-up\nbody");
        assert!(unclosed.faults[0].contains("not closed"));
        let bare = skill("# Only text\nmore");
        assert_eq!(bare.description, "Only text");
        assert_eq!(bare.faults.len(), 2);
        let other = skill("---\nname: Other\ndescription: d\n---\n");
        assert_eq!((other.name.as_str(), other.faults.len()), ("tidy-up", 1));
    }

    #[test]
    fn s7_a_repositorys_skill_widens_nothing_until_it_is_trusted() {
        let text = "---\nname: x\ndescription: d\nallowed-tools: Bash\n---\n";
        let rules = |origin| {
            let skill = Skill::read(text, "x", "/x".into(), origin, Form::Flat);
            skill.rules().len()
        };
        assert_eq!(
            [SkillOrigin::Own, SkillOrigin::Trusted, SkillOrigin::Repository].map(rules),
            [1, 1, 0]
        );
    }

    proptest! {
        #[test]
        fn s6_any_text_is_a_skill(text in "(---\n)?[a-z: \\-\n\"'\\[\\]{}]{0,80}(---\n)?.{0,20}") {
            let read = skill(&text);
            prop_assert_eq!(read.name, "tidy-up");
        }
    }
}
