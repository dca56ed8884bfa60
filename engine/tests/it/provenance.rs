//! Whose words the log says its blocks hold (L5.33), seen from outside: in the
//! lines of transcripts, and in the bytes that a model is sent.

use crate::fakes::Bench;
use everfold_engine::agents::letters;
use everfold_engine::tools::{AgentTool, server_tools};
use everfold_engine::window::compaction;
use everfold_engine::window::compaction::Compaction;
use everfold_engine::{Config, Prompt, Session, Toolbox, Waiting, World};
use everfold_hooks::Registry;
use everfold_kernel::ports::{
    Asks, Bodies, BoxFuture, Exit, HookCall, HookExit, HookRun, Hooks, Library, Load, Memories,
    MemoryError, MemoryHead, MemoryIndex, MemoryPlace, MemoryScope, MemoryText, Model, ModelCall,
    ModelError, ModelEvent, ModelStream, Reads, Respondent, ServerError, ServerResult, ServerState,
    ServerTool, ServerView, Servers,
};
use everfold_kernel::record::Dialect;
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::{Block, Timestamp, ToolUseId, Usage};
use everfold_prefix::Message;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A model that says what the test has it say: to the conversation, to its
/// agents, and to whoever else asks.
#[derive(Default)]
struct Scripted {
    main: Mutex<VecDeque<Vec<Block>>>,
    agents: Mutex<VecDeque<Vec<Block>>>,
    aside: Mutex<String>,
    sent: Mutex<Vec<String>>,
}

impl Scripted {
    fn says(&self, blocks: Vec<Block>) {
        self.main.lock().unwrap().push_back(blocks);
    }

    fn agent_says(&self, blocks: Vec<Block>) {
        self.agents.lock().unwrap().push_back(blocks);
    }
}

impl Model for Scripted {
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        self.sent.lock().unwrap().push(String::from_utf8(call.body.whole().to_vec()).unwrap());
        let source = call.source.to_string();
        let script = match source.as_str() {
            "main" => Some(&self.main),
            "agent:general" | "agent:fork" => Some(&self.agents),
            _ => None,
        };
        let scripted = script.and_then(|script| script.lock().unwrap().pop_front());
        let aside = || vec![Block::text(self.aside.lock().unwrap().clone())];
        let blocks = scripted.unwrap_or_else(aside);
        let calls = blocks.iter().any(|block| block.kind() == "tool_use");
        let number = self.sent.lock().unwrap().len();
        let mut events = vec![Ok(ModelEvent::Started {
            message_id: format!("msg_{number}").into(),
            request_id: None,
            model: "claude-sonnet-5-5".into(),
            usage: Usage::default(),
        })];
        events
            .extend((0..).zip(blocks).map(|(index, block)| Ok(ModelEvent::Block { index, block })));
        let stop_reason = if calls { "tool_use" } else { "end_turn" }.to_owned();
        events.push(Ok(ModelEvent::Finished { stop_reason, usage: Usage::default() }));
        let stream: ModelStream = Box::pin(futures_util::stream::iter(events));
        Box::pin(async move { Ok(stream) })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }
}

/// One server with one tool.
struct OneServer;

impl Servers for OneServer {
    fn connect(&self) {}

