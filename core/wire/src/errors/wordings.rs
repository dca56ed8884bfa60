//! What servers on one's own machine say of models, tools and slots (Q20):
//! Ollama, vLLM, LM Studio, llama.cpp, `LiteLLM`, `OpenRouter`.

/// What is wrong, where a wording tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is no model of this name.
    NoModel,
    /// The model, or the way it is served, knows no tools.
    NoTools,
    /// The model is not there yet.
    Loading,
    /// All slots are taken.
    NoSlot,
}

/// All words of a wording have to occur, in lower case.
const WORDINGS: [(&[&str], Trouble); 19] = [
    (&["does not support tools"], Trouble::NoTools),
    (&["tool choice requires"], Trouble::NoTools),
    (&["tools param requires"], Trouble::NoTools),
    (&["support tool use"], Trouble::NoTools),
    (&["tools are not supported"], Trouble::NoTools),
    (&["not support function calling"], Trouble::NoTools),
    (&["tool calling is not supported"], Trouble::NoTools),
    (&["loading model"], Trouble::Loading),
    (&["model is loading"], Trouble::Loading),
    (&["currently loading"], Trouble::Loading),
    (&["no slot"], Trouble::NoSlot),
    (&["slot unavailable"], Trouble::NoSlot),
    (&["server busy"], Trouble::NoSlot),
    (&["no models loaded"], Trouble::NoModel),
    (&["invalid model name"], Trouble::NoModel),
    (&["not a valid model id"], Trouble::NoModel),
    (&["model", "not found"], Trouble::NoModel),
    (&["model", "does not exist"], Trouble::NoModel),
    (&["model_not_found"], Trouble::NoModel),
];

/// What a server's words and codes tell.
pub(super) fn find(message: &str, codes: &[String]) -> Option<Trouble> {
    let text = message.to_ascii_lowercase();
    let told = |words: &[&str]| {
        words.iter().all(|word| text.contains(word))
            || matches!(words, [only] if codes.iter().any(|code| code == only))
    };
    WORDINGS.iter().find(|(words, _)| told(words)).map(|(_, trouble)| *trouble)
}
