//! Tables with a column of passwords: comma-separated, with tabs, or drawn
//! with bars.

use super::proof::is_password_alone;
use std::ops::Range;

/// What such a column is called.
const NAMES: &str = "\
    password passwd pass pwd pw passphrase passwort kennwort contraseña senha mot_de_passe mdp \
    wachtwoord hasło пароль 密码 パスワード 비밀번호 login_password secret_key api_key apikey";
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
                .filter(|cell| is_password_alone(cell))
                .map(|cell| start_of(cell)..start_of(cell) + cell.len()),
        );
    }
    found
}

/// The sign between the cells of a head, the place of the password, and how
/// many cells there are.
fn column(head: &str) -> Option<(char, usize, usize)> {
    let sign = ['|', '\t', ',', ';'].into_iter().find(|sign| head.contains(*sign))?;
    let cells = || head.split(sign).map(|cell| cell.trim().trim_matches(['"', '\'', '`', '*']));
    if !cells().all(|cell| cell.chars().count() <= LONGEST_NAME_CHARS && !cell.contains(['=', '(']))
    {
        return None;
    }
    let at = cells().position(|cell| {
        let name = cell.to_lowercase().replace(' ', "_");
        NAMES.split_ascii_whitespace().any(|own| own == name)
    })?;
    Some((sign, at, cells().count()))
}
