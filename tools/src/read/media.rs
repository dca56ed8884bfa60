//! Pictures and PDFs (Q13).
//!
//! The kind is told by the first bytes, not by the name: a request with a
//! picture whose type is wrong is refused by the server, and so would be every
//! request after it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everfold_kernel::Block;
use everfold_kernel::ports::{FileError, FileStat};
use serde_json::{Value, json};
use std::path::Path;

use crate::file_error::FileToolError;
use crate::{ToolContext, ToolOutcome, ToolOutput};

const NAMES: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "pdf"];

const PDF: &str = "application/pdf";

/// Whether a file's name says that it is a picture or a PDF.
pub(super) fn by_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| NAMES.iter().any(|name| name.eq_ignore_ascii_case(extension)))
}

/// The file as a block; none where it is not what its name says.
pub(super) async fn read(
    context: &ToolContext,
    path: &Path,
    resolved: &Path,
    stat: &FileStat,
) -> Result<Option<ToolOutput>, FileToolError> {
    let max = context.limits.read_media_bytes;
    let read = match context.world.files.read(resolved, max).await {
        Ok(read) => read,
        Err(FileError::TooLarge { .. }) => {
            return Err(FileToolError::TooLargeToShow {
                path: path.to_owned(),
                bytes: stat.bytes,
                max,
            });
        }
        Err(error) => return Err(error.into()),
    };
    let Some(media_type) = sniff(&read.bytes) else {
        return Ok(None);
    };
    context.saw(resolved.to_owned(), read.version);
    let block = coded(media_type, &read.bytes);
    let data = block.as_map().get("source").and_then(|source| source.get("data"));
    let bytes = read.bytes.len();
    let structured = if media_type == PDF {
        let path = path.display().to_string();
        json!({"type": "pdf", "file": {"filePath": path, "base64": data, "originalSize": bytes}})
    } else {
        let file = json!({"base64": data, "type": media_type, "originalSize": bytes});
        json!({"type": "image", "file": file})
    };
    let output = ToolOutput {
        content: Value::Array(vec![Value::Object(block.as_map().clone())]),
        outcome: ToolOutcome::Done,
        structured: Some(structured),
        provenance: context.origin(resolved).await,
    };
    Ok(Some(output))
}

/// A picture or a PDF as a block; none where the bytes are neither.
#[must_use]
pub fn block(bytes: &[u8]) -> Option<Block> {
    sniff(bytes).map(|media_type| coded(media_type, bytes))
}

fn coded(media_type: &str, bytes: &[u8]) -> Block {
    let mut block = Block::image(media_type, &STANDARD.encode(bytes));
    if media_type == PDF {
        block.as_map_mut().insert("type".into(), "document".into());
    }
    block
}

fn sniff(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else if bytes.starts_with(b"%PDF-") {
        Some(PDF)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q13_the_kind_is_told_by_the_first_bytes() {
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(sniff(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(sniff(b"GIF89a.."), Some("image/gif"));
        assert_eq!(sniff(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(sniff(b"%PDF-1.7"), Some("application/pdf"));
        assert_eq!(sniff(b"RIFF"), None);
        assert!(by_name(Path::new("/a/B.PNG")) && !by_name(Path::new("/a/png")));
    }
}
