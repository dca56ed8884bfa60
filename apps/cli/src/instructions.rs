//! `everfold instructions`: what is loaded, from where, in what order, at what
//! cost, and what is not (I5). Works without a key and without a network.

use crate::args::{Choices, InstructionsArgs};
use crate::presenter::{Presenter, TextStyle};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::InstructionChain;
use everfold_kernel::Limits;
use everfold_kernel::ports::MemoryIndex;
use everfold_kernel::tokens::{Tokens, estimate_text};
use everfold_rules::{Conditional, FileFate, InstructionFile, InstructionScope, Reason};
use serde_json::{Value, json};

/// How many patterns of a rule are shown.
const SHOWN_GLOBS: usize = 4;

/// Shows the chain.
pub(crate) async fn run(
    env: &ProcessEnv,
    args: &InstructionsArgs,
    presenter: &Presenter,
) -> Result<()> {
    let repository = setup::builder(env, &Choices::default())?.only_looking().repository()?;
    let chain = repository.chain(&args.files).await?;
    let limits = &repository.settings().settings.everfold.limits;
    if args.json {
        return Ok(Presenter::json(&chain_json(&chain, limits))?);
    }
    let loaded = loaded(&chain);
    if loaded.is_empty() && chain.indexes.is_empty() {
        presenter.line("no instruction files")?;
    }
    let mut table: Vec<Vec<String>> = loaded.iter().map(|row| cells(row)).collect();
    table.extend(chain.indexes.iter().map(|index| index_cells(index, limits)));
    for (at, row) in table.iter_mut().enumerate() {
        row.insert(0, (at + 1).to_string());
    }
    presenter.table(&table)?;
    if !table.is_empty() {
        let total = total(&chain, limits);
        presenter
            .line(&format!("about {} tokens; where two disagree, the later one wins", total.0))?;
    }
    section(presenter, "loaded when a matching file is read:", &waiting(&chain))?;
    let left: Vec<Vec<String>> = met(&chain)
        .filter_map(|row| {
            Some(vec![format!("  {}", row.path.display()), origin(row), left_out(&row.fate)?])
        })
        .collect();
    section(presenter, "skipped:", &left)
}

/// What a conversation here starts with, for its first screen.
pub(crate) async fn found(env: &ProcessEnv) -> Result<String> {
    let repository = setup::builder(env, &Choices::default())?.only_looking().repository()?;
    let chain = repository.chain(&[]).await?;
    let limits = &repository.settings().settings.everfold.limits;
    let name = |row: &&InstructionFile| {
        row.path.file_name().map(|name| name.to_string_lossy().into_owned())
    };
    let loaded = loaded(&chain);
    let names: Vec<String> = loaded.iter().filter_map(name).collect();
    Ok(match names.as_slice() {
        [] => "none found; a CLAUDE.md or AGENTS.md tells agents how to work here".to_owned(),
        names => format!("{}, about {} tokens", names.join(", "), total(&chain, limits).0),
    })
}

fn section(presenter: &Presenter, head: &str, rows: &[Vec<String>]) -> Result<()> {
    if !rows.is_empty() {
        presenter.styled(TextStyle::Bold, &format!("{head}\n"))?;
        presenter.table(rows)?;
    }
    Ok(())
}

/// Every file that was met.
fn met(chain: &InstructionChain) -> impl Iterator<Item = &InstructionFile> {
    chain.start.rows.iter().chain(&chain.touched.rows)
}

/// Those that a model is shown, in the order in which it is: what is imported
/// stands before what imports it.
fn loaded(chain: &InstructionChain) -> Vec<&InstructionFile> {
    let is_loaded = |row: &&InstructionFile| {
        matches!(row.fate, FileFate::Loaded | FileFate::LoadedLarge { .. })
    };
    let mut rows: Vec<&InstructionFile> = met(chain).filter(is_loaded).collect();
    let texts = || chain.start.texts.iter().chain(&chain.touched.texts);
    rows.sort_by_key(|row| texts().position(|text| text.path == row.path));
    rows
}

fn scope(scope: InstructionScope) -> &'static str {
    match scope {
        InstructionScope::Managed => "managed",
        InstructionScope::User => "user",
        InstructionScope::Project => "project",
        InstructionScope::Local => "local",
    }
}

fn origin(row: &InstructionFile) -> String {
    let whose = scope(row.scope);
    match &row.reason {
        Reason::Start => whose.to_owned(),
        Reason::Nested => format!("{whose}, a file beside it was read"),
        Reason::PathMatch { glob } => format!("{whose}, matches {glob}"),
        Reason::Import { by } => format!("{whose}, imported by {}", by.display()),
    }
}

fn cells(row: &InstructionFile) -> Vec<String> {
    let note = match row.fate {
        FileFate::LoadedLarge { chars } => format!("{chars} characters, longer than recommended"),
        _ => String::new(),
    };
    let tokens = format!("{} tokens", row.tokens.0);
    vec![row.path.display().to_string(), origin(row), tokens, note]
}