    fn settled(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn list(&self) -> Vec<ServerView> {
        let tool = ServerTool {
            name: "ask".into(),
            description: "answers".into(),
            input_schema: json!({"type": "object"}),
            reads: Reads::Only,
            load: Load::WhenAsked,
            asks: Asks::ByRule,
        };
        vec![ServerView {
            name: "far".into(),
            origin: "test".into(),
            state: ServerState::Up("1".into()),
            instructions: Some("Use it well.".into()),
            tools: vec![tool].into(),
            prompts: Vec::new().into(),
            library: Library::None,
        }]
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: Map<String, Value>,
        _: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        let content = vec![json!({"type": "text", "text": "from afar"})];
        Box::pin(async move { Ok(ServerResult { content, is_error: false, structured: None }) })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// A conversation in a world in memory.
struct Talk {
    bench: Bench,
    model: Arc<Scripted>,
    session: Session,
}

fn world(bench: &Bench, model: &Arc<Scripted>) -> World {
    World { model: model.clone(), ..bench.context.world.clone() }
}

fn config() -> Config {
    let permission_mode = PermissionMode::BypassPermissions;
    let mut config = Config::new("/proj".into());
    config.permissions.mode = permission_mode;
    config
}

fn toolbox() -> Toolbox {
    let config = config();
    let agent = AgentTool::new(&config.agents.roster, &config.limits.agents);
    let mut extra = server_tools();
    extra.push(Arc::new(agent));
    Toolbox::with_extra(extra)
}

impl Talk {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(servers: Option<Arc<dyn Servers>>) -> Self {
        Self::in_world(config(), |world| World { servers, ..world })
    }

    fn in_world(config: Config, change: impl FnOnce(World) -> World) -> Self {
        let (bench, model) = (Bench::new(), Arc::new(Scripted::default()));
        bench.files.add("/proj/a.txt", "from the tree\n");
        bench.web.add("https://example.org/", 200, &"A page that says things. ".repeat(200));
        let world = change(world(&bench, &model));
        let session = Session::new("s1".into(), world, config, toolbox());
        Self { bench, model, session }
    }

    async fn say(&mut self, prompt: impl Into<Prompt>) {
        let end = everfold_engine::say(&mut self.session, prompt, &CancellationToken::new())
            .await
            .unwrap();
        assert!(end.reason.is_success(), "{end:?}");
    }

    /// Lines of the conversation, or of its agents: whose words, and the line.
    fn lines(&self, side: Side) -> Vec<(Value, Value)> {
        let lines = self.bench.transcripts.lines.lock().unwrap();
        lines
            .iter()
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .filter(|line| {
                (line["sessionId"] == "s1") && (line["isSidechain"] == json!(side == Side::Agents))
            })
            .map(|line| (line["everfold"]["provenance"].clone(), line))
            .collect()
    }

    /// Whose words the result of a call is.
    fn result(&self, id: &str) -> Value {
        let found = self
            .lines(Side::Main)
            .into_iter()
            .rev()
            .find(|(_, line)| line["message"]["content"][0]["tool_use_id"] == id);
        found.unwrap().0[0].clone()
    }

    /// Whose words the last attachment of a kind is.
    fn attachment(&self, kind: &str) -> Value {
        let lines = self.lines(Side::Main).into_iter().rev();
        let mut found = lines.filter(|(_, line)| line["attachment"]["type"] == kind);
        found.next().unwrap().0[0].clone()
    }

    /// Nothing of it reaches a provider.
    fn assert_unsent(&self) {
        let sent = self.model.sent.lock().unwrap();
        assert!(!sent.is_empty());
        for body in sent.iter() {
            assert!(!body.contains("provenance"), "{body}");
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Main,
    Agents,
}

fn call(id: &str, name: &str, input: Value) -> Block {
    Block::tool_use(&ToolUseId::new(id), name, input)
}

fn read(id: &str) -> Block {
    call(id, "Read", json!({"file_path": "/proj/a.txt"}))
}

fn fetch(id: &str) -> Block {
    call(id, "WebFetch", json!({"url": "https://example.org/", "prompt": "what is there?"}))
}

fn agent(id: &str, more: &Value) -> Block {
    let mut input = json!({"description": "look", "prompt": "Look at it."});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call(id, "Agent", input)
}

fn text(text: &str) -> Vec<Block> {
    vec![Block::text(text)]
}

#[tokio::test]
async fn l5_33_every_tool_says_whose_words_its_result_is() {
    let mut talk = Talk::with(Some(Arc::new(OneServer)));
    talk.bench.shell.will("made by make", Exit::Code(0), None);
    talk.bench.search.grep_found.lock().unwrap().lines = vec!["/proj/a.txt:1:from".into()];
    talk.model.says(vec![
        read("read"),
        call("grep", "Grep", json!({"pattern": "from"})),
        call("glob", "Glob", json!({"pattern": "**/*"})),
        call("bash", "Bash", json!({"command": "make"})),
        fetch("web"),
        call("mcp", "mcp__call", json!({"tool": "mcp__far__ask", "arguments": {}})),
        call("write", "Write", json!({"file_path": "/proj/b.txt", "content": "b"})),
        call("search", "ToolSearch", json!({"query": "ask"})),
        call("none", "NoSuchTool", json!({})),
        call("missing", "Read", json!({"file_path": "/proj/nothing.txt"})),
    ]);
    talk.model.says(vec![call("again", "ResultRead", json!({"id": "web"}))]);
    talk.model.says(text("done"));
    talk.say("go on").await;
    for (id, whose) in [
        ("read", "repository"),
        ("grep", "repository"),
        ("glob", "repository"),
        ("bash", "command"),
        ("web", "web"),
        ("mcp", "mcp"),
        ("write", "repository"),
        ("search", "mcp"),
        ("none", "command"),
        ("missing", "command"),
        ("again", "web"),
    ] {
        assert_eq!(talk.result(id), whose, "{id}");
    }
    assert_eq!(talk.attachment("mcp_instructions_delta"), "mcp");
    talk.assert_unsent();
}

#[tokio::test]
async fn l5_33_a_prompt_says_what_was_typed_and_what_was_pasted() {
    let mut talk = Talk::new();
    talk.model.says(text("seen"));
    talk.say(
        Prompt::from("fix this now: boom at 7, see @a.txt")
            .with_pasted(std::slice::from_ref(&(14..23))),
    )
    .await;
    let prompt = |talk: &Talk, start: &str| {
        let lines = talk.lines(Side::Main);
        let said = |line: &Value| line["message"]["content"].as_str().map(str::to_owned);
        let mut found = lines.into_iter().filter(|(_, line)| line["type"] == "user");
        found.find(|(_, line)| said(line).is_some_and(|said| said.starts_with(start))).unwrap().0
    };
    let parts = json!([[[14, "person"], [23, "pasted"], [35, "person"]]]);
    assert_eq!(prompt(&talk, "fix this"), parts);
    assert_eq!(talk.attachment("file"), "repository");
    talk.model.says(vec![read("r")]);
    talk.model.says(text("both seen"));
    let waiting = Waiting { text: "and that".into(), pasted: std::iter::once(4..8).collect() };
    talk.session.queue().add(waiting);
    talk.say("go on").await;
    assert_eq!(prompt(&talk, "and that"), json!([[[4, "person"], [8, "pasted"]]]));
    assert_eq!(prompt(&talk, "go on"), json!(["person"]));
    talk.assert_unsent();
}

#[tokio::test]
async fn l5_33_an_agent_reports_the_lowest_of_what_it_read() {
    let mut talk = Talk::new();
    talk.model.says(vec![agent("plain", &json!({}))]);
    talk.model.agent_says(text("nothing to see"));
    talk.model.says(vec![agent("tree", &json!({}))]);
    talk.model.agent_says(vec![read("r1")]);
    talk.model.agent_says(text("a file"));
    talk.model.says(vec![agent("page", &json!({}))]);
    talk.model.agent_says(vec![fetch("w1"), read("r2")]);
    talk.model.agent_says(text("a page"));
    talk.model.says(vec![agent("fork", &json!({"subagent_type": "fork"}))]);
    talk.model.agent_says(text("all that is known"));
    talk.model.says(text("done"));
    talk.say("look around").await;
    assert_eq!(talk.result("plain"), "agent:model");
    assert_eq!(talk.result("tree"), "agent:repository");
    assert_eq!(talk.result("page"), "agent:web");
    // A fork has in view what the conversation had: that report.
    assert_eq!(talk.result("fork"), "agent:web");
    let asked = talk.lines(Side::Agents);
    let (whose, _) =
        asked.iter().find(|(_, line)| line["message"]["content"] == "Look at it.").unwrap();
    assert_eq!(*whose, json!(["model"]));
    talk.assert_unsent();
}

#[tokio::test]
async fn l5_33_an_agent_in_the_background_and_its_letters_say_it_too() {
    let mut talk = Talk::new();
    talk.model.says(vec![agent("bg", &json!({"run_in_background": true}))]);
    talk.model.agent_says(vec![fetch("w1")]);
    talk.model.agent_says(vec![call("m1", "SendMessage", json!({"to": "main", "message": "hi"}))]);
    talk.model.agent_says(text("a page"));
    talk.model.says(text("waiting"));
    talk.say("look around").await;
    for _ in 0..4_000 {
        if letters::agents(&talk.session).running().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    talk.model.says(text("told"));
    let _ = everfold_engine::go_on(&mut talk.session, &CancellationToken::new()).await.unwrap();
    assert_eq!(talk.result("bg"), "command");
    assert_eq!(talk.attachment("agent_message"), "agent:web");
    assert_eq!(talk.attachment("task_status"), "agent:web");
}

const RULE: &str = "Never deploy to production on a Friday afternoon.";

#[tokio::test]
async fn l5_33_a_summary_is_the_lowest_of_what_it_sums_up_but_for_the_persons_words() {
    let mut talk = Talk::new();
    talk.bench.files.add("/proj/long.txt", "a line of the tree\n".repeat(600));
    talk.model.says(vec![fetch("w"), call("r", "Read", json!({"file_path": "/proj/long.txt"}))]);
    talk.model.says(text("I have read it."));
    talk.say(RULE).await;
    talk.model.says(text("Yes."));
    talk.say("and now?").await;
    let said = format!("<summary>\nA page was read: it says to run things.\n{RULE}\n</summary>");
    *talk.model.aside.lock().unwrap() = said;
    let done = compaction::compact(
        &mut talk.session,
        Compaction::by_hand(None),
        &CancellationToken::new(),
    )
    .await;
    done.unwrap();
    let lines = talk.lines(Side::Main);
    let (whose, line) = lines.iter().find(|(_, line)| line["isCompactSummary"] == true).unwrap();
    let text = line["message"]["content"].as_str().unwrap();
    let mut start = 0;
    let mut persons = Vec::new();
    for part in whose[0].as_array().unwrap() {
        let end = usize::try_from(part[0].as_u64().unwrap()).unwrap();
        match part[1].as_str().unwrap() {
            "person" => persons.push(&text[start..end]),
            other => assert_eq!(other, "summary:web"),
        }
        start = end;
    }
    assert!(persons.contains(&RULE), "{persons:?}");
    assert!(!persons.iter().any(|said| said.contains("page")), "{persons:?}");
    assert_eq!(talk.attachment("compact_file_reference"), "repository");
    talk.assert_unsent();
}

#[tokio::test]
async fn l5_33_a_resumed_and_a_forked_conversation_still_know() {
    let mut talk = Talk::new();
    talk.model.says(vec![fetch("web")]);
    talk.model.says(text("seen"));
    talk.say(Prompt::from("read it: pasted words").with_pasted(std::slice::from_ref(&(9..21))))
        .await;
    let whose = |session: &Session| -> Vec<String> {
        let pieces = session.fold().messages().iter().flat_map(Message::pieces);
        pieces.filter_map(|piece| piece.provenance.lowest().map(|own| own.to_string())).collect()
    };
    let before = whose(&talk.session);
    assert!(before.contains(&"web".to_owned()) && before.contains(&"pasted".to_owned()));
    let resumed =
        everfold_engine::resume("s1".into(), world(&talk.bench, &talk.model), config(), toolbox());
    let (mut resumed, _) = resumed.await.unwrap();
    assert_eq!(whose(&resumed), before);
    // Even a result that was put aside is known by its call.
    talk.model.says(vec![call("again", "ResultRead", json!({"id": "web"}))]);
    talk.model.says(text("seen again"));
    everfold_engine::turn(&mut resumed, "once more", &CancellationToken::new()).await.unwrap();
    assert_eq!(talk.result("again"), "web");
    let from = "s1".into();
    let other = world(&talk.bench, &talk.model);
    let forked =
        everfold_engine::fork(&from, "s2".into(), other, config(), toolbox()).await.unwrap().0;
    assert_eq!(whose(&forked), whose(&resumed));
}

/// A hook that has a word for every prompt, and changes what Read gives.
struct Meddler;

impl Hooks for Meddler {
    fn run(&self, call: HookCall) -> BoxFuture<'_, HookRun> {
        let input = String::from_utf8_lossy(call.input.as_ref()).into_owned();
        let stdout = if input.contains("PostToolUse") {
            json!({"hookSpecificOutput": {
                "hookEventName": "PostToolUse", "updatedToolOutput": "mended"
            }})
            .to_string()
        } else {
            "mind the gap".to_owned()
        };
        Box::pin(async move {
            HookRun { exit: HookExit::Ended(Exit::Code(0)), stdout, stderr: String::new() }
        })
    }

    fn start(&self, _: HookCall) {}

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

#[tokio::test]
async fn l5_33_what_a_hook_says_or_changes_is_the_hooks() {
    let handler = json!([{"matcher": "*", "hooks": [{"type": "command", "command": "meddle"}]}]);
    let hooks = json!({"UserPromptSubmit": handler, "PostToolUse": handler});
    let hooks = Registry::read(hooks.as_object().unwrap(), &|_| "test".to_owned());
    let mut config = config();
    config.setups.hooks = Arc::new(hooks);
    let meddler: Option<Arc<dyn Hooks>> = Some(Arc::new(Meddler));
    let mut talk = Talk::in_world(config, |world| World { hooks: meddler, ..world });
    talk.model.says(vec![read("r")]);
    talk.model.says(text("done"));
    talk.say("go on").await;
    assert_eq!(talk.attachment("hook_additional_context"), "hook");
    assert_eq!(talk.result("r"), "hook");
    talk.assert_unsent();
}

/// A directory of memories in which two are.
struct TwoMemories(Vec<MemoryPlace>);

impl TwoMemories {
    fn port() -> Arc<dyn Memories> {
        let place = MemoryPlace { scope: MemoryScope::Project, dir: "/mem".into() };
        Arc::new(Self(vec![place]))
    }

    fn head(file: &str) -> MemoryHead {
        MemoryHead {
            scope: MemoryScope::Project,
            file: file.into(),
            path: format!("/mem/{file}").into(),
            name: file.into(),
            description: "about deploys".into(),
            kind: None,
            basis: None,
            used: 0,
            modified: Timestamp::UNIX_EPOCH,
            body: "deploys".into(),
        }
    }
}

impl Memories for TwoMemories {
    fn places(&self) -> &[MemoryPlace] {
        &self.0
    }

    fn indexes(&self) -> BoxFuture<'_, Result<Vec<MemoryIndex>, MemoryError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn scan(&self, _: usize, _: Bodies) -> BoxFuture<'_, Result<Vec<MemoryHead>, MemoryError>> {
        let both = ["own.md", "page.md"].map(Self::head).to_vec();
        Box::pin(async move { Ok(both) })
    }

    fn read<'a>(
        &'a self,
        memory: &'a MemoryHead,
    ) -> BoxFuture<'a, Result<MemoryText, MemoryError>> {
        let (dir, message) = (memory.path.clone(), "not here".to_owned());
        Box::pin(async move { Err(MemoryError::Unreadable { dir, message }) })
    }
}

#[tokio::test]
async fn l5_33_a_memory_is_of_whom_it_rests_on() {
    let world = |world| World { memories: Some(TwoMemories::port()), ..world };
    let mut talk = Talk::in_world(config(), world);
    let memory = |whose: &str| {
        format!("---\nname: x\ndescription: about deploys\nmetadata:\n  {whose}\n---\n\ndeploys\n")
    };
    talk.bench.files.add("/mem/own.md", memory("basis: stated"));
    talk.bench.files.add("/mem/page.md", memory("provenance: web"));
    talk.bench.files.add("/mem/MEMORY.md", "- [x](own.md)\n");
    talk.bench.search.grep_found.lock().unwrap().lines =
        vec!["/mem/own.md:7:deploys".into(), "/mem/page.md:7:deploys".into()];
    let file = |id: &str, path: &str, offset: u64| {
        call(id, "Read", json!({"file_path": path, "offset": offset}))
    };
    talk.model.says(vec![
        file("own", "/mem/own.md", 1),
        file("page", "/mem/page.md", 1),
        file("end", "/mem/page.md", 6),
        file("index", "/mem/MEMORY.md", 1),
        call("grep", "Grep", json!({"pattern": "deploys", "path": "/mem"})),
        call("search", "MemorySearch", json!({"query": "deploys", "where": "memories"})),
    ]);
    talk.model.says(text("done"));
    talk.say("look at what you know").await;
    for (id, whose) in [
        ("own", "memory:person"),
        ("page", "memory:web"),
        ("end", "memory:web"),
        ("index", "memory:model"),
        ("grep", "memory:web"),
        ("search", "memory:web"),
    ] {
        assert_eq!(talk.result(id), whose, "{id}");
    }
}

#[tokio::test]
async fn l5_33_a_result_that_was_put_aside_is_what_its_tool_said() {
    let mut talk = Talk::new();
    talk.bench.files.add("/session/tool-results/web.txt", "the page in full\n");
    talk.bench.files.add("/session/jobs/b1.txt", "printed\n");
    talk.model.says(vec![fetch("web")]);
    let file = |id: &str, path: &str| call(id, "Read", json!({"file_path": path}));
    talk.model.says(vec![
        file("aside", "/session/tool-results/web.txt"),
        file("job", "/session/jobs/b1.txt"),
    ]);
    talk.model.says(text("done"));
    talk.say("look at it all").await;
    assert_eq!(talk.result("aside"), "web");
    assert_eq!(talk.result("job"), "command");
}
