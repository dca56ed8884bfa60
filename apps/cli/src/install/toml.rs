//! A table of ours in a TOML file of another program, in whatever form tables
//! stand there: under a header, by dotted keys, inline.
//!
//! A parser says where things are and whether the outcome is still TOML; every
//! line that is not ours keeps its bytes, ends of lines included.

use super::refused::Refused;
use serde_json::{Map, Value as Json};
use similar::{ChangeTag, TextDiff};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::Range;
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

const BOM: char = '\u{feff}';
/// The variable that a server of ours is told its home by.
const OWN_VARIABLE: [&str; 2] = ["env", "EVERFOLD_HOME"];

/// Where our table is: the name of the one around it, and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) around: &'static str,
    pub(super) name: &'static str,
}

/// The text with our table in it. Keys that somebody else put into it stay.
pub(super) fn put(text: &str, place: Place, value: &Map<String, Json>) -> Result<String, Refused> {
    let (mark, body) = split_mark(text);
    let parsed = parse(text)?;
    let around = parsed.as_table().get(place.around);
    if let Some(around) = around
        && !around.is_table_like()
    {
        return Err(Refused::InTheWay(place.around.to_owned()));
    }
    let is_there = around.and_then(|around| around.get(place.name)).is_some();
    if !is_there && let Some(longer) = appended(body, place, value) {
        return Ok(format!("{mark}{longer}"));
    }
    changed(text, |document| {
        let around = document.get_mut(place.around).and_then(Item::as_table_like_mut);
        let around = around.ok_or_else(|| Refused::InTheWay(place.around.to_owned()))?;
        if !is_there {
            around.insert(place.name, Item::Value(toml_of(&Json::Object(value.clone()))));
            return Ok(());
        }
        let own = around.get_mut(place.name).and_then(Item::as_table_like_mut);
        let own =
            own.ok_or_else(|| Refused::InTheWay(format!("{}.{}", place.around, place.name)))?;
        merge(own, value);
        if !value.contains_key(OWN_VARIABLE[0]) {
            forget_home(own);
        }
        Ok(())
    })
}

