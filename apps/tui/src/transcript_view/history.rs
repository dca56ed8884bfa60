//! A conversation that is gone on with, as cells: all of its course, also what
//! a compaction took out of the model's view.

use super::asides::{Ruler, ThinkingTime, Thought};
use super::cell::{Cell, Kind};
use super::tool::{State, ToolCall};
use everfold_agent::engine::turn::tool_calls::REFUSED;
use everfold_agent::{Agent, Session};
use everfold_kernel::record::{Boundary, Decision};
use everfold_kernel::{Block, BlockView, Entry, MessageId, RecordId, UserEntry, UserOrigin};
use everfold_memory_recall::inject;
use everfold_prefix::message::{Message, PieceOrigin};
use everfold_transcript::{Decoded, Trace, decode};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// What a person sees of a session.
pub(crate) async fn cells(agent: &Agent, session: &Session) -> Vec<Cell> {
    let Some(leaf) = leaf(session) else { return Vec::new() };
    let transcripts = &agent.world().transcripts;
    let mut trace = Trace::default();
    let mut history = History::default();
    // A first look finds the way through the branches, a second one takes it.
    let seen = transcripts.load(session.id(), &mut |line| trace.push(line)).await;
    let way: BTreeSet<u64> = trace.lines(&leaf).into_iter().collect();
    let mut number = 0;
    let mut take = |line: &[u8]| {
        number += 1;
        if way.contains(&number)
            && let Ok(Decoded::Record(line)) = decode(line)
        {
            history.take(&line.record.entry);
        }
    };
    if seen.is_ok() && transcripts.load(session.id(), &mut take).await.is_ok() && !way.is_empty() {
        return history.end();
    }
    // A private session is in no file.
    of_fold(session)
}

fn leaf(session: &Session) -> Option<RecordId> {
    Some(session.fold().messages().last()?.pieces().last()?.record.clone())
}

fn of_fold(session: &Session) -> Vec<Cell> {
    let mut history = History::default();
    for piece in session.fold().messages().iter().flat_map(Message::pieces) {
        match &piece.origin {
            PieceOrigin::User(UserOrigin::Human) => history.person(&[&piece.block]),
            PieceOrigin::User(_) => history.result(&piece.block, None),
            PieceOrigin::Assistant(message) => history.block(message, &piece.block),
            PieceOrigin::Attachment(_) => {}
        }
    }
    history.end()
}

/// Cells that are made from the records of a conversation.
#[derive(Default)]
pub(super) struct History {
    cells: Vec<Cell>,
    places: HashMap<String, usize>,
    /// The response that each of the last cells is from.
    response: Option<(MessageId, usize)>,
}

impl History {
    /// Takes in the next record.
    pub(super) fn take(&mut self, entry: &Entry) {
        match entry {
            Entry::User(user) => self.user(user),
            Entry::Assistant(answer) => self.block(&answer.message_id, &answer.block),
            Entry::Attachment(attachment) if attachment.kind == inject::KIND => {
                for path in inject::surfaced(&attachment.data) {
                    self.recalled(Some(PathBuf::from(path)));
                }
            }
            Entry::Boundary(boundary) => self.boundary(boundary),
            Entry::Decision(decision) => self.decision(decision),
            Entry::Attachment(_) | Entry::Opaque(_) => {}
        }
    }

    /// What came of it.
    pub(super) fn end(mut self) -> Vec<Cell> {
        for cell in &mut self.cells {
            // Nothing runs any more, whether its result is known or not.
            if matches!(cell.kind(), Kind::Tool(call) if call.state == State::Running)
                && let Kind::Tool(call) = cell.change()
            {
                call.state = State::Done(None);
            }
        }
        self.cells
    }

    fn push(&mut self, kind: Kind) {
        self.cells.push(Cell::new(kind));
    }

