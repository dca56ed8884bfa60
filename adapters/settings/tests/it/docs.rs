use everfold_settings::schema::{reference_page, settings_schema};
use std::path::Path;

/// Compares a generated file with the one in the repository, and writes it
/// where `UPDATE_DOCS=1` asks for that.
fn up_to_date(name: &str, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written.replace("\r\n", "\n") == text,
        "docs/{name} is out of date; run UPDATE_DOCS=1 cargo test -p everfold-settings"
    );
}

#[test]
fn c6_the_schema_file_is_up_to_date() {
    let text = serde_json::to_string_pretty(&settings_schema()).unwrap();
    up_to_date("settings.schema.json", &format!("{text}\n"));
}

#[test]
fn c6_the_reference_page_is_up_to_date() {
    up_to_date("guide/settings.md", &reference_page());
}