/// The text without our table, and without the one around it where that came
/// with it.
pub(super) fn take(text: &str, place: Place, before: &str) -> Result<String, Refused> {
    let (mark, body) = split_mark(text);
    let parsed = parse(text)?;
    let around = parsed.as_table().get(place.around);
    let Some(own) = around.and_then(|around| around.get(place.name)) else {
        return Ok(text.to_owned());
    };
    if let Item::Table(table) = own
        && !table.is_dotted()
    {
        let rest = without_lines(body, table);
        if parse(&rest).is_ok_and(|rest| entry(rest.as_table(), place).is_none()) {
            return Ok(format!("{mark}{rest}"));
        }
    }
    let was_there = parse(before).is_ok_and(|before| before.as_table().contains_key(place.around));
    changed(text, |document| {
        let around = document.get_mut(place.around).and_then(Item::as_table_like_mut);
        let is_empty = around.is_some_and(|around| {
            around.remove(place.name);
            around.is_empty()
        });
        if is_empty && !was_there {
            document.remove(place.around);
        }
        Ok(())
    })
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

pub(super) fn parse(text: &str) -> Result<Document<&str>, Refused> {
    let (mark, body) = split_mark(text);
    Document::parse(body).map_err(|error| Refused::NotToml {
        at: mark.len() + error.span().map_or(0, |span| span.start),
        said: error.message().lines().next().unwrap_or_default().to_owned(),
    })
}

fn entry(root: &Table, place: Place) -> Option<&Item> {
    root.get(place.around)?.get(place.name)
}

/// The text with a table behind all the rest, where that is TOML.
fn appended(body: &str, place: Place, value: &Map<String, Json>) -> Option<String> {
    let newline = newline_of(body);
    let mut table = format!("[{}.{}]{newline}", place.around, place.name);
    for (key, value) in value {
        let _ = write!(table, "{key} = {}{newline}", toml_of(value).to_string().trim());
    }
    let end = if body.is_empty() || body.ends_with('\n') { "" } else { newline };
    let gap = if body.is_empty() { "" } else { newline };
    let longer = format!("{body}{end}{gap}{table}");
    let parsed = parse(&longer).ok()?;
    entry(parsed.as_table(), place).is_some().then_some(longer)
}

/// Changes a text by its parsed form. Lines that stay keep their ends, which
/// the parsed form does not know.
pub(super) fn changed(
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Refused>,
) -> Result<String, Refused> {
    let (mark, body) = split_mark(text);
    let plain = body.replace("\r\n", "\n");
    let mut document = parse(&plain)?.into_mut();
    // Headers with blanks or quotes come out in a form of their own.
    let same = document.to_string();
    change(&mut document)?;
    let after = document.to_string();
    if after == same {
        return Ok(text.to_owned());
    }
    let newline = newline_of(body);
    let before: Vec<&str> = body.split_inclusive('\n').collect();
    if before.len() != same.split_inclusive('\n').count() {
        return Err(Refused::InTheWay("a table".to_owned()));
    }
    let mut out = String::with_capacity(text.len());
    out.push_str(mark);
    let mut ends = VecDeque::new();
    for line in TextDiff::from_lines(&same, &after).iter_all_changes() {
        match line.tag() {
            ChangeTag::Equal => {
                let there = line.old_index().and_then(|at| before.get(at));
                out.push_str(there.copied().unwrap_or_else(|| line.value()));
                ends.clear();
            }
            ChangeTag::Insert => {
                let end = ends.pop_front().unwrap_or(newline);
                out.push_str(&line.value().replace('\n', end));
            }
            // A line in the place of another has its end.
            ChangeTag::Delete => {
                let gone = line.old_index().and_then(|at| before.get(at));
                ends.extend(gone.map(|gone| newline_of(gone)));
            }
        }
    }
    parse(&out)?;
    Ok(out)
}

fn newline_of(text: &str) -> &'static str {
    let windows = text.matches("\r\n").count();
    if windows * 2 > text.matches('\n').count() { "\r\n" } else { "\n" }
}

/// The text without the lines of a table and of those below it.
fn without_lines(body: &str, table: &Table) -> String {
    let mut ranges = Vec::new();
    own_ranges(table, &mut ranges);
    ranges.sort_by_key(|range| range.start);
    let mut rest = body.to_owned();
    for range in ranges.into_iter().rev() {
        let start =
            body.get(..range.start).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
        let behind = body.get(range.end..).unwrap_or_default();
        let end = behind.find('\n').map_or(body.len(), |at| range.end + at + 1);
        let is_last = rest.get(end..).is_some_and(|rest| rest.trim().is_empty());
        rest.replace_range(start..end, "");
        let blank = rest.get(..start).map(str::len).unwrap_or_default();
        // The blank line before it came with it.
        let before = rest.get(..blank).unwrap_or_default();
        let shorter = before
            .strip_suffix("\r\n")
            .or_else(|| before.strip_suffix('\n'))
            .filter(|shorter| shorter.is_empty() || shorter.ends_with('\n'));
        if let Some(shorter) = shorter.map(str::len) {
            let from = if is_last { shorter } else { blank };
            rest.replace_range(from..blank, "");
        }
        if !is_last {
            let behind = rest.get(start..).unwrap_or_default();
            let gap =
                if behind.starts_with("\r\n") { 2 } else { usize::from(behind.starts_with('\n')) };
            rest.replace_range(start..start + gap, "");
        }
    }
    rest
}

/// From the header to the end of the last value, of a table and of those below.
fn own_ranges(table: &Table, ranges: &mut Vec<Range<usize>>) {
    let header = table.span().filter(|_| !table.is_implicit() && !table.is_dotted());
    let mut end = header.as_ref().map(|header| header.end);
    ends(table, &mut end, ranges);
    if let (Some(header), Some(end)) = (header, end) {
        ranges.push(header.start..end);
    }
}

