//! Finding out that a prompt was too long, and by how much.

/// Where the two counts stand after a wording.
#[derive(Clone, Copy)]
enum Counts {
    /// What was sent, then what is allowed.
    ActualFirst,
    /// What is allowed, then what was sent.
    MaximumFirst,
    /// Prompt and answer, then what is allowed for both.
    Sum,
    /// Anywhere in the message, in the order of `ActualFirst`.
    Anywhere,
}

/// Wordings in lower case: Anthropic's of today and of old models, OpenAI's
/// and vLLM's, Bedrock's, gateways', llama.cpp's, Gemini's, LM Studio's,
/// Ollama's, `LiteLLM`'s.
const WORDINGS: [(&str, Counts); 13] = [
    ("prompt is too long", Counts::ActualFirst),
    ("exceed context limit", Counts::Sum),
    ("maximum context length is", Counts::MaximumFirst),
    ("input is too long for requested model", Counts::ActualFirst),
    ("prompt_too_long", Counts::ActualFirst),
    ("context_length_exceeded", Counts::ActualFirst),
    ("exceeds the available context size", Counts::Anywhere),
    ("exceeds the maximum number of tokens", Counts::Anywhere),
    ("exceed_context_size", Counts::ActualFirst),
    ("loaded with context length of only", Counts::MaximumFirst),
    ("input length exceeds", Counts::ActualFirst),
    ("greater than the context length", Counts::ActualFirst),
    ("contextwindowexceedederror", Counts::ActualFirst),
];

const CODES: [&str; 3] =
    ["context_length_exceeded", "exceed_context_size_error", "prompt_too_long"];

/// A prompt that was too long.
pub(super) struct Overflow {
    pub(super) actual: Option<u64>,
    pub(super) maximum: Option<u64>,
}

/// Looks for an overflow in a server's words, its codes and its own counts.
pub(super) fn find(
    message: &str,
    codes: &[String],
    tokens: Option<(u64, u64)>,
) -> Option<Overflow> {
    let text = message.to_ascii_lowercase();
    // vLLM says so when only the answer's limit is too high: compacting would not help.
    let only_output = text.contains("max_tokens") && text.contains("is too large");
    let worded = WORDINGS.iter().find_map(|(wording, counts)| {
        let (_, tail) = text.split_once(wording)?;
        Some(read(*counts, &text, tail))
    });
    let by_code = codes.iter().any(|code| CODES.iter().any(|known| code.contains(known)));
    if only_output || (worded.is_none() && !by_code) {
        return None;
    }
    let (actual, maximum) = match (tokens, worded) {
        (Some((actual, maximum)), _) => (Some(actual), Some(maximum)),
        (None, Some(counts)) => counts,
        (None, None) => (None, None),
    };
    Some(Overflow { actual, maximum })
}

fn read(counts: Counts, text: &str, tail: &str) -> (Option<u64>, Option<u64>) {
    let mut after = numbers(tail);
    match counts {
        Counts::ActualFirst => (after.next(), after.next()),
        Counts::MaximumFirst => {
            let maximum = after.next();
            (after.next(), maximum)
        }
        Counts::Sum => {
            let sum = after.next().zip(after.next());
            (sum.map(|(prompt, answer)| prompt.saturating_add(answer)), after.next())
        }
        Counts::Anywhere => {
            let mut all = numbers(text);
            (all.next(), all.next())
        }
    }
}

/// The numbers in a text; separators of thousands are dropped.
fn numbers(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(|c: char| !c.is_ascii_digit() && c != ',' && c != '_').filter_map(|word| {
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}
