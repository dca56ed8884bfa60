//! A home, a project and an agent in it.

use everfold_agent::{Agent, AllowAll, Builder, EndReason, Session, Turn, TurnEnd};
use everfold_kernel::ports::Approver;
use everfold_testkit::{FakeClock, TempHome, TestServer};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) struct Place {
    pub(crate) dirs: TempHome,
    pub(crate) server: TestServer,
    pub(crate) clock: FakeClock,
}

pub(crate) const KEY: &str = "sk-test-0123456789";

impl Place {
    pub(crate) fn new(server: TestServer) -> Self {
        let clock = server.clock();
        Self { dirs: TempHome::new().unwrap(), server, clock }
    }

    pub(crate) fn builder(&self) -> Builder {
        self.builder_with(&[])
    }

    /// A builder with more variables in its environment.
    pub(crate) fn builder_with(&self, more: &[(&str, &str)]) -> Builder {
        self.builder_of(more, &[])
    }

    /// A builder without some of the usual ones.
    pub(crate) fn builder_without(&self, unset: &[&str]) -> Builder {
        self.builder_of(&[], unset)
    }

    fn builder_of(&self, more: &[(&str, &str)], unset: &[&str]) -> Builder {
        let mut variables = BTreeMap::from([
            ("ANTHROPIC_BASE_URL".to_owned(), self.server.base_url()),
            ("ANTHROPIC_API_KEY".to_owned(), KEY.to_owned()),
            ("EVERFOLD_LIMIT_RETRY_BASE_MS".to_owned(), "1".to_owned()),
            ("EVERFOLD_LIMIT_RETRY_MAX_MS".to_owned(), "5".to_owned()),
            ("EVERFOLD_LIMIT_MAX_RETRIES".to_owned(), "2".to_owned()),
            // Requests beside the conversation are for the tests that are about them.
            ("EVERFOLD_FLAG_SESSION_MEMORY".to_owned(), "0".to_owned()),
            ("EVERFOLD_FLAG_EXTRACT".to_owned(), "0".to_owned()),
        ]);
        variables.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        variables.retain(|name, _| !unset.contains(&name.as_str()));
        Agent::builder(self.dirs.project())
            .environment(variables, Some(self.dirs.root().to_owned()))
            .home(self.dirs.home())
            .managed_settings(self.dirs.root().join("managed.json"))
            .clock(Arc::new(self.clock.clone()))
            .approver(Arc::new(AllowAll) as Arc<dyn Approver>)
            // Whether these are worth it is for the tests that are about that.
            .set("place", "/everfold/memory/reviewer", "fork")
            .set("place", "/everfold/compact/notes", "always")
            .set("place", "/everfold/compact/economy", "off")
            .set("place", "/everfold/budget/background_share", 0.0)
    }

    pub(crate) async fn agent(&self) -> Agent {
        self.builder().build().await.unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        self.dirs.write(self.dirs.project().join(name), text).unwrap().display().to_string()
    }

    /// The lines of a session's transcript.
    pub(crate) fn transcript_of(
        &self,
        session: &everfold_agent::SessionId,
    ) -> Vec<serde_json::Value> {
        let name = format!("{session}.jsonl");
        let mut files = walk(&self.dirs.home().join("projects")).into_iter();
        let file = files.find(|path| path.file_name().is_some_and(|own| own == name.as_str()));
        let text = std::fs::read_to_string(file.expect("a transcript")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

pub(crate) async fn say(session: &mut Session, prompt: &str) -> TurnEnd {
    Turn::new(session, prompt).end().await.unwrap()
}

pub(crate) async fn say_ok(session: &mut Session, prompt: &str) -> TurnEnd {
    let end = say(session, prompt).await;
    assert_eq!(end.reason, EndReason::Completed);
    end
}
