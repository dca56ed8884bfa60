//! What a server wants to know, asked in place: field by field, and sent only
//! when the person says so.

use crate::question::Sheet;
use crate::questions::OpenQuestion;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::wrap;
use everfold_kernel::ports::question::{Field, FieldNeed, FormError, Wants};
use everfold_kernel::ports::{ServerAnswer, ServerQuestion};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};
use serde_json::{Map, Value};

/// A form that is filled in.
pub(crate) struct Form {
    question: OpenQuestion<ServerQuestion, ServerAnswer>,
    /// What was typed into each field, up to the one that is filled in now.
    typed: Vec<String>,
    /// The field that is filled in; behind the last one, it is sent.
    at: usize,
    /// What is wrong with what was typed.
    wrong: Option<FormError>,
}

impl Form {
    /// A question that came.
    pub(crate) fn new(question: OpenQuestion<ServerQuestion, ServerAnswer>) -> Self {
        let count = fields(&question.ask).len();
        Self { question, typed: vec![String::new(); count], at: 0, wrong: None }
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_void(&self) -> bool {
        self.question.is_void()
    }

    pub(crate) fn into_question(self) -> OpenQuestion<ServerQuestion, ServerAnswer> {
        self.question
    }

    /// Takes a key; nothing is left of a question that it answered.
    pub(crate) fn key(mut self, key: KeyEvent) -> Option<Self> {
        if key.code == KeyCode::Esc {
            self.question.answer(ServerAnswer::Cancel);
            return None;
        }
        if key.code == KeyCode::Up {
            self.at = self.at.saturating_sub(1);
            self.wrong = None;
            return Some(self);
        }
        if self.at < self.typed.len() {
            self.fill(key);
            // Nothing leaves the program by a question of our own.
            if self.at == self.typed.len() && self.question.ask.server.is_empty() {
                let answers = self.content();
                self.question.answer(ServerAnswer::Accept(answers));
                return None;
            }
            return Some(self);
        }
        let answer = match key.code {
            KeyCode::Char('y') => ServerAnswer::Accept(self.content()),
            KeyCode::Char('n') => ServerAnswer::Decline,
            _ => return Some(self),
        };
        self.question.answer(answer);
        None
    }

    fn fill(&mut self, key: KeyEvent) {
        let Some(typed) = self.typed.get_mut(self.at) else { return };
        match key.code {
            KeyCode::Enter | KeyCode::Down => {
                let field = fields(&self.question.ask).get(self.at);
                self.wrong = field.and_then(|field| field.read(typed).err());
                if self.wrong.is_none() {
                    self.at += 1;
                }
            }
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Char(letter) => typed.push(letter),
            _ => {}
        }
    }

    /// What was filled in.
    fn content(&self) -> Map<String, Value> {
        let fields = fields(&self.question.ask).iter().zip(&self.typed);
        let read = fields.filter_map(|(field, typed)| {
            Some((field.name.clone(), field.read(typed).ok().flatten()?))
        });
        read.collect()
    }

    /// What is seen of it.
    pub(crate) fn sheet(&self, width: u16, theme: Theme) -> Sheet {
        let ask = &self.question.ask;
        // Our own questions have no server.
        let title = match ask.server.as_str() {
            "" => "A question:".to_owned(),
            server => format!("The server {server} asks, in its own words:"),
        };
        let title = Line::styled(wrap::cut(&title, usize::from(width)), theme.title());
        let mut lines = wrap::text(&ask.message, theme.style(TextStyle::Normal), width, "  ");
        if let Wants::Visit(address) = &ask.wants {
            lines.extend(wrap::text(address, theme.style(TextStyle::Bold), width, "    "));
            let hint = "Open it only if you trust it; what you do there is not seen here.";
            lines.extend(wrap::text(hint, theme.dim(), width, "  "));
        }
        for (field, typed) in fields(ask).iter().zip(&self.typed).take(self.at) {
            let shown = match field.read(typed) {
                Ok(Some(Value::String(text))) => text,
                Ok(Some(value)) => value.to_string(),
                _ => "–".to_owned(),
            };
            let text = format!("{}: {shown}", field.title);
            lines.extend(wrap::text(&text, theme.dim(), width, "  "));
        }
        let mut choices = Vec::new();
        let hint =
            if let Some((field, typed)) = fields(ask).get(self.at).zip(self.typed.get(self.at)) {
                self.field(field, typed, width, theme, &mut choices);
                "Enter next · ↑ back · Esc leaves the question"
            } else {
                let text = " y  Send this    n  Decline ";
                choices.extend(wrap::text(text, theme.style(TextStyle::Normal), width, ""));
                "Esc leaves the question"
            };
        Sheet { title, matter: lines, choices, hint: hint.to_owned() }
    }

    fn field(
        &self,
        field: &Field,
        typed: &str,
        width: u16,
        theme: Theme,
        lines: &mut Vec<Line<'static>>,
    ) {
        let mut about = field.kind.wanted();
        if !field.description.is_empty() {
            about = format!("{} ({about})", field.description);
        }
        match (&field.default, field.need) {
            (Some(Value::String(usual)), _) => about = format!("{about}; if empty, {usual}"),
            (Some(usual), _) => about = format!("{about}; if empty, {usual}"),
            (None, FieldNeed::Optional) => about = format!("{about}; may be empty"),
            (None, FieldNeed::Required) => {}
        }
        lines.extend(wrap::text(&about, theme.dim(), width, "  "));
        let line = Line::from(vec![
            Span::styled(format!("{}: ", wrap::clean(&field.title)), theme.style(TextStyle::Bold)),
            Span::raw(typed.to_owned()),
            Span::styled(" ", theme.chosen()),
        ]);
        lines.extend(wrap::wrap(&line, width, ""));
        if let Some(wrong) = &self.wrong {
            lines.extend(wrap::text(&wrong.to_string(), theme.style(TextStyle::Red), width, "  "));
        }
    }
}

fn fields(ask: &ServerQuestion) -> &[Field] {
    match &ask.wants {
        Wants::Form { fields, .. } => fields,
        Wants::Visit(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ports::question;
    use ratatui::crossterm::event::KeyModifiers;
    use serde_json::json;
    use tokio::sync::oneshot::Receiver;

    fn form() -> (Option<Form>, Receiver<ServerAnswer>) {
        let schema = json!({"required": ["name"], "properties": {
            "name": {"type": "string", "title": "Your name"},
            "age": {"type": "integer", "minimum": 1},
            "sure": {"type": "boolean", "default": true}}});
        let fields = question::fields(&schema).unwrap();
        let wants = Wants::Form { fields, schema };
        asked(wants)
    }

    fn asked(wants: Wants) -> (Option<Form>, Receiver<ServerAnswer>) {
        let (server, message) = ("desk".to_owned(), "Who are you?\u{1b}[2J".to_owned());
        let (open, answer) = OpenQuestion::new(ServerQuestion { server, message, id: None, wants });
        (Some(Form::new(open)), answer)
    }

    fn press(form: &mut Option<Form>, keys: &str) {
        for letter in keys.chars() {
            let code = match letter {
                '\n' => KeyCode::Enter,
                '^' => KeyCode::Up,
                '<' => KeyCode::Backspace,
                '!' => KeyCode::Esc,
                letter => KeyCode::Char(letter),
            };
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            *form = form.take().and_then(|form| form.key(key));
        }
    }

    fn shown(form: Option<&Form>) -> String {
        let sheet = form.unwrap().sheet(60, Theme::new(false));
        let lines: Vec<_> =
            std::iter::once(sheet.title).chain(sheet.matter).chain(sheet.choices).collect();
        lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn q5_a_form_is_filled_in_field_by_field_and_sent_after_a_yes() {
        let (mut form, mut answer) = form();
        let first = shown(form.as_ref());
        assert!(first.contains("The server desk asks") && first.contains("Your name: "), "{first}");
        assert!(!first.contains('\u{1b}'), "{first}");
        press(&mut form, "\n");
        assert!(shown(form.as_ref()).contains("is required"));
        press(&mut form, "Adx<a\n0\n");
        assert!(shown(form.as_ref()).contains("expected a whole number, at least 1"));
        press(&mut form, "<36\n\n");
        let last = shown(form.as_ref());
        for part in ["Your name: Ada", "age: 36", "sure: true", "y  Send this"] {
            assert!(last.contains(part), "{part}: {last}");
        }
        // Back to the last field, and on again.
        press(&mut form, "^no\n");
        assert!(answer.try_recv().is_err(), "nothing is sent before a yes");
        press(&mut form, "y");
        assert!(form.is_none());
        let content = json!({"name": "Ada", "age": 36, "sure": false});
        assert_eq!(
            answer.try_recv().unwrap(),
            ServerAnswer::Accept(content.as_object().unwrap().clone())
        );
    }

    #[test]
    fn q5_a_form_is_declined_or_left() {
        let (mut form, mut answer) = form();
        press(&mut form, "Ada\n\n\nn");
        assert_eq!(answer.try_recv().unwrap(), ServerAnswer::Decline);
        let (mut form, mut answer) = self::form();
        press(&mut form, "Ad!");
        assert!(form.is_none());
        assert_eq!(answer.try_recv().unwrap(), ServerAnswer::Cancel);
    }

    #[test]
    fn q5_an_address_is_shown_whole_before_anything_is_said() {
        let (mut form, mut answer) = asked(Wants::Visit("https://login.example.org/x".into()));
        let text = shown(form.as_ref());
        assert!(text.contains("https://login.example.org/x") && text.contains("n  Decline"));
        press(&mut form, "y");
        assert_eq!(answer.try_recv().unwrap(), ServerAnswer::Accept(Map::new()));
    }
}
