//! What somebody named and a project no longer has (L6.8).

use everfold_kernel::ports::Names;
use everfold_search::missing;
use std::collections::BTreeSet;
use std::fs;

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn write(root: &std::path::Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "src/net/retry.rs", "impl Client { fn send(&self) { max_retries } }");
    write(dir.path(), "target/out.rs", "fn only_built() {}");
    write(dir.path(), ".gitignore", "target\n");
    write(dir.path(), "blob.bin", b"\0\0in_binary");
    write(dir.path(), ".git/HEAD", "ref: refs/heads/main\n");
    write(dir.path(), ".git/refs/heads/feature/here", "0\n");
    write(dir.path(), ".git/refs/remotes/origin/theirs", "0\n");
    write(
        dir.path(),
        ".git/packed-refs",
        "# pack\n0 refs/heads/packed\n0 refs/remotes/origin/far\n",
    );
    dir
}

#[test]
fn l6_8_only_what_is_surely_gone_is_missing() {
    let dir = project();
    let names = Names {
        paths: set(&["src/net/retry.rs", "src/net/", "src/gone.rs", "Makefile", "../out/side.rs"]),
        symbols: set(&["Client::send", "max_retries", "Client::close", "only_built", "in_binary"]),
        branches: set(&["feature/here", "theirs", "packed", "far", "gone", "../../etc"]),
    };
    let gone = missing(dir.path(), names, 1 << 20);
    assert_eq!(gone.paths, set(&["src/gone.rs"]));
    assert_eq!(gone.symbols, set(&["Client::close", "in_binary", "only_built"]));
    assert_eq!(gone.branches, set(&["gone"]));
}

#[test]
fn l6_8_where_it_cannot_be_told_nothing_is_missing() {
    let dir = project();
    let symbols = Names { symbols: set(&["nowhere_at_all"]), ..Names::default() };
    assert_eq!(missing(dir.path(), symbols.clone(), 10), Names::default(), "too much to look at");
    assert_eq!(missing(&dir.path().join("none"), symbols, 1 << 20), Names::default());
    let plain = tempfile::tempdir().unwrap();
    let branches = Names { branches: set(&["main"]), ..Names::default() };
    assert_eq!(missing(plain.path(), branches, 1 << 20), Names::default(), "no repository");
}
