//! Pictures and documents for models that take none (Q13). The log keeps them;
//! such a model is told what is there instead, and another one may see them
//! later.

use crate::message::ShownBlock;
use everfold_kernel::{Block, BlockView};
use serde_json::{Value, json};

/// A block without pictures and documents.
pub(crate) fn described(shown: ShownBlock<'_>) -> ShownBlock<'_> {
    let block = shown.block();
    let told = match block.view() {
        BlockView::Image | BlockView::Document => {
            told(&Value::Object(block.as_map().clone())).map(Block::text)
        }
        BlockView::ToolResult { content: Value::Array(parts), .. } => {
            let found = parts.iter().any(|part| told(part).is_some());
            found.then(|| {
                let text =
                    |part: &Value| told(part).map(|text| json!({"type": "text", "text": text}));
                let parts = parts.iter().map(|part| text(part).unwrap_or_else(|| part.clone()));
                block.with_result_content(parts.collect())
            })
        }
        _ => None,
    };
    told.map_or(shown, ShownBlock::Made)
}

/// What is said of a picture or a document; none for anything else.
fn told(block: &Value) -> Option<String> {
    let kind = match block.get("type")?.as_str()? {
        "image" => "A picture",
        "document" => "A document",
        _ => return None,
    };
    let field = |key: &str| block.pointer(&format!("/source/{key}")).and_then(Value::as_str);
    let media = field("media_type").unwrap_or("of an unknown type");
    // Four letters of base64 are three bytes.
    let bytes = field("data").map_or(0, |data| data.len() / 4 * 3);
    Some(format!(
        "[{kind} ({media}, {bytes} bytes) is here, but this model takes none; say so if it matters]"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::ToolUseId;

    #[test]
    fn q13_a_model_that_takes_no_pictures_is_told_of_them() {
        let image = Block::image("image/png", "AAAABBBB");
        let shown = described(ShownBlock::Made(image.clone()));
        assert!(shown.block().plain_text().contains("A picture (image/png, 6 bytes)"));
        let image = Value::Object(image.as_map().clone());
        let parts = json!([{"type": "text", "text": "a"}, image]);
        let result = Block::tool_result(&ToolUseId::new("t"), parts);
        let text = described(ShownBlock::Made(result)).block().plain_text();
        assert!(text.starts_with("a\n[A picture"), "{text}");
        let plain = Block::text("[A picture]");
        assert_eq!(described(ShownBlock::Made(plain.clone())).block(), &plain);
    }
}
