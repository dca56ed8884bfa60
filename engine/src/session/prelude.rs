//! What a conversation begins with and repeats in every request: system prompt,
//! tools, parameters. It is rendered once and then taken from the log (PC1).

use crate::config::{Config, ModelChoice};
use crate::permit::Footprint;
use crate::session::{Error, Session};
use crate::tools::servers::loaded_tools;
use everfold_kernel::ports::MemoryScope;
use everfold_kernel::record::{Breakpoint, CallForm, Dialect};
use everfold_kernel::settings::{IndexUse, TtlSetting};
use everfold_kernel::{Decision, Entry, Flag, ModelId, Params, Prelude, SystemBlock};
use everfold_prefix::system;
use everfold_prefix::system::{Keeping, MemorySurroundings, Profile};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn compose_prelude(session: &Session) -> Result<Prelude, Error> {
    compose_prelude_for(session, &session.config.models.model)
}

pub(crate) fn compose_prelude_for(session: &Session, model: &ModelId) -> Result<Prelude, Error> {
    let config = &session.config;
    let profile = config.profile(model);
    let surroundings = system::Surroundings {
        profile,
        model: model.to_string(),
        date: session.world.clock.today().to_string(),
        memory: memory_surroundings(session),
        ..config.surroundings.clone()
    };
    let mut system = system::compose(&surroundings)?;
    if is_shareable(session) {
        share(&mut system);
    }
    Ok(config.managed(Prelude {
        system,
        tools: definitions(session, profile),
        params: params_for(session, model),
    }))
}

/// Whether the provider can share what stands before the dynamic boundary, and
/// nothing there is anybody's own: no kinds of agents and no servers' tools that
/// only this person has, and not what a kind of agent is told (PC5).
fn is_shareable(session: &Session) -> bool {
    let config = &session.config;
    config.models.offers.cache_scopes
        && config.surroundings.agent.is_none()
        && config.agents.roster.is_built_in()
        && session.world.servers.iter().all(|own| loaded_tools(&**own).is_empty())
}

/// Marks the breakpoint that closes the dynamic boundary, the first one.
fn share(system: &mut [SystemBlock]) {
    if let Some(block) = system.iter_mut().find(|block| block.breakpoint == Breakpoint::Here) {
        block.breakpoint = Breakpoint::Shared;
    }
}

/// The tools of the list, the provider's own, and those of servers that
/// want to be in it, last. What a rule denies in any case is not sent (Q16).
fn definitions(session: &Session, profile: Profile) -> Vec<Value> {
    let offered = session.toolbox.filtered(|name| !session.permit.denies(name));
    if profile == Profile::Lean {
        return offered.lean_definitions();
    }
    let mut tools = offered.definitions();
    tools.extend(web_search(session));
    tools.extend(session.world.servers.iter().flat_map(|own| loaded_tools(&**own)));
    tools
}

/// What the system prompt says of memory; nothing where there is none (L5.7).
pub(crate) fn memory_surroundings(session: &Session) -> Option<MemorySurroundings> {
    let memories = session.world.memories.as_ref()?;
    let dir = |scope| {
        let mut places = memories.places().iter();
        places.find(|place| place.scope == scope).map(|place| place.dir.display().to_string())
    };
    Some(MemorySurroundings {
        dir: dir(MemoryScope::Project)?,
        global_dir: dir(MemoryScope::Global),
        team_dir: dir(MemoryScope::Team),
        transcripts: searchable_past(session).map(|dir| dir.display().to_string()),
        guidelines: session.config.memory.guidelines.clone(),
        keeping: match shows_index(session) {
            _ if session.config.flags.is_on(Flag::DailyLogs) => Keeping::DailyLogs,
            true => Keeping::Topics,
            false => Keeping::TopicsAlone,
        },
    })
}

/// Whether the memory index is part of the conversation: it is left out only
/// where recall serves instead (L5.44).
pub(crate) fn shows_index(session: &Session) -> bool {
    let config = &session.config;
    config.memory.keep.index != Some(IndexUse::Off) || !config.flags.is_on(Flag::Recall)
}