fn index_cells(index: &MemoryIndex, limits: &Limits) -> Vec<String> {
    let tokens = estimate_text(&index.text, limits);
    let note = index.cut.clone().unwrap_or_default();
    let whose = format!("memory, {}", index.scope.as_str());
    vec![index.path.display().to_string(), whose, format!("{} tokens", tokens.0), note]
}

fn total(chain: &InstructionChain, limits: &Limits) -> Tokens {
    let rows = met(chain).map(|row| row.tokens.0);
    let indexes = chain.indexes.iter().map(|index| estimate_text(&index.text, limits).0);
    Tokens(rows.chain(indexes).sum())
}

/// Rules that wait and were not loaded by the files that were asked about.
fn waiting(chain: &InstructionChain) -> Vec<Vec<String>> {
    let all = chain.start.conditional.iter().chain(&chain.touched.conditional);
    let still = all.filter(|rule| !chain.touched.rows.iter().any(|row| row.path == rule.path));
    still
        .map(|rule| {
            let globs = rule.patterns.written();
            let shown: Vec<&str> = globs.iter().take(SHOWN_GLOBS).map(String::as_str).collect();
            let more = globs.len().saturating_sub(SHOWN_GLOBS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let refused = rule.patterns.refused().len();
            let note = if refused > 0 { format!("{refused} never match") } else { String::new() };
            let globs = format!("{}{more}", shown.join(", "));
            vec![format!("  {}", rule.path.display()), scope(rule.scope).to_owned(), globs, note]
        })
        .collect()
}

/// Why a file is not there; none if it is, or waits.
fn left_out(fate: &FileFate) -> Option<String> {
    Some(match fate {
        FileFate::Loaded | FileFate::LoadedLarge { .. } | FileFate::Waiting { .. } => return None,
        FileFate::Empty => "it is empty".into(),
        FileFate::Excluded => "claudeMdExcludes excludes it".into(),
        FileFate::TooLarge { bytes } => format!("it has {bytes} bytes, which is too large"),
        FileFate::NotText => "it is not text".into(),
        FileFate::NeedsApproval { .. } => {
            "it is outside the repository; `everfold trust` lets it in".into()
        }
        FileFate::TooDeep => "imports are too deep or too many here".into(),
        FileFate::Missing => "it does not exist".into(),
        FileFate::Unreadable { message } => message.clone(),
    })
}

fn chain_json(chain: &InstructionChain, limits: &Limits) -> Value {
    let loaded: Vec<Value> = loaded(chain).into_iter().map(row_json).collect();
    let left: Vec<Value> = met(chain)
        .filter_map(|row| {
            let mut value = row_json(row);
            let why = left_out(&row.fate)?;
            value.as_object_mut()?.insert("why".to_owned(), why.into());
            Some(value)
        })
        .collect();
    let conditional = chain.start.conditional.iter().chain(&chain.touched.conditional);
    let conditional: Vec<Value> = conditional.map(conditional_json).collect();
    let index = |index: &MemoryIndex| {
        json!({
            "path": index.path,
            "scope": index.scope.as_str(),
            "tokens": estimate_text(&index.text, limits).0,
            "cut": index.cut,
        })
    };
    let indexes: Vec<Value> = chain.indexes.iter().map(index).collect();
    json!({
        "loaded": loaded,
        "memory": indexes,
        "waiting": conditional,
        "left_out": left,
        "tokens": total(chain, limits).0,
    })
}

fn row_json(row: &InstructionFile) -> Value {
    let (reason, by, glob) = match &row.reason {
        Reason::Start => ("start", None, None),
        Reason::Nested => ("nested", None, None),
        Reason::PathMatch { glob } => ("path_match", None, Some(glob)),
        Reason::Import { by } => ("import", Some(by), None),
    };
    let fate = match &row.fate {
        FileFate::Loaded => "loaded",
        FileFate::LoadedLarge { .. } => "loaded_large",
        FileFate::Empty => "empty",
        FileFate::Waiting { .. } => "waiting",
        FileFate::Excluded => "excluded",
        FileFate::TooLarge { .. } => "too_large",
        FileFate::NotText => "not_text",
        FileFate::NeedsApproval { .. } => "needs_approval",
        FileFate::TooDeep => "too_deep",
        FileFate::Missing => "missing",
        FileFate::Unreadable { .. } => "unreadable",
    };
    json!({
        "path": row.path,
        "scope": scope(row.scope),
        "reason": reason,
        "imported_by": by,
        "glob": glob,
        "fate": fate,
        "bytes": row.bytes,
        "tokens": row.tokens.0,
    })
}

fn conditional_json(rule: &Conditional) -> Value {
    json!({
        "path": rule.path,
        "scope": scope(rule.scope),
        "globs": rule.patterns.written(),
        "refused_globs": rule.patterns.refused(),
    })
}