    fn user(&mut self, user: &UserEntry) {
        match user.origin {
            UserOrigin::Human => self.person(&user.content.iter().collect::<Vec<_>>()),
            UserOrigin::ToolResult => {
                for block in &user.content {
                    self.result(block, user.tool_use_result.as_ref());
                }
            }
            UserOrigin::CompactSummary => {
                let is_ruler = |cell: &&mut Cell| matches!(cell.kind(), Kind::Compacted(_));
                if let Some(Kind::Compacted(ruler)) =
                    self.cells.last_mut().filter(is_ruler).map(Cell::change)
                {
                    ruler.summary = user.content.iter().map(Block::plain_text).collect();
                }
            }
            UserOrigin::Meta => {}
        }
    }

    fn person(&mut self, blocks: &[&Block]) {
        let words = blocks.iter().filter_map(|block| match block.view() {
            BlockView::Text(text) => Some(text),
            BlockView::Image => Some("[picture]"),
            BlockView::Document => Some("[document]"),
            _ => None,
        });
        let text = words.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            self.push(Kind::Person(text));
        }
    }

    fn block(&mut self, message: &MessageId, block: &Block) {
        if self.response.as_ref().is_none_or(|(last, _)| last != message) {
            self.response = Some((message.clone(), self.cells.len()));
        }
        match block.view() {
            BlockView::Text(text) => self.cells.push(Cell::answer(text)),
            BlockView::Thinking(text) => {
                let thought = Thought { text: text.to_owned(), time: ThinkingTime::Unknown };
                self.push(Kind::Thinking(thought));
            }
            BlockView::ToolUse { id, name, input } => {
                self.places.insert(id.to_owned(), self.cells.len());
                self.push(Kind::Tool(Box::new(ToolCall::new(id, name, input.clone()))));
            }
            _ => {}
        }
    }

    fn call(&mut self, id: &str) -> Option<&mut ToolCall> {
        let found = self.places.get(id).and_then(|at| self.cells.get_mut(*at))?;
        match found.change() {
            Kind::Tool(call) => Some(call),
            _ => None,
        }
    }

    fn result(&mut self, block: &Block, structured: Option<&Value>) {
        let BlockView::ToolResult { id, content, is_error } = block.view() else { return };
        if let Some(call) = self.call(id) {
            match content.as_str().and_then(|text| text.strip_prefix(REFUSED)) {
                Some(reason) if is_error => call.refused(reason),
                _ => {
                    call.answered(content, structured);
                    call.state = if is_error { State::Failed(None) } else { State::Done(None) };
                }
            }
        }
    }

    fn recalled(&mut self, path: Option<PathBuf>) {
        let is_recalled = |cell: &&mut Cell| matches!(cell.kind(), Kind::Recalled(_));
        match self.cells.last_mut().filter(is_recalled).map(Cell::change) {
            Some(Kind::Recalled(paths)) => paths.extend(path),
            _ => self.push(Kind::Recalled(path.into_iter().collect())),
        }
    }

    fn boundary(&mut self, boundary: &Boundary) {
        let way = boundary.metadata.get("way").and_then(Value::as_str);
        let way = way.unwrap_or(&boundary.trigger);
        let after = boundary.metadata.get("postTokens").and_then(Value::as_u64);
        self.push(Kind::Compacted(Box::new(Ruler::told(way, boundary.pre_tokens, after))));
    }

    fn decision(&mut self, decision: &Decision) {
        match decision {
            Decision::Spilled(spilled) => {
                if let Some(call) = self.call(spilled.tool_use_id.as_str()) {
                    call.result.moved(&spilled.replacement);
                }
            }
            Decision::Retracted { message_id, .. } => {
                if let Some((last, from)) = self.response.take()
                    && last == *message_id
                {
                    self.cells.truncate(from);
                }
            }
            Decision::Extracted(extracted) if !extracted.saved.is_empty() => {
                let names = extracted.saved.join(", ");
                self.push(Kind::Aside(format!("saved as memories: {names}")));
            }
            Decision::Rewound(_) => self.push(Kind::Aside("went back to here".to_owned())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use everfold_agent::Turn;
    use everfold_kernel::record::Keeps;
    use everfold_kernel::{AssistantEntry, Attachment, ToolUseId, Usage};
    use serde_json::json;

    fn lines(cells: Vec<Cell>) -> Vec<String> {
        let mut lines = Vec::new();
        for mut cell in cells {
            let laid = cell.lines(60, Theme::new(false));
            lines.extend(laid.iter().map(ToString::to_string).filter(|line| !line.is_empty()));
        }
        lines
    }

    fn user(origin: UserOrigin, block: Block, structured: Option<Value>) -> Entry {
        Entry::User(UserEntry {
            content: vec![block],
            origin,
            tool_use_result: structured,
            provenance: Vec::new(),
        })
    }

    fn answer(message: &str, block: Block) -> Entry {
        Entry::Assistant(AssistantEntry {
            message_id: MessageId::new(message),
            request_id: None,
            model: "m".into(),
            index: 0,
            block,
            usage: Usage::default(),
            stop_reason: None,
        })
    }

    #[test]
    fn q9_a_conversation_is_shown_as_it_was() {
        let id = ToolUseId::from("t1");
        let edit = json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"});
        let patch =
            json!({"structuredPatch": [{"oldStart": 7, "newStart": 7, "lines": ["-x", "+y"]}]});
        let memory = |path: &str| {
            Entry::Attachment(Attachment {
                kind: inject::KIND.to_owned(),
                rendered: String::new(),
                data: json!({"path": path}),
                provenance: None,
            })
        };
        let boundary = Boundary {
            trigger: "auto".to_owned(),
            pre_tokens: 900,
            last_before: None,
            preserved: Vec::new(),
            keeps: Keeps::Suffix,
            metadata: serde_json::Map::from_iter([("postTokens".to_owned(), json!(90))]),
        };
        let message_id = MessageId::new("void");
        let entries = [
            user(UserOrigin::Human, Block::text("mend it"), None),
            memory("/m/a.md"),
            memory("/m/b.md"),
            answer("one", Block::text("I *will*")),
            answer("one", Block::tool_use(&id, "Edit", edit)),
            user(UserOrigin::ToolResult, Block::tool_result(&id, json!("done")), Some(patch)),
            answer("void", Block::text("half of an ans")),
            Entry::Decision(Decision::Retracted { message_id, reason: String::new() }),
            answer("two", Block::text("Done.")),
            Entry::Boundary(boundary),
            user(UserOrigin::CompactSummary, Block::text("they mended it"), None),
            user(UserOrigin::Meta, Block::text("not for people"), None),
            user(UserOrigin::Human, Block::text("thanks"), None),
        ];
        let mut history = History::default();
        for entry in &entries {
            history.take(entry);
        }
        let shown = lines(history.end());
        let expected = [
            "› mend it",
            "· recalled a.md, b.md",
            "I will",
            "● Edit a.rs +1 −1",
            "    7 − x",
            "    7 + y",
            "Done.",
            "────────── compacted (auto): 900 → 90 tokens ───────────────",
            "› thanks",
        ];
        let trimmed: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
        let ruler = trimmed.iter().position(|line| line.contains("compacted"));
        assert_eq!(ruler, Some(7), "{trimmed:?}");
        for (at, line) in expected.iter().enumerate().filter(|(at, _)| *at != 7) {
            assert_eq!(trimmed.get(at), Some(line), "{trimmed:?}");
        }
    }

    #[test]
    fn q9_a_session_that_is_resumed_is_there_again() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        std::fs::create_dir(&work).unwrap();
        std::fs::write(work.join("notes.txt"), "buy milk\n").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let builder = || Agent::builder(&work).home(dir.path().join("home"));
            let agent = builder().build().await.unwrap();
            let mut session = agent.start();
            Turn::new(&mut session, "read notes.txt").end().await.unwrap();
            let id = session.id().clone();
            drop(session);
            let (session, _) = agent.resume(id).await.unwrap();
            let shown = lines(cells(&agent, &session).await).join("\n");
            assert!(shown.starts_with("› read notes.txt"), "{shown}");
            assert!(shown.contains("● Read") && shown.contains("buy milk"), "{shown}");
            assert_eq!(lines(of_fold(&session)).first().unwrap(), "› read notes.txt");
        });
    }
}
