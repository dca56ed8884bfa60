//! What joins a turn, besides what the person and the model say: one list, in the
//! order in which it joins.
//!
//! The order is part of the bytes that a request carries. What stands in the
//! list is shown after what stands before it, so notices about the state of
//! things (mode, plan, jobs) come before what follows from them (instructions,
//! memories), and what somebody said (letters, messages that waited) last.

use crate::agents::{kinds, letters};
use crate::event::Event;
use crate::memory::{failures, recall};
use crate::session::reminder::append_user;
use crate::session::{Error, Session, status};
use crate::setups::hooks::session_events::PromptRefusal;
use crate::setups::hooks::{self, file_changes, session_events};
use crate::setups::{instructions, mcp_tools, plan_mode, session_head, skills};
use crate::turn::mentions::{self, Mentioned};
use crate::turn::{date_notice, switches, turn_end};
use everfold_kernel::UserOrigin;
use everfold_kernel::provenance::Source;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Where in a turn something may join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// A turn begins, with or without a message.
    Start,
    /// Behind that, where a message of the person is about to come.
    BeforePrompt,
    /// All calls of an answer have their results.
    AfterTools,
}

/// Whose conversation it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// Anybody's, a fork's too.
    Any,
    /// One that keeps itself: the person's, and those of agents.
    Kept,
    Main,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joining {
    Switches,
    Head,
    LateAgentKinds,
    ChosenMode,
    PlanMode,
    AgreedPlan,
    Letters,
    Servers,
    StartHooks,
    FileHooks,
    FinishedJobs,
    RequestedSkills,
    TouchedInstructions,
    RecalledMemories,
    FailureCauses,
    QueuedMessages,
    HookTexts,
    Date,
    Notes,
}

/// The list.
const JOININGS: &[(Boundary, Whose, Joining)] = &[
    (Boundary::Start, Whose::Kept, Joining::Switches),
    (Boundary::Start, Whose::Any, Joining::Head),
    (Boundary::Start, Whose::Main, Joining::LateAgentKinds),
    (Boundary::Start, Whose::Kept, Joining::ChosenMode),
    (Boundary::Start, Whose::Kept, Joining::PlanMode),
    (Boundary::Start, Whose::Kept, Joining::Letters),
    (Boundary::BeforePrompt, Whose::Any, Joining::Servers),
    (Boundary::BeforePrompt, Whose::Any, Joining::StartHooks),
    (Boundary::BeforePrompt, Whose::Any, Joining::FileHooks),
    (Boundary::AfterTools, Whose::Kept, Joining::FileHooks),
    (Boundary::AfterTools, Whose::Kept, Joining::AgreedPlan),
    (Boundary::AfterTools, Whose::Kept, Joining::ChosenMode),
    (Boundary::AfterTools, Whose::Kept, Joining::PlanMode),
    (Boundary::AfterTools, Whose::Kept, Joining::FinishedJobs),
    (Boundary::AfterTools, Whose::Kept, Joining::RequestedSkills),
    (Boundary::AfterTools, Whose::Kept, Joining::Servers),
    (Boundary::AfterTools, Whose::Kept, Joining::TouchedInstructions),
    (Boundary::AfterTools, Whose::Kept, Joining::RecalledMemories),
    (Boundary::AfterTools, Whose::Main, Joining::FailureCauses),
    (Boundary::AfterTools, Whose::Kept, Joining::Letters),
    (Boundary::AfterTools, Whose::Kept, Joining::QueuedMessages),
    (Boundary::AfterTools, Whose::Kept, Joining::HookTexts),
    (Boundary::AfterTools, Whose::Main, Joining::Date),
    (Boundary::AfterTools, Whose::Main, Joining::Notes),
];

/// Brings in what joins at a boundary.
pub(crate) async fn join(
    session: &mut Session,
    at: Boundary,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    for (_, whose, joining) in JOININGS.iter().filter(|(boundary, ..)| *boundary == at) {
        let is_meant = match whose {
            Whose::Any => true,
            Whose::Kept => session.keeps_itself(),
            Whose::Main => session.is_main(),
        };
        if is_meant {
            Box::pin(bring(session, *joining, cancel)).await?;
        }
    }
    Ok(())
}

async fn bring(
    session: &mut Session,
    joining: Joining,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    match joining {
        Joining::Switches => {
            switches::follow_switches(session).await;
            Ok(())
        }
        Joining::Head => session_head::ensure_beginning(session).await,
        Joining::LateAgentKinds => kinds::attach_late_kinds(session).await,
        Joining::ChosenMode => {
            status::follow_mode(session);
            Ok(())
        }
        Joining::PlanMode => plan_mode::attach_plan_mode(session).await,
        Joining::AgreedPlan => plan_mode::leave_plan_mode(session).await,
        Joining::Letters => letters::join_mail(session).await,
        Joining::Servers => mcp_tools::attach_servers(session).await,
        Joining::StartHooks => session_events::start_hooks(session, cancel).await,
        Joining::FileHooks => file_changes::changed_hooks(session, cancel).await,
        Joining::FinishedJobs => tell_finished_jobs(session).await,
        Joining::RequestedSkills => skills::attach_requested_skills(session, cancel).await,
        Joining::TouchedInstructions => instructions::attach_touched(session).await,
        Joining::RecalledMemories => recall::join_recalled(session).await,
        Joining::FailureCauses => failures::join_causes(session).await,
        Joining::QueuedMessages => take_queued(session, cancel).await,
        Joining::HookTexts => hooks::attach_hook_texts(session).await,
        Joining::Date => date_notice::tell_date(session).await,
        Joining::Notes => turn_end::after_response(session).await,
    }
}

/// Takes in what the person typed meanwhile.
pub(crate) async fn take_queued(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    for waiting in session.runtime.queue.take() {
        let text = waiting.text.clone();
        match session_events::prompt_hooks(session, &text, cancel).await {
            Ok(()) => {}
            Err(PromptRefusal::Session(error)) => return Err(error),
            Err(why) => {
                session.emit(|| Event::Notice(why.to_string()));
                continue;
            }
        }
        if session.is_main() && !recall::is_recalling(session) {
            recall::recall_for(session, &text, cancel).await?;
        }
        let mentioned = Box::pin(mentions::with_mentions(session, waiting.prompt(), cancel)).await;
        let Mentioned { prompt, notes } = mentioned;
        for note in notes {
            session.emit(|| Event::Notice(note));
        }
        append_user(session, prompt, UserOrigin::Human).await?;
        mentions::attach_named_files(session).await?;
    }
    Ok(())
}

async fn tell_finished_jobs(session: &mut Session) -> Result<(), Error> {
    for job in session.context.finished_jobs() {
        let text = format!(
            "The background command {} ({}) has ended: {:?}. Its output is in {}.",
            job.id,
            job.command,
            job.state,
            job.output.display()
        );
        let data = json!({"taskId": job.id});
        session.attach_from(Source::Command, "task_status", &text, data).await?;
    }
    Ok(())
}
