//! A home with sessions and memories, the page over it, and somebody who asks
//! for pages by hand, so that headers can be anything.

use everfold_agent::Agent;
use everfold_agent::session_files::SessionPlaces;
use everfold_memory_store::store::MemoryTarget;
use everfold_memory_store::store::inbox::{ProposalGrounds, ProposedChange};
use everfold_memory_store::store::{ExpectedContent, Save};
use everfold_memory_store::{By, Store, StoreScope};
use everfold_page::{PageAccess, PageSources, listen};
use everfold_testkit::TempHome;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct Stage {
    pub(crate) files: TempHome,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { files: TempHome::new().unwrap() }
    }

    /// Memories of a scope.
    pub(crate) fn store(&self, scope: StoreScope) -> Store {
        let dirs = Agent::builder(self.files.project())
            .environment(BTreeMap::new(), Some(self.files.home()))
            .memory_dirs()
            .unwrap();
        dirs.open(scope).unwrap()
    }

    /// Adds a memory as the person.
    pub(crate) fn remember(&self, name: &str, description: &str, body: &str) -> String {
        let text = memory(name, description, body);
        let save = Save {
            place: MemoryTarget::Named(name.to_owned()),
            text: &text,
            expect: ExpectedContent::Nothing,
            line: None,
            ended: &[],
        };
        let by = By::person("added by hand", jiff::Timestamp::now());
        self.store(StoreScope::Project).save(&save, &by).unwrap().path.to_string()
    }

    /// Puts a memory into the inbox.
    pub(crate) fn propose(&self, name: &str, description: &str, body: &str) {
        let text = memory(name, description, body);
        let by = By::agent("extract", "said in a session", jiff::Timestamp::now());
        let grounds =
            ProposalGrounds { provenance: None, evidence: Some("what the model read".to_owned()) };
        let wish = ProposedChange::add(name, text);
        self.store(StoreScope::Project).propose_on(&grounds, &[wish], &by).unwrap();
    }

    /// A session of Claude Code with so many requests.
    pub(crate) fn claude_session(&self, id: &str, requests: usize, prompt: &str) -> PathBuf {
        let path = self.files.home().join(format!(".claude/projects/-p/{id}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, claude_lines(id, 0..requests, prompt)).unwrap();
        path
    }

    pub(crate) fn open(&self, access: PageAccess) -> Visitor {
        let (project, home) = (self.files.project(), self.files.home());
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let builder =
                    || Agent::builder(&project).environment(BTreeMap::new(), Some(home.clone()));
                let agent = builder().only_looking().build().await.unwrap();
                let memories = builder().memory_dirs().unwrap();
                let places = SessionPlaces::of(agent.home().root(), Some(&home), &BTreeMap::new());
                let page = Box::pin(listen(PageSources { agent, memories, places }, access, 0))
                    .await
                    .unwrap();
                tell.send(page.url()).unwrap();
                // It ends with the process of the tests.
                page.run().await.unwrap();
            });
        });
        let url = told.recv_timeout(Duration::from_secs(30)).unwrap();
        let (base, token) = url.split_once("/?token=").unwrap();
        let host = base.strip_prefix("http://").unwrap().to_owned();
        let mut visitor = Visitor { url: url.clone(), host, token: token.to_owned(), cookie: None };
        let entered = visitor.get(&format!("/?token={token}"));
        let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        visitor.cookie = Some(cookie);
        visitor
    }
}

/// The text of a memory.
pub(crate) fn memory(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\ntype: project\n---\n\n{body}\n")
}

/// Lines of a session of Claude Code: a prompt, a call, its result, an answer.
pub(crate) fn claude_lines(id: &str, requests: std::ops::Range<usize>, prompt: &str) -> String {
    let now = jiff::Timestamp::now().as_second();
    let mut out = String::new();
    for number in requests {
        let at = |offset: i64| {
            let second = now - 3_000 + i64::try_from(number).unwrap() * 20 + offset;
            jiff::Timestamp::from_second(second).unwrap()
        };
        let prompt = serde_json::json!(format!("{prompt} ({number})"));
        let (read, written) = (8_000 + number * 700, 700);
        let parent =
            |last: String| if number == 0 { "null".to_owned() } else { format!("\"{last}\"") };
        let parent = parent(format!("a{}", number.saturating_sub(1)));
        let head = format!(r#""sessionId":"{id}","cwd":"/home/u/shop","version":"2.1.300""#);
        writeln!(
            out,
            r#"{{"type":"user","uuid":"u{number}","parentUuid":{parent},"timestamp":"{}",{head},"message":{{"role":"user","content":{prompt}}}}}"#,
            at(0)
        )
        .unwrap();
        writeln!(
            out,
            r#"{{"type":"assistant","uuid":"a{number}","parentUuid":"u{number}","timestamp":"{}",{head},"requestId":"req{id}{number}","message":{{"id":"msg{id}{number}","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"text","text":"Answer {number}, at some length so that it weighs something in the window."}}],"stop_reason":"end_turn","usage":{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":120}}}}}}"#,
            at(5)
        )
        .unwrap();
    }
    out
}

/// Somebody who asks for pages.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// The address with the key.
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) token: String,
    pub(crate) cookie: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 200, "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn has(&self, part: &str) -> &Self {
        assert!(self.body.contains(part), "no {part:?} in {}", self.body);
        self
    }

    #[track_caller]
    pub(crate) fn lacks(&self, part: &str) -> &Self {
        assert!(!self.body.contains(part), "{part:?} in {}", self.body);
        self
    }
}

impl Visitor {
    /// A page, with the cookie.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.usual(), "")
    }

    /// The headers that a browser sends.
    pub(crate) fn usual(&self) -> Vec<(String, String)> {
        let mut headers = vec![("Host".to_owned(), self.host.clone())];
        headers.extend(self.cookie.clone().map(|cookie| ("Cookie".to_owned(), cookie)));
        headers
    }

    /// Sends a form of ours, with all that a browser sends.
    pub(crate) fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let key = self.form_key();
        let mut all = vec![("key", key.as_str())];
        all.extend(fields);
        let mut headers = self.usual();
        headers.push(("Origin".to_owned(), format!("http://{}", self.host)));
        headers.push(("Sec-Fetch-Site".to_owned(), "same-origin".to_owned()));
        self.ask("POST", path, &headers, &form(&all))
    }

    /// The word of our forms, as any page with one has it.
    pub(crate) fn form_key(&self) -> String {
        let pages = ["/inbox", "/memories", "/changes/project/1"].map(|page| self.get(page).body);
        let linked =
            pages[1].split("href=\"/memories/").nth(1).and_then(|rest| rest.split('"').next());
        let memory = linked.map(|path| self.get(&format!("/memories/{path}")).body);
        let all = pages.iter().chain(&memory);
        let mut keys = all.filter_map(|page| page.split("name=\"key\" value=\"").nth(1));
        keys.next().and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
    }

    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        if method == "POST" {
            let kind = "application/x-www-form-urlencoded";
            write!(text, "Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()).unwrap();
        }
        write!(text, "\r\n{body}").unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        parse(&String::from_utf8_lossy(&bytes))
    }
}

/// Fields as a form sends them.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

fn parse(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or("0");
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Answer { status: status.parse().unwrap(), headers, body: body.to_owned() }
}
