//! `everfold-testkit serve scenario.json [--port N]`: the test server for a
//! person to try things against.

use everfold_testkit::{Received, Scenario, TestServer};
use jiff::Timestamp;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "usage: everfold-testkit serve <scenario.json> [--port <number>]";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            // There is nowhere else to say it.
            let _ = writeln!(std::io::stderr(), "everfold-testkit: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    if arguments.next().as_deref() != Some("serve") {
        return Err(USAGE.into());
    }
    let path = arguments.next().ok_or(USAGE)?;
    let port = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => 0,
        (Some("--port"), Some(number)) => number
            .parse()
            .map_err(|_| format!("{number:?} is not a port; give a number up to 65535"))?,
        _ => return Err(USAGE.into()),
    };
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Scenario::from_json(&text).map_err(|error| format!("{path}: {error}"))?;
    let server = TestServer::serve(scenario, port, Timestamp::now, log)?;
    let url = server.base_url();
    let mut out = std::io::stdout();
    writeln!(out, "listening on {url}")?;
    writeln!(out, "ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=test everfold")?;
    writeln!(
        out,
        "EVERFOLD_PROVIDER=openai OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=test everfold"
    )?;
    out.flush()?;
    server.join();
    Ok(())
}

/// One line for each request.
fn log(request: &Received) {
    let source = match request.source() {
        "" => "-",
        source => source,
    };
    let outcome = match (&request.usage, &request.refused) {
        (_, Some((status, message))) => format!("{status} {message}"),
        (Some(usage), None) => {
            let cost = request.cost.map_or("no price".to_owned(), |cost| format!("${:.6}", cost.0));
            format!(
                "input {} read {} written {} output {} {cost}",
                usage.input,
                usage.cache_read,
                usage.cache_write(),
                usage.output
            )
        }
        (None, None) => String::new(),
    };
    // A closed terminal must not end the server.
    let _ = writeln!(
        std::io::stdout(),
        "#{} {} {source} {} {outcome}",
        request.index + 1,
        request.path,
        request.model()
    );
}
