use super::*;
use serde_json::json;

#[derive(Debug, Default, Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    file_path: Option<&'a str>,
    offset: Option<u64>,
    limit: Option<u64>,
    all: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    #[expect(dead_code, reason = "only whether it is taken counts")]
    text: Filled<'a>,
}

#[derive(Debug, Deserialize)]
struct List {
    items: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    name: String,
    way: Course,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Course {
    Up,
    Down,
    NoWay,
}

fn message<'a, T: Deserialize<'a> + std::fmt::Debug>(value: &'a Value) -> String {
    read::<T>("Read", value).unwrap_err().to_string()
}

#[test]
fn q5_missing_and_wrong_fields_are_named() {
    assert_eq!(message::<Text<'_>>(&json!({})), r#"Read needs "text" (a string)"#);
    let number = json!({"text": 3});
    assert_eq!(message::<Text<'_>>(&number), r#"Read needs "text" (a string), not the number 3"#);
    assert!(message::<Text<'_>>(&json!({"text": " "})).contains("it is empty"));
    assert!(message::<Page<'_>>(&json!({"offset": [1]})).ends_with("not a list"));
    assert!(message::<Page<'_>>(&json!({"limit": -2})).ends_with("not the number -2"));
    assert!(message::<Page<'_>>(&json!({"all": -2})).contains("true or false"));
}

#[test]
fn q5_numbers_and_flags_given_as_strings_are_taken() {
    let page = |value: Value| {
        let page: Page<'_> = read("Read", &value).unwrap();
        assert!(page.file_path.is_none());
        (page.offset, page.limit, page.all)
    };
    assert_eq!(page(json!({"offset": "12", "limit": 3.0})), (Some(12), Some(3), None));
    assert_eq!(page(json!({"offset": "4.0", "limit": null})), (Some(4), None, None));
    assert_eq!(
        page(json!({"offset": "", "file_path": "", "all": "TRUE"})),
        (None, None, Some(true))
    );
    assert!(read::<Page<'_>>("Read", &json!({"offset": 1.5})).is_err());
}

#[test]
fn q5_a_list_may_come_as_text_and_its_items_are_named_by_their_place() {
    let text = json!({"items": r#"[{"name": "a", "way": " no_way "}]"#});
    let list: List = read("Walk", &text).unwrap();
    assert_eq!((list.items[0].name.as_str(), &list.items[0].way), ("a", &Course::NoWay));
    let wrong = json!({"items": [{"name": "a", "way": "up"}, {"name": "b", "way": "left"}]});
    let said = message::<List>(&wrong);
    assert_eq!(said, r#"items[1] needs "way" (up, down or no_way), not the string "left""#);
    assert!(message::<List>(&json!({"items": [3]})).contains("an object"));
    assert!(message::<List>(&json!({"items": "none"})).contains("a list of objects"));
}

#[test]
fn s6_arguments_that_were_not_json_are_answered_with_their_start() {
    let value = json!({"__invalid_json": format!("{{\"file_path\": \"{}", "é".repeat(300))});
    let text = message::<Page<'_>>(&value);
    assert!(text.contains("not valid JSON"), "{text}");
    assert!(text.contains("{\"file_path\": \"é"), "{text}");
    assert!(text.ends_with("é…"), "{text}");
    assert!(message::<Page<'_>>(&json!([1])).contains("not a list"));
}