/// Where past conversations are, if they may be searched.
fn searchable_past(session: &Session) -> Option<PathBuf> {
    let path = session.world.transcripts.path(session.id());
    let dir = path.parent().map(PathBuf::from);
    dir.filter(|_| session.config.flags.is_on(Flag::PastSearch))
}

pub(crate) fn params_now(session: &Session) -> Params {
    match session.state.fold.prelude() {
        Some(prelude) => prelude.params.clone(),
        None => params_for(session, &session.config.models.model),
    }
}

/// The parameters for a model. What a person chose for the one that
/// answers now stays chosen.
pub(crate) fn params_for(session: &Session, model: &ModelId) -> Params {
    let params = session.config.params(model, session.world.model.dialect());
    let now = session.state.fold.prelude().map(|prelude| &prelude.params).or(session
        .runtime
        .branch
        .first_params
        .as_deref());
    match now {
        Some(now) if now.model == *model && now.dialect == params.dialect => {
            let cache = match session.config.models.ttl {
                TtlSetting::Auto => now.cache.or(params.cache),
                _ => params.cache,
            };
            let (thinking, effort) = (now.thinking.clone(), now.effort.clone());
            Params { thinking, effort, cache, calls: now.calls, ..params }
        }
        Some(now) => Params { effort: now.effort.clone(), ..params },
        None => params,
    }
}

/// What rules and definitions of agents call it.
pub(crate) const WEB_SEARCH: &str = "WebSearch";

/// What the provider calls it.
pub(crate) const SERVER_NAME: &str = "web_search";

/// The form of the tool that every current model takes.
const SERVER_TYPE: &str = "web_search_20250305";

/// The tool as a request declares it; none where it is not available.
pub(crate) fn web_search(session: &Session) -> Option<Value> {
    let offered = session.config.models.offers.web_search
        && session.world.model.dialect() == Dialect::Anthropic
        && !session.permit.holds_back(WEB_SEARCH, &Footprint::Nothing);
    let most = session.config.limits.web_search_uses;
    offered.then(|| json!({"type": SERVER_TYPE, "name": SERVER_NAME, "max_uses": most}))
}

/// A prelude without the tool, where it has one that is no longer allowed.
pub(crate) fn without_search(session: &Session, prelude: &Prelude) -> Option<Prelude> {
    let is_search = |tool: &Value| tool.get("type").is_some_and(|kind| kind == SERVER_TYPE);
    let unwanted = prelude.tools.iter().any(is_search) && web_search(session).is_none();
    unwanted.then(|| {
        let mut kept = prelude.clone();
        kept.tools.retain(|tool| !is_search(tool));
        kept
    })
}

/// Changes the model for the rest of the conversation: a declared break.
///
/// # Errors
/// If the log cannot be written.
pub async fn switch_model(session: &mut Session, model: &ModelId) -> Result<(), Error> {
    let params = params_for(session, model);
    let Some(prelude) = session.state.fold.prelude().cloned() else {
        session.runtime.branch.first_params = None;
        let mut config = Config::clone(&session.config);
        config.models.model = model.clone();
        config.models.choice = ModelChoice::Named;
        session.config = Arc::new(config);
        return Ok(());
    };
    let prelude = session.config.managed(Prelude { params, ..prelude });
    session.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
    Ok(())
}

/// Declares tools in the text from here on, where the server takes none (Q18).
/// False where that is so already.
pub(crate) async fn ask_by_text(session: &mut Session) -> Result<bool, Error> {
    let Some(prelude) = session.state.fold.prelude().cloned() else { return Ok(false) };
    if prelude.params.calls == CallForm::Text {
        return Ok(false);
    }
    let params = Params { calls: CallForm::Text, ..prelude.params };
    let prelude = Prelude { params, ..prelude };
    session.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
    Ok(true)
}

/// The kind of the attachment that holds what is loaded with every session.
pub const INSTRUCTIONS: &str = "instructions";

/// The kind of one that holds what was loaded because a file was touched.
pub const NESTED: &str = "nested_memory";
