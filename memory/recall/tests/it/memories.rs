//! A small hand-made store of memories, and queries about it and about
//! everything else (R8).

use everfold_kernel::ports::RecallTier;
use everfold_memory_recall::{
    Counter, Document, QueryVector, Ranking, Sense, TABLE_WEIGHT, Tuning, Vectors, WordTable,
    Words, rank, rank_known,
};

/// Name, description and body.
const MEMORIES: [(&str, &str, &str); 16] = [
    (
        "real-database-in-tests",
        "Integration tests use a real Postgres, never mocks",
        "Mocks hid a broken migration in March.\n\n**Why:** the schema drifted.\n\n**How to apply:** start the container first.",
    ),
    (
        "prefers-short-answers",
        "The user wants terse answers without summaries at the end",
        "Said so twice. Diffs speak for themselves.",
    ),
    (
        "deploy-freeze-fridays",
        "No deployments from Friday noon until Monday",
        "The on-call rota is empty at weekends. Ask Priya for exceptions.",
    ),
    (
        "linear-board",
        "Bugs of the ingestion pipeline are tracked in Linear, project INGEST",
        "Do not open GitHub issues for the pipeline.",
    ),
    (
        "user-role",
        "The user is a data scientist who is new to Rust",
        "Knows Python and pandas well. Explain lifetimes by comparison.",
    ),
    (
        "grafana-latency-board",
        "The latency dashboard that on-call watches",
        "grafana.internal/d/api-latency: check it when request handling changes.",
    ),
    (
        "merge-commits",
        "Squash merges only; never force-push to main",
        "History is read by the release script.",
    ),
    (
        "windows-paths",
        "Paths on the CI runner for Windows need backslashes",
        "The build script joins them by hand, see build.rs.",
    ),
    (
        "redis-timeouts",
        "Redis calls time out after 200 ms in staging",
        "Raise `REDIS_TIMEOUT_MS` locally, or the session tests fail at random.",
    ),
    (
        "invoice-rounding",
        "Invoices round half to even, in cents",
        "Agreed with accounting after the October audit.",
    ),
    ("bun-not-npm", "The web folder uses bun, not npm", "npm install breaks the lock file."),
    (
        "api-versioning",
        "Public endpoints carry their version in the path",
        "v1 is frozen until the mobile app has moved.",
    ),
    (
        "feature-flags-rollout",
        "Flags are rolled out to 5 percent of accounts first",
        "Watch the error budget for a day.",
    ),
    (
        "german-copy",
        "Texts for customers are written in German, formal address",
        "Reviewed by Anke before release.",
    ),
    (
        "gpu-quota",
        "Training jobs may take four GPUs at most",
        "More are refused by the scheduler at night.",
    ),
    (
        "postmortem-2025-03",
        "Why checkout was down on 12 March 2025",
        "A migration locked the orders table. Run long migrations with a lock timeout.",
    ),
];

fn ranked(query: &str) -> Ranking {
    let documents: Vec<Document<'_>> = MEMORIES
        .iter()
        .map(|(name, description, body)| Document {
            name,
            description,
            body,
            ..Document::default()
        })
        .collect();
    let table = WordTable::get().unwrap();
    let mut counter = Counter::default();
    let words: Vec<Words> = documents.iter().map(|one| counter.count(one)).collect();
    let vectors: Vec<Vectors> = documents.iter().map(|one| Vectors::of(table, one)).collect();
    let known: Vec<(Document<'_>, &Words)> = documents.into_iter().zip(&words).collect();
    let sense = QueryVector::of(table, query)
        .map(|query| Sense::of_all(TABLE_WEIGHT, query, vectors.iter().map(Some).collect()));
    let senses: Vec<Sense<'_>> = sense.into_iter().collect();
    rank_known(&query.into(), &known, &senses, None, &Tuning::default())
}

fn of_tier(query: &str, tier: RecallTier) -> Vec<&'static str> {
    ranked(query).of_tier(tier).iter().map(|hit| MEMORIES[hit.index].0).collect()
}

fn recalled(query: &str) -> Vec<&'static str> {
    of_tier(query, RecallTier::Body)
}

#[test]
fn r8_a_query_about_a_memory_brings_it_first() {
    for (query, name) in [
        ("should I mock the database in this test?", "real-database-in-tests"),
        ("write integration tests for the orders, with mocks", "real-database-in-tests"),
        ("can we deploy this on Friday afternoon?", "deploy-freeze-fridays"),
        ("where are ingestion bugs tracked?", "linear-board"),
        ("is there a dashboard for request latency", "grafana-latency-board"),
        ("squash or merge commit for this branch?", "merge-commits"),
        ("the session tests time out against redis", "redis-timeouts"),
        ("how do we round cents on an invoice", "invoice-rounding"),
        ("install the packages of the web folder with npm", "bun-not-npm"),
        (
            "add a new public endpoint for the mobile app, which version goes in the path?",
            "api-versioning",
        ),
        ("roll out the flag for new accounts", "feature-flags-rollout"),
        ("translate this text for customers", "german-copy"),
        ("how many GPUs can the training job use", "gpu-quota"),
        ("what took checkout down in March?", "postmortem-2025-03"),
        ("the windows build fails because of the paths on CI", "windows-paths"),
    ] {
        assert_eq!(recalled(query).first(), Some(&name), "{query}: {:?}", recalled(query));
    }
}

#[test]
fn r8_an_unrelated_query_brings_nothing() {
    for query in [
        "thanks, that looks good",
        "please continue",
        "what is the capital of France?",
        "explain how quicksort works and give me an example in Haskell",
        "rename the variable foo to bar in this function",
        "can you help me with this?",
        "I want to learn to play the guitar",
        "write a haiku about autumn leaves",
        "what does this regular expression match",
        "why does the borrow checker complain about this closure",
        "make the button blue and a little larger",
        "summarise the article that I pasted above",
        "let's go on with the next step of the plan",
        "add a dark theme to the settings page and keep the choice across restarts of the browser",
        "which chess opening is best against the Sicilian defence for a beginner who hates theory",
    ] {
        assert!(recalled(query).is_empty(), "{query}: {:?}", recalled(query));
    }
}

#[test]
fn r8_a_long_message_still_finds_its_memory_and_brings_little_else() {
    let message = "I was looking at the failing build yesterday evening and noticed that the \
        session tests sometimes fail, but only when I run everything together. The log says that \
        a redis call took too long and hit a timeout, then the whole suite is marked red. Could \
        you have a look at why that happens and propose a small change that makes it stable?";
    let ranking = ranked(message);
    assert_eq!(MEMORIES[ranking.hits[0].index].0, "redis-timeouts");
    assert!(recalled(message).len() <= 1, "{:?}", recalled(message));
}

#[test]
fn r8_nothing_is_found_without_memories_or_words() {
    assert!(rank("anything at all", &[], None, &Tuning::default()).hits.is_empty());
    assert!(recalled("").is_empty());
    assert!(recalled("the of and").is_empty());
}