/// The end of the last value that stands under the same header.
fn ends(table: &Table, end: &mut Option<usize>, ranges: &mut Vec<Range<usize>>) {
    for (_, item) in table {
        match item {
            Item::Table(inner) if inner.is_dotted() => ends(inner, end, ranges),
            Item::Table(inner) => own_ranges(inner, ranges),
            Item::ArrayOfTables(list) => list.iter().for_each(|inner| own_ranges(inner, ranges)),
            other => *end = (*end).max(other.span().map(|span| span.end)),
        }
    }
}

/// Sets our keys where they differ. What is a table on both sides is gone into.
fn merge(own: &mut dyn TableLike, wanted: &Map<String, Json>) {
    for (key, value) in wanted {
        let there = own.get_mut(key);
        if let (Json::Object(inner), Some(table)) = (value, there.and_then(Item::as_table_like_mut))
        {
            merge(table, inner);
            continue;
        }
        let mut new = toml_of(value);
        match own.get_mut(key) {
            None => drop(own.insert(key, Item::Value(new))),
            Some(there) if json_of(there).as_ref() == Some(value) => {}
            Some(there) => {
                if let Some(old) = there.as_value() {
                    *new.decor_mut() = old.decor().clone();
                }
                *there = Item::Value(new);
            }
        }
    }
}

/// Takes out the home that an earlier installation named.
fn forget_home(own: &mut dyn TableLike) {
    let [variables, home] = OWN_VARIABLE;
    let is_empty = own.get_mut(variables).and_then(Item::as_table_like_mut).is_some_and(|table| {
        let had_ours = table.remove(home).is_some();
        had_ours && table.is_empty()
    });
    if is_empty {
        own.remove(variables);
    }
}

fn toml_of(value: &Json) -> Value {
    match value {
        Json::String(text) => text.as_str().into(),
        Json::Bool(yes) => (*yes).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Json::Array(list) => Value::Array(list.iter().map(toml_of).collect::<Array>()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.as_str(), toml_of(value)));
            Value::InlineTable(members.collect::<InlineTable>())
        }
        // TOML has no word for nothing.
        Json::Null => "".into(),
    }
}

