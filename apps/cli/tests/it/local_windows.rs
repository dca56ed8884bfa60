//! Long sessions in the windows of models on one's own machine (Q16).

use crate::desk::{Desk, Running};
use everfold_testkit::{Received, Reply, ServerProgram, ServerRules, TempHome, TestServer};
use serde_json::json;
use std::fmt::Write as _;
use std::process::Command;

const MODEL: &str = "qwen2.5-coder:1.5b";

/// What has to last, and how it is known again.
const LASTING: [(&str, &str); 4] = [
    ("The release is made by Oyelaran on the machine kestrel.", "kestrel"),
    ("Invoices are numbered without gaps; the auditor of Veldhoven checks it.", "Veldhoven"),
    ("The import from Brandt reads files of ISO 8859-15, not UTF-8.", "8859-15"),
    ("Never touch the table ledger_2019: it is evidence in a case.", "ledger_2019"),
];

/// How a weak model answers where a summary is asked for.
#[derive(Clone, Copy, Debug)]
enum Summary {
    Form,
    Nonsense,
    TooLong,
}

fn answer(request: &Received, summary: Summary) -> Reply {
    if request.source() != "compact" {
        return Reply::text("OK");
    }
    match summary {
        Summary::Form => {
            let form = json!({"goal": "Keep a protocol.", "facts": ["pumps run"], "done": [],
                "problems": [], "open": []});
            Reply::text(form.to_string())
        }
        Summary::Nonsense => Reply::text("OK"),
        Summary::TooLong => Reply::text("pump ".repeat(400)),
    }
}

/// A run whose model is on one's own machine.
fn local(desk: &Desk, args: &[&str]) -> Command {
    let mut command = desk.command(args);
    command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
    command.env("OPENAI_BASE_URL", format!("{}/v1", desk.server().base_url()));
    command
}

/// Twelve turns that are three windows together, each by a new process; all that
/// was asked.
fn told(window: u64, bytes_per_token: f64, summary: Summary) -> Vec<Received> {
    let about = format!("{window} {bytes_per_token} {summary:?}");
    let rules = ServerRules {
        bytes_per_token,
        ..ServerRules::local(ServerProgram::LlamaCpp, MODEL, window)
    };
    let server = TestServer::with_handler(rules, move |request| answer(request, summary));
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a size"
    )]
    let bytes = (window as f64 * bytes_per_token / 4.0) as usize;
    for turn in 0..12 {
        let fact = LASTING.get(turn).map_or("Nothing new.", |(fact, _)| fact);
        let mut prompt = format!("{fact} The protocol, nothing to do about it:");
        for line in 0.. {
            if prompt.len() > bytes {
                break;
            }
            let _ = write!(prompt, " {turn}.{line}: the pump of hall {line} was seen and runs.");
        }
        let args: &[&str] = if turn == 0 { &["-p", &prompt] } else { &["-p", "-c", &prompt] };
        let ran = Running::start(&mut local(&desk, args), None).end().ok();
        assert_eq!(ran.out, "OK\n", "{about}, turn {turn}");
        let requests = desk.server().requests();
        let last = requests.iter().rfind(|request| request.source() == "main").unwrap();
        assert!(last.refused.is_none(), "{about}, turn {turn}");
        let body = last.body["messages"].to_string();
        assert!(body.contains(&format!("{turn}.0: the pump")), "{about}, turn {turn}: {body}");
        for (_, mark) in LASTING.iter().take(turn + 1) {
            assert!(body.contains(mark), "{about}, turn {turn}: {mark} is gone: {body}");
        }
    }
    desk.server().requests()
}

#[test]
fn q16_a_session_of_three_windows_goes_on_with_its_facts() {
    for summary in [Summary::Form, Summary::Nonsense, Summary::TooLong] {
        for bytes_per_token in [4.0, 2.2] {
            told(8_192, bytes_per_token, summary);
        }
    }
}

#[test]
fn t8_what_a_compaction_leaves_has_room_for_more_than_one_message() {
    let asked = told(8_192, 4.0, Summary::Form);
    assert!(asked.iter().filter(|request| request.source() == "compact").count() <= 5);
}

#[test]
fn q18_a_summary_is_asked_for_behind_what_the_server_has_read() {
    let asked = told(8_192, 4.0, Summary::Form);
    let mut seen = 0;
    for (at, request) in asked.iter().enumerate().filter(|(_, r)| r.source() == "compact") {
        let main = asked[..at].iter().rfind(|request| request.source() == "main").unwrap();
        let text = |request: &Received| request.body["messages"].to_string();
        let (read, now) = (text(main), text(request));
        assert!(now.starts_with(&read[..read.len() - 1]), "{read}\n{now}");
        assert_eq!(main.body["tools"], request.body["tools"]);
        assert_eq!(request.body["tool_choice"], "none");
        assert!(request.body["response_format"]["json_schema"]["schema"].is_object());
        assert!(request.body["max_tokens"].as_u64().unwrap() <= 700);
        seen += 1;
    }
    assert!(seen > 1);
}

#[test]
fn q18_a_server_that_refuses_a_form_beside_tools_is_asked_without_them() {
    let rules = ServerRules::local(ServerProgram::LlamaCpp, MODEL, 8_192);
    let server = TestServer::with_handler(rules, |request| {
        if request.source() != "compact" {
            return Reply::text("OK");
        }
        if request.body["tools"].is_array() {
            return Reply::error(400, "response_format is not supported with tools");
        }
        Reply::text(r#"{"goal":"Port it.","facts":["by form"],"done":[],"problems":[],"open":[]}"#)
    });
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let long = format!("Port the parser.{}", " Pumps were seen and run.".repeat(400));
    for args in [&["-p", &long][..], &["-p", "-c", "/compact keep the file names"]] {
        Running::start(&mut local(&desk, args), None).end().ok();
    }
    let asked = desk.server().requests_of("compact");
    let told = |request: &Received| request.body["messages"].to_string();
    assert!(asked.iter().all(|request| told(request).contains("keep the file names")));
    assert_eq!(asked.iter().filter(|r| r.body["tools"].is_array()).count(), 1);
    Running::start(&mut local(&desk, &["-p", "-c", "Go on."]), None).end().ok();
    let last = desk.server().requests();
    let last = last.iter().rfind(|request| request.source() == "main").unwrap();
    assert!(told(last).contains("- by form"), "{}", told(last));
}

#[test]
fn q18_what_a_person_asks_to_keep_counts_where_there_is_room_behind() {
    let rules = ServerRules::local(ServerProgram::LlamaCpp, MODEL, 8_192);
    let server = TestServer::with_handler(rules, |request| answer(request, Summary::Form));
    let desk = Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) };
    let long = format!("Port the parser.{}", " Pumps were seen and run.".repeat(400));
    let wish = format!("/compact keep{}", " the file names".repeat(1_050));
    for args in [&["-p", &long][..], &["-p", "-c", &wish]] {
        Running::start(&mut local(&desk, args), None).end().ok();
    }
    let asked = desk.server().requests_of("compact");
    assert_eq!(asked.len(), 1);
    assert!(asked[0].refused.is_none() && asked[0].body["tools"].is_null());
}
