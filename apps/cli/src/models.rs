//! `everfold models`: sentence models that memories are found by (R14). They are
//! files that a person has; nothing is fetched.

use crate::args::ModelsCommand;
use crate::failure::Refusal;
use crate::presenter::{Presenter, TextStyle, size};
use crate::setup::ProcessEnv;
use anyhow::Result;
use everfold_agent::settings::Home;
use everfold_memory_embed::{Error, InstalledModel, InstalledModels};
use serde_json::{Value, json};

/// How to come by a build that runs models.
const BUILD: &str =
    "build one that does: `cargo install --path apps/cli --features embed`, then add it again";

pub(crate) fn run(env: &ProcessEnv, command: &ModelsCommand, presenter: &Presenter) -> Result<()> {
    let home = Home::resolve(&env.variables, env.user_home.as_deref())?;
    let models = InstalledModels::in_home(home.root());
    match command {
        ModelsCommand::Add { model, tokenizer, json } => {
            let added = models.add(model, tokenizer, jiff::Timestamp::now()).map_err(told)?;
            if *json {
                return Ok(Presenter::json(&row(&added, None))?);
            }
            presenter.line(&format!("{} is installed, {}", added.name, size(added.bytes)))?;
            presenter.note(
                TextStyle::Dim,
                "memories get their vectors in the background, the first time they are searched",
            );
        }
        ModelsCommand::List { json } => list(&models, *json, presenter)?,
        ModelsCommand::Remove { name } => {
            models.remove(name).map_err(told)?;
            presenter.line(&format!("removed {name}"))?;
        }
    }
    Ok(())
}

fn list(models: &InstalledModels, json: bool, presenter: &Presenter) -> Result<()> {
    let all: Vec<(InstalledModel, Option<Error>)> = models
        .list()
        .into_iter()
        .map(|own| {
            let fault = models.check(&own).err();
            (own, fault)
        })
        .collect();
    if json {
        let rows: Vec<Value> = all.iter().map(|(own, fault)| row(own, fault.as_ref())).collect();
        return Ok(Presenter::json(&rows)?);
    }
    if all.is_empty() {
        presenter.line("no sentence model installed; memories are found without one")?;
        presenter.note(
            TextStyle::Dim,
            "hint: `everfold models add MODEL.onnx TOKENIZER.json` installs one from files",
        );
    }
    for (at, (own, fault)) in all.iter().enumerate() {
        let use_of = match (fault, at) {
            (Some(_), _) => "damaged: remove it, and add it again",
            (None, 0) => "in use",
            (None, _) => "not in use; a newer one is",
        };
        let day = own.added.strftime("%Y-%m-%d");
        presenter.line(&format!(
            "{}  {} numbers, {}, added {day}, {use_of}",
            own.name,
            own.dims,
            size(own.bytes)
        ))?;
    }
    Ok(())
}

fn row(own: &InstalledModel, fault: Option<&Error>) -> Value {
    json!({
        "name": own.name, "dims": own.dims, "bytes": own.bytes, "checksum": own.checksum,
        "added": own.added, "fault": fault.map(ToString::to_string),
    })
}

fn told(error: Error) -> anyhow::Error {
    let hint = match &error {
        Error::NotBuilt => BUILD,
        Error::NoSuch { .. } => "`everfold models list` shows what is installed",
        Error::NoModel { .. } | Error::NoTokenizer { .. } => {
            "it takes an ONNX file of the BERT family and the tokenizer.json that belongs to it"
        }
        _ => return error.into(),
    };
    Refusal::new(error.to_string(), hint).into()
}