fn json_of(item: &Item) -> Option<Json> {
    match item.as_value()? {
        Value::String(text) => Some(Json::from(text.value().as_str())),
        Value::Integer(number) => Some(Json::from(*number.value())),
        Value::Boolean(yes) => Some(Json::from(*yes.value())),
        Value::Array(list) => {
            list.iter().map(|value| json_of(&Item::Value(value.clone()))).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: Place = Place { around: "mcp_servers", name: "everfold" };

    fn ours() -> Map<String, Json> {
        json!({"command": "/bin/everfold", "args": ["mcp"]}).as_object().cloned().unwrap()
    }

    fn command(text: &str) -> String {
        let parsed = parse(text).unwrap();
        let own = entry(parsed.as_table(), PLACE).unwrap();
        own.get("command").and_then(Item::as_str).unwrap().to_owned()
    }

    #[test]
    fn x9_our_table_goes_into_every_form_and_comes_out_again() {
        for text in [
            "",
            "# mine\nmodel = \"x\"\n",
            "model = \"x\"",
            "[mcp_servers.other]\ncommand = \"o\"\n\n[tui]\nnote = \"\"\"\n[mcp_servers.everfold]\n\"\"\"\n",
            "[a]\nx = 1\n# y = 2\n",
            "mcp_servers = { other = { command = \"o\" } } # theirs\nz = 1\n",
            "mcp_servers.other.command = \"o\"\n\n[tui]\na = 1\n",
            "[mcp_servers]\nother = { command = \"o\" }\n\n[tui]\na = 1\n",
            "[mcp_servers]\r\n\"other\".command = 'o'\r\n",
            "\u{feff}model = \"x\"\r\n[tui]\r\na = '''\r\nb\r\n'''\r\n",
            "mcp_servers = {}\r\nmodel = 'm'\n",
        ] {
            let with = put(text, PLACE, &ours()).unwrap();
            assert_eq!(command(&with), "/bin/everfold", "{text:?}");
            assert_eq!(put(&with, PLACE, &ours()).unwrap(), with, "{text:?}: twice is once");
            let back = take(&with, PLACE, text).unwrap();
            if text.contains("= {") {
                // A blank in an inline table may be another.
                assert_eq!(back.replace(' ', ""), text.replace(' ', ""));
            } else {
                assert_eq!(back.trim_end(), text.trim_end());
            }
        }
    }

    #[test]
    fn x9_an_entry_of_ours_in_another_form_is_changed_where_it_stands() {
        for text in [
            "[mcp_servers]\neverfold = { command = \"old\", args = [\"mcp\"] } # c\n\n[tui]\na = 1\n",
            "mcp_servers.everfold.command = \"old\" # c\r\nmcp_servers.everfold.args = [\"mcp\"]\r\n",
            "mcp_servers = { everfold = { command = \"old\" }, o = { command = \"o\" } } # c\n",
            "[mcp_servers.everfold] # c\ncommand = \"old\"\n\n[mcp_servers.everfold.tools.memory_save]\napproval_mode = \"approve\"\n",
            "[\"mcp_servers\".\"everfold\"] # c\nstartup_timeout_sec = 20\n",
        ] {
            let with = put(text, PLACE, &ours()).unwrap();
            assert_eq!(command(&with), "/bin/everfold", "{with:?}");
            assert_eq!(with.matches("command = \"/bin/everfold\"").count(), 1, "{with}");
            assert!(with.contains("# c") && !with.contains("\"old\""), "{with}");
            assert_eq!(with.contains("approve"), text.contains("approve"), "{with}");
            assert_eq!(
                with.matches('\n').count() > 1 && with.contains("\r\n"),
                text.contains('\r')
            );
            let back = take(&with, PLACE, "").unwrap();
            assert!(!back.contains("everfold"), "{back}");
        }
    }

    #[test]
    fn x9_tables_below_ours_go_with_it_and_what_follows_stays() {
        let text = "[a]\nx = 1\n\n[mcp_servers.everfold]\ncommand = \"old\"\n\n[mcp_servers.everfold.tools.memory_save]\napproval_mode = \"approve\"\n\n[b]\ny = 2\n";
        assert_eq!(take(text, PLACE, "").unwrap(), "[a]\nx = 1\n\n[b]\ny = 2\n");
    }

    #[test]
    fn x9_what_does_not_parse_or_is_in_the_way_is_refused() {
        for text in ["a = 1\na = 2\n", "[x\n", "a = \n", "a = 1\r[b]\n"] {
            assert!(matches!(put(text, PLACE, &ours()), Err(Refused::NotToml { .. })), "{text:?}");
            assert!(take(text, PLACE, "").is_err());
        }
        for text in ["mcp_servers = 1\n", "[[mcp_servers]]\na = 1\n", "mcp_servers.everfold = 1\n"]
        {
            assert!(matches!(put(text, PLACE, &ours()), Err(Refused::InTheWay(_))), "{text:?}");
        }
    }

    #[test]
    fn x9_a_home_of_another_installation_goes() {
        let text = "[mcp_servers.everfold]\ncommand = \"x\"\nenv = { EVERFOLD_HOME = \"/old\" }\n";
        assert!(!put(text, PLACE, &ours()).unwrap().contains("/old"));
        let theirs = "[mcp_servers.everfold]\nenv = { MINE = \"1\", EVERFOLD_HOME = \"/old\" }\n";
        let with = put(theirs, PLACE, &ours()).unwrap();
        assert!(with.contains("MINE") && !with.contains("/old"), "{with}");
    }
}
