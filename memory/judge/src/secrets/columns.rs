//! Tables with a column of passwords: comma-separated, with tabs, drawn with
//! bars, or in a statement that fills one.

use super::plain;
use super::proof::is_password_alone;
use crate::pattern::compiled;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// What such a column is called.
const NAMES: &str = "\
    password passwd pass pwd pw passphrase passwort kennwort contraseña senha mot_de_passe mdp \
    wachtwoord hasło пароль user_password userpassword 密码 パスワード 비밀번호 login_password secret_key api_key apikey";
/// A longer cell is no name of a column.
const LONGEST_NAME_CHARS: usize = 24;
const MOST_ROWS: usize = 200;

/// The cells below the name.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let start_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(head) = lines.next() {
        let Some((sign, column, count)) = column(head) else { continue };
        let rows = lines.clone().take(MOST_ROWS).take_while(|row| row.split(sign).count() == count);
        let cells = rows.filter_map(|row| row.split(sign).nth(column));
        found.extend(
            cells
                .map(|cell| cell.trim().trim_matches(['"', '\'', '`', '*']))
                .filter(|cell| is_one(cell))
                .map(|cell| start_of(cell)..start_of(cell) + cell.len()),
        );
    }
    found
}

fn is_one(cell: &str) -> bool {
    is_password_alone(cell) || plain::is_choice(cell)
}

/// The columns of a table, and the first row that is put into it.
static INSERT: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"(?i)\binsert\s+into\s+\S+?\s*\(([^()]{1,400})\)\s*values\s*"));

/// What statements put into such a column.
pub(super) fn inserted(text: &str) -> Vec<Range<usize>> {
    let start_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    let mut found = Vec::new();
    let Some(insert) = INSERT.as_ref() else { return found };
    for hit in insert.captures_iter(text) {
        let (Some(whole), Some(names)) = (hit.get(0), hit.get(1)) else { continue };
        let names: Vec<String> = names.as_str().split(',').map(name_of).collect();
        let Some(at) = names.iter().position(|name| is_name(name)) else { continue };
        let rows = text.get(whole.end()..).unwrap_or_default().split(';').next();
        for row in rows.unwrap_or_default().split('(').skip(1).take(MOST_ROWS) {
            let cells: Vec<&str> = row.split(')').next().unwrap_or_default().split(',').collect();
            let cell = cells.get(at).filter(|_| cells.len() == names.len());
            let cell = cell.map(|cell| cell.trim().trim_matches(['"', '\'', '`']));
            found.extend(
                cell.filter(|cell| is_one(cell))
                    .map(|cell| start_of(cell)..start_of(cell) + cell.len()),
            );
        }
    }
    found
}

fn name_of(cell: &str) -> String {
    cell.trim().trim_matches(['"', '\'', '`', '*', '[', ']']).to_lowercase().replace(' ', "_")
}

fn is_name(name: &str) -> bool {
    NAMES.split_ascii_whitespace().any(|own| own == name)
}

/// The sign between the cells of a head, the place of the password, and how
/// many cells there are.
fn column(head: &str) -> Option<(char, usize, usize)> {
    let sign = ['|', '\t', ',', ';'].into_iter().find(|sign| head.contains(*sign))?;
    let cells = || head.split(sign).map(str::trim);
    if !cells().all(|cell| cell.chars().count() <= LONGEST_NAME_CHARS && !cell.contains(['=', '(']))
    {
        return None;
    }
    let at = cells().position(|cell| is_name(&name_of(cell)))?;
    Some((sign, at, cells().count()))
}
