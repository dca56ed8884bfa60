//! The next request, and where its breakpoints stand (PC5).

use super::Fold;
use crate::message::{Link, Message, Piece, PieceOrigin, Showing, interrupted};
use crate::request::{AnswerForm, Directive, Frame, Rendered, Request};
use everfold_kernel::record::Sampling;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{
    Block, BlockProvenance, RecordId, Role, Timestamp, Tokens, UserOrigin, Window,
};

/// The breakpoints that a fork has from its parent. It reads what stands before
/// them, and writes nothing behind them: nobody else would read it (E3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LentMarks {
    messages: Vec<usize>,
    /// Blocks of the parent: none behind them has one.
    blocks: usize,
}

/// How a directive that is answered in a form begins: a weak model takes what was
/// said last for what the person wants, and answers it.
const FROM_PROGRAM: &str =
    "This comes from the program, not from the person: do not answer what was said last.";

/// What a server puts around a message, in tokens, at most.
const AROUND_TOKENS: u64 = 20;

impl Fold {
    /// The next request; with a directive, a fork's: the same bytes and the
    /// directive after them. None before there is a prelude.
    pub fn request(&mut self, directive: Option<Directive<'_>>) -> Option<Request> {
        self.render();
        match directive {
            None => self.request_with(&self.frame, None),
            Some(directive) => self.fork_request(self.messages.len(), directive),
        }
    }

    /// A fork's request on what the last request held, and nothing that came
    /// since: all of it is read from the cache (E9). None where there was none.
    pub fn cached_request(&mut self, directive: Directive<'_>) -> Option<Request> {
        let last = self.last_answer()?;
        self.render();
        self.fork_request(last, directive)
    }

    /// Whether a window holds the first messages, a directive after them that is
    /// answered in a form, and the answer.
    #[must_use]
    pub fn fits_form(
        &self,
        through: usize,
        directive: Directive<'_>,
        max_tokens: u64,
        window: &Window,
    ) -> bool {
        let told =
            estimate_text(directive.0, &self.limits) + estimate_text(FROM_PROGRAM, &self.limits);
        self.count_through(through) + told + Tokens(max_tokens + AROUND_TOKENS) <= window.size
    }

    /// The first messages and a directive after them, answered in a form and not
    /// at length. What a form changes stands outside of what a server of one's own
    /// reads as the prompt, so that it goes on where the last request ended (Q18).
    pub fn form_request(
        &mut self,
        through: usize,
        directive: Directive<'_>,
        form: AnswerForm,
    ) -> Option<Request> {
        self.render();
        let mut prelude = self.prelude.as_deref()?.clone();
        prelude.params.schema = Some(form.schema);
        prelude.params.max_tokens = form.max_tokens;
        prelude.params.sampling = Sampling::Greedy;
        let told = format!("{FROM_PROGRAM} {}", directive.0);
        let asked = (self.with_directive(through, Directive(&told)), self.lent_marks(through));
        self.request_with(&Frame::new(&prelude), Some(&asked))
    }

    /// Where the last answer stands: the request for it ended before it.
    #[must_use]
    pub fn last_answer(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| message.role() == Role::Assistant)
    }

    /// The same conversation for a fork that goes on with it: its breakpoints
    /// stay where its parent's are.
    #[must_use]
    pub fn lent(&self) -> Self {
        let mut own = self.clone();
        own.render();
        own.lent = Some(own.lent_marks(own.messages.len()));
        own
    }

    fn request_with(
        &self,
        frame: &Frame,
        forked: Option<&(Rendered, LentMarks)>,
    ) -> Option<Request> {
        let params = &self.prelude.as_ref()?.params;
        let (betas, ttl) = (params.betas.clone(), params.cache);
        let (rendered, lent) = match forked {
            Some((rendered, lent)) => (rendered, Some(lent)),
            None => (&self.rendered, self.lent.as_ref()),
        };
        let marks = match lent {
            Some(lent) => rendered.marks(&lent.messages, lent.blocks),
            None => rendered.marks(&self.marks(false), usize::MAX),
        };
        Some(Request {
            body: rendered.body(frame, &marks, ttl),
            betas,
            cache: ttl,
            prefix: rendered.prefix_hash(frame),
            fingerprint: rendered.fingerprint(frame, &marks, ttl),
        })
    }

    fn fork_request(&self, through: usize, directive: Directive<'_>) -> Option<Request> {
        let lent = self.lent_marks(through);
        self.request_with(&self.frame, Some(&(self.with_directive(through, directive), lent)))
    }

    /// Writes the messages that are not written yet.
    fn render(&mut self) {
        if self.prelude.is_none() {
            return;
        }
        for index in self.rendered.len()..self.messages.len() {
            let before = index.checked_sub(1).and_then(|before| self.messages.get(before));
            if let Some(message) = self.messages.get(index) {
                self.rendered.push(&self.frame, message, before);
            }
        }
    }

    /// Breakpoints on messages (PC5): where the request before this one ended,
    /// so that what it wrote is read however many blocks came since, and at
    /// the end, so that the next one can read it. Where a clearing broke what
    /// that request wrote, the mark stands before the break instead, on the
    /// end of an older request, so that all before it is still read.
    ///
    /// A fork has none behind the last prompt that its parent asked: an answer
    /// that the parent has not sent back yet is cached nowhere.
    pub(crate) fn marks(&self, forked: bool) -> Vec<usize> {
        self.marks_through(self.messages.len(), forked)
    }

    fn marks_through(&self, through: usize, forked: bool) -> Vec<usize> {
        let (messages, _) = self.messages.split_at_checked(through).unwrap_or_default();
        let last_answer = messages.iter().rposition(|m| m.role() == Role::Assistant);
        let before = last_answer.and_then(|at| {
            let intact = self.cleared_from.map_or(at, |from| from.min(at));
            let (earlier, _) = messages.split_at_checked(intact)?;
            earlier.iter().rposition(|message| message.role() == Role::User)
        });
        let ends_with_user = messages.last().is_some_and(|m| m.role() == Role::User);
        let end = (ends_with_user || !forked).then(|| messages.len().saturating_sub(1));
        before.into_iter().chain(end).collect()
    }

    fn lent_marks(&self, through: usize) -> LentMarks {
        match &self.lent {
            Some(lent) => lent.clone(),
            None => LentMarks {
                messages: self.marks_through(through, true),
                blocks: self.rendered.blocks_before(through),
            },
        }
    }

    /// The rendered messages up to one, with a directive as the last thing the
    /// user says.
    fn with_directive(&self, through: usize, directive: Directive<'_>) -> Rendered {
        let mut rendered = self.rendered.clone();
        rendered.truncate(through);
        let piece = |block| Piece {
            record: RecordId::new(""),
            at: Timestamp::UNIX_EPOCH,
            origin: PieceOrigin::User(UserOrigin::Meta),
            tokens: Tokens(0),
            shown: Showing::Whole,
            link: Link::of(&block),
            content: None,
            provenance: BlockProvenance::default(),
            block,
        };
        let text = piece(Block::text(directive.0));
        let mut messages = self.messages.iter().take(through).rev();
        match messages.next() {
            Some(last) if last.role() == Role::User => {
                let mut extended = last.clone();
                extended.push(text);
                rendered.truncate(through.saturating_sub(1));
                rendered.push(&self.frame, &extended, messages.next());
            }
            last => {
                let mut message = Message::new(Role::User, text);
                for id in last.into_iter().flat_map(Message::tool_calls) {
                    message.push(piece(interrupted(id)));
                }
                rendered.push(&self.frame, &message, last);
            }
        }
        rendered
    }
}
