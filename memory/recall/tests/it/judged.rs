//! What is shown of two made-up projects (R13). Nothing is fitted on these
//! prompts: what the gate does here it does for somebody's project.

use everfold_kernel::ports::RecallTier;
use everfold_memory_recall::{
    Counter, Document, QueryVector, Ranking, RecallPrompt, Sense, TABLE_WEIGHT, Tuning, Vectors,
    WordTable, Words, rank_known,
};
use serde_json::Value;

const JUDGED: &str = include_str!("../../../../testkit/judged/recall.json");

/// Memories as they are kept, to be asked for.
struct Shelf<'a> {
    documents: Vec<(Document<'a>, Words)>,
    vectors: Vec<Vectors>,
}

impl<'a> Shelf<'a> {
    fn new(documents: impl Iterator<Item = Document<'a>>) -> Self {
        let table = WordTable::get().unwrap();
        let mut counter = Counter::default();
        let documents: Vec<_> = documents.map(|one| (one, counter.count(&one))).collect();
        let vectors = documents.iter().map(|(one, _)| Vectors::of(table, one)).collect();
        Self { documents, vectors }
    }

    fn ask(&self, text: &str) -> Ranking {
        let known: Vec<_> = self.documents.iter().map(|(one, words)| (*one, words)).collect();
        let query = QueryVector::of(WordTable::get().unwrap(), text);
        let memories: Vec<_> = self.vectors.iter().map(Some).collect();
        let sense = query.map(|query| Sense::of_all(TABLE_WEIGHT, query, memories));
        let senses: Vec<_> = sense.into_iter().collect();
        rank_known(&RecallPrompt::from(text), &known, &senses, None, &Tuning::default())
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

#[test]
fn r13_prompts_of_projects_that_nothing_was_fitted_on_get_what_they_call_for() {
    let data: Value = serde_json::from_str(JUDGED).unwrap();
    let (mut asking, mut body, mut shown, mut bodies, mut wrong) = (0, 0, 0, 0, 0);
    for project in data["projects"].as_array().unwrap() {
        let memories = project["memories"].as_array().unwrap();
        let shelf = Shelf::new(memories.iter().map(|one| Document {
            name: text(one, "name"),
            description: text(one, "description"),
            body: text(one, "body"),
            ..Document::default()
        }));
        for prompt in project["prompts"].as_array().unwrap() {
            let ranking = shelf.ask(text(prompt, "text"));
            let of = |tier| ranking.of_tier(tier).into_iter().take(3).map(|hit| hit.index);
            let wants = prompt["wants"].as_array().unwrap();
            if wants.is_empty() {
                assert_eq!(of(RecallTier::Body).count(), 0, "{prompt}");
                continue;
            }
            let is_wanted = |index: &usize| wants.contains(&memories[*index]["id"]);
            let right = of(RecallTier::Body).filter(is_wanted).count();
            asking += 1;
            bodies += of(RecallTier::Body).count();
            wrong += of(RecallTier::Body).count() - right;
            body += usize::from(right > 0);
            shown += usize::from(right > 0 || of(RecallTier::Line).any(|one| is_wanted(&one)));
        }
    }
    assert!(body * 100 >= asking * 50, "a body for {body} of {asking}");
    assert!(shown * 100 >= asking * 65, "something for {shown} of {asking}");
    assert!(wrong * 4 <= bodies, "{wrong} of {bodies} bodies were not wanted");
}

#[test]
fn r13_a_handful_of_memories_is_enough_to_be_sure() {
    let document =
        |name, description, body| Document { name, description, body, ..Document::default() };
    let shelf = Shelf::new(
        [
            document("Deploy day", "the shop is deployed on Thursdays", "Support is there."),
            document("Coffee", "the machine takes beans of type B", "Descale it monthly."),
        ]
        .into_iter(),
    );
    let ranking = shelf.ask("Which day of the week is deploy day of the shop?");
    let first = &ranking.of_tier(RecallTier::Body);
    assert!(first.first().is_some_and(|hit| hit.index == 0), "{ranking:?}");
    assert!(shelf.ask("what is a good name for my cat?").of_tier(RecallTier::Body).is_empty());
}
