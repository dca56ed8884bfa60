//! Permission rules under spellings that a generator makes (S11): a deny is
//! never lost, "always" never widens, and nothing panics. What is let through
//! is carried out by a real shell, so that what a spelling means is not our
//! own opinion. The same cases with every change; at length, by bolero, in
//! `cargo xtask soak fuzz`.

use crate::permissions::{Scene, rules};
use everfold_agent::engine::permit::{Footprint, Permit, Verdict};
use everfold_kernel::ports::FileTouch;
use everfold_kernel::settings::PermissionMode;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Cases of an ordinary run.
const FEW: u64 = 150;
/// Cases of a soak.
const MANY: usize = 20_000;
/// Wrappers in wrappers, at most.
const MOST_WRAPS: usize = 6;

/// Choices that are made by bytes: the same bytes, the same case.
struct Dice<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl Dice<'_> {
    fn roll(&mut self) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte))
    }

    fn below(&mut self, most: usize) -> usize {
        self.roll() % most
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        let at = self.roll() * 256 + self.roll();
        all[at % all.len()]
    }
}

/// Spellings of the name of the program that is denied.
const NAMES: &[&str] = &[
    "rm",
    "/bin/rm",
    "/usr/bin/../bin/rm",
    "'rm'",
    "\"rm\"",
    "r''m",
    "r\"m\"",
    "\\rm",
    "r\\m",
    "$'rm'",
    "$'\\x72m'",
    "$'\\162\\u006d'",
    "$\"rm\"",
    "r$@m",
    "r${nope}m",
    "${nope}rm",
    "{r..r}m",
    "/bin/r?",
    "/bin/[r]m",
    "/bin/[[:lower:]]m",
    "/*/rm",
    "/bin/./rm",
    "${BASH:+rm}",
    "${nope}r${nope}m",
    "$'r'\"m\"",
    "r{m..m}",
    "$(printf '\\162m')",
    "$(echo rm)",
    "`echo rm`",
    "\"$(command -v rm)\"",
    "r\\\nm",
    "${nope:-rm}",
    "${nope=rm}",
];

/// What is removed.
const VICTIMS: &[&str] =
    &["victim", "./victim", "'victim'", "vic*", "-f victim", "-- \"$PWD/victim\""];

/// Spellings of the file that is denied.
const FILES: &[&str] = &[
    "private.txt",
    "./private.txt",
    "'private.txt'",
    "\"private\".txt",
    "priv*",
    "p?ivate.txt",
    "[p]rivate.txt",
    "private.{txt,md}",
    "\"$PWD\"/private.txt",
    "${PWD}/private.txt",
    "sub/../private.txt",
    "$'priv\\x61te.txt'",
    "priv''ate.txt",
    "priv\\ate.txt",
    "link",
    "./sub/../link",
    "*",
    "./*",
    "*.txt",
    "PRIVATE.TXT private.txt",
];

/// What shows a file: `@` is its name.
const READS: &[&str] = &[
    "cat @",
    "cat < @",
    "cat 0< @",
    "cat -- @",
    "head -n 3 @",
    "tail -n +1 @",
    "grep . @",
    "grep -r hunter @",
    "sed '' @",
    "sort @",
    "tac @",
    "nl @",
    "od -c @",
    "paste @",
    "awk 1 @",
    "dd if=@",
    "cp @ y; cat y",
    "mv @ y; cat y",
    "ln @ y; cat y",
    "ln -s @ y; cat y",
    "while read l; do echo \"$l\"; done < @",
    "read -r l < @; echo \"$l\"",
    "mapfile a < @; echo \"${a[@]}\"",
    "echo \"$(<@)\"",
    "exec 3< @; cat <&3",
    "xargs -a @ echo",
    "tar cf - @ | tar xOf -",
    "diff @ /dev/null",
    "cat -n @ | cat",
    "tee < @",
    "a=@; cat $a",
    "for f in @; do cat \"$f\"; done",
    "cd sub; cd ..; cat @",
    "cut -c1- @",
    "fold @",
    "comm @ /dev/null",
    "base64 -w0 @ | base64 -d",
    "strings @",
    "gzip -c @ | zcat",
    "split @ part; cat partaa",
    "install @ y; cat y",
    "find @ -exec cat {} +",
    "test -e @ && cat @",
    ". ./@",
];

/// What stands before a simple command: `@` is the command.
const PREFIXES: &[&str] = &[
    "command @",
    "command -p @",
    "command -- @",
    "builtin command @",
    "true\n\\command @",
    "time -- @",
    "time ! @",
    "! ! @",
    "xargs @ < names",
    "nice nohup @",
    "env -- @",
    "time command time @",
    "env @",
    "env -i PATH=\"$PATH\" @",
    "env X=1 @",
    "FOO=1 @",
    "nice @",
    "nice -n 5 @",
    "nohup @",
    "timeout 5 @",
    "time @",
    "time -p @",
    "! @",
    "exec @",
    "exec -a ls @",
    "stdbuf -oL @",
    "setsid -w @",
    "2>/dev/null @",
    ">out @",
    "set -- @; \"$@\"",
    "a=(@); \"${a[@]}\"",
    "bash -c '\"$@\"' _ @",
    "sh -c '$0 \"$@\"' @",
    "echo x | xargs -I{} @",
    "find . -maxdepth 0 -exec @ \\;",
    "flock out @",
    "coproc @; wait",
];

/// What stands around any command: `@` is the command, `%` the command as one
/// quoted word.
const WRAPS: &[&str] = &[
    "if true; then @; fi",
    "if @; then :; fi",
    "{ @; }",
    "( @ )",
    "for i in 1; do @; done",
    "for ((i=0;i<1;i++)); do @; done",
    "while @; do break; done",
    "until @; do break; done",
    "case x in x) @;; esac",
    "true && @",
    "false || @",
    "true; @",
    "true | @",
    "@ | cat",
    "@ &\nwait",
    "true\n@",
    "# no\n@",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "x=$(@); echo \"$x\"",
    "cat <(@)",
    "echo ${no:-$(@)}",
    "[[ -z $(@) ]]",
    "((1)) && @",
    "cd . && @",
    "time { @; }",
    "{ { @; }; }",
    "( ( @ ) )",
    "time { { @; }; }",
    "time ( @ )",
    "! { @; }",
    "coproc { @; }; wait",
    "coproc N { @; }; wait",
    "if ! { { @; }; }; then :; fi",
    "f() ( @ ); f",
    "f() if @; then :; fi; f",
    "f() for i in 1; do @; done; f",
    "true\n{\n@\n}",
    "true\n\\eval %",
    "case $(@) in *) ;; esac",
    "case x in $(@)) ;; esac",
    "for i in $(@); do :; done",
    "select i in $(@); do break; done <<< 1",
    "a=([0]=$(@))",
    "cat <<E\n$(@)\nE",
    "cat <<< \"$(@)\"",
    "bash < <(echo %)",
    "bash --rcfile <(echo %) -ic :",
    "tee >(@) <<< x; sleep 0.1",
    "diff <(@) s.txt",
    "readonly q=$(@); echo \"$q\"",
    "trap % DEBUG; :",
    "trap % ERR; false",
    "shopt -s expand_aliases; alias zz=%\nzz",
    "git -c alias.z=!% z",
    "[[ x = x && -z $(@) ]]",
    "while read c; do eval \"$c\"; done <<< %",
    "f() { @; }; f",
    "function f { @; }; f",
    "eval %",
    "bash -c %",
    "sh -ec %",
    "bash <<< %",
    "bash <<'E'\n@\nE",
    "cat <<'E' | sh\n@\nE",
    "echo % | sh",
    "printf '%s' % | bash",
    "trap % EXIT",
    "a=%; eval \"$a\"",
    "a=%; bash -c \"$a\"",
    "export a=%; sh -c 'eval \"$a\"'",
    "bash -c 'eval \"$1\"' _ %",
    "read -r c <<< %; eval \"$c\"",
    "source <(echo %)",
    "find . -maxdepth 0 -exec sh -c % \\;",
    "xargs -I{} sh -c % <<< x",
    "env -S \"sh -c\" %",
    "echo % > s.sh; sh s.sh",
    "echo % > s.sh; . ./s.sh",
    "echo % > s.sh; BASH_ENV=./s.sh bash -c :",
    "a=$(echo %); eval \"$a\"",
    "select x in a; do @; break; done <<< 1",
    "declare a=%; eval \"$a\"",
    "nice sh -c %",
    "mapfile -C % -c 1 x < names",
];

/// The same by what no parser sees through: what is run is computed.
const HIDING: &[&str] = &[
    "PS4='$(@)' bash -xc :",
    "a='$(@)'; echo \"${a@P}\"",
    "[[ -v 'a[$(@)]' ]]",
    "test -v 'a[$(@)]'",
    "(( a[$(@)] ))",
    "let 'a[$(@)]=1'",
    "x='a[$(@)]'; echo $((x))",
    "[[ 'a[$(@)]' -eq 0 ]]",
    "printf -v 'a[$(@)]' x",
    "read 'a[$(@)]' <<< x",
    "unset 'a[$(@)]'",
    "declare 'a[$(@)]=1'",
    "printf '#' | sh",
    "eval \"$(printf '#')\"",
    "bash -c \"$(printf '#')\"",
    "printf '#' > s.sh; sh ./s.sh",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn octal(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:03o}")).collect::<Vec<_>>().concat()
}

/// A command inside of others.
fn wrapped(dice: &mut Dice<'_>, inner: String, hiding: &[&str]) -> String {
    let (mut command, mut simple) = (inner, true);
    for _ in 0..dice.below(MOST_WRAPS + 1) {
        let kind = dice.below(8);
        let template = match kind {
            0..=2 if simple => dice.of(PREFIXES),
            3 if !hiding.is_empty() => dice.of(hiding),
            _ => {
                simple = false;
                dice.of(WRAPS)
            }
        };
        simple &= template.starts_with(|c: char| c.is_ascii_lowercase()) && !template.contains(';');
        let marks = template.replace('%', "\u{1}").replace('#', "\u{2}").replace('@', "\u{3}");
        // `$@` and a format of printf are no places.
        let marks =
            marks.replace("$\u{3}", "$@").replace("[\u{3}", "[@").replace("'\u{1}s'", "'%s'");
        let marks = marks.replace("a\u{3}P", "a@P").replace("\u{2} no", "# no");
        command = marks
            .replace('\u{1}', &quoted(&command))
            .replace('\u{2}', &octal(&command))
            .replace('\u{3}', &command);
    }
    command
}

/// What changes nothing, or breaks it.
const INSERTS: &[&str] = &[
    "''", "\"\"", "\\", " ", "\t", "$@", "${no}", "\\\n", "\n", ";", "&", "|", "'", "\"", "`", "#",
];

fn disturbed(dice: &mut Dice<'_>, mut command: String) -> String {
    for _ in 0..dice.below(4).saturating_sub(1) {
        let insert = dice.of(INSERTS);
        let places: Vec<usize> = command.char_indices().map(|(at, _)| at).collect();
        let at = (dice.roll() * 256 + dice.roll()) % places.len().max(1);
        command.insert_str(places.get(at).copied().unwrap_or_default(), insert);
    }
    command
}

/// What became of a scene in which a command was carried out.
struct Aftermath {
    said: String,
    victim: bool,
    canary: bool,
}

impl Aftermath {
    fn of(command: &str) -> Self {
        let scene = furnished();
        let run = Command::new("timeout")
            .args(["-s", "KILL", "5", "bash", "-c", command])
            .current_dir(scene.path())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let said = run.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        Self {
            said: said.unwrap_or_default(),
            victim: scene.path().join("victim").exists(),
            canary: scene.path().join("canary").exists(),
        }
    }
}

const SECRET: &str = "hunter2-stays-here";

fn furnished() -> Scene {
    let scene = Scene::new();
    std::fs::create_dir(scene.path().join("sub")).unwrap();
    std::fs::write(scene.path().join("private.txt"), format!("{SECRET}\n")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("private.txt", scene.path().join("link")).unwrap();
    scene
}

/// How often something was the case.
#[derive(Default)]
struct Tally {
    cases: AtomicUsize,
    passed: AtomicUsize,
}

impl Tally {
    fn count(&self, passed: bool) {
        self.cases.fetch_add(1, Relaxed);
        self.passed.fetch_add(usize::from(passed), Relaxed);
    }

    fn share(&self) -> (usize, usize) {
        (self.passed.load(Relaxed), self.cases.load(Relaxed))
    }
}

/// A spelling of a denied program that is let through does not run it.
fn denied_program(scene: &Scene, bytes: &[u8], tally: &Tally) -> Option<String> {
    let mut dice = Dice { bytes: bytes.iter() };
    let simple = format!("{} {}", dice.of(NAMES), dice.of(VICTIMS));
    let command = wrapped(&mut dice, simple, HIDING);
    let command = disturbed(&mut dice, command);
    let deny = rules(&["Bash"], &["Bash(rm:*)"]);
    let by_mode = [PermissionMode::Default, PermissionMode::BypassPermissions].map(|mode| {
        scene.permit(mode, &deny).decide("Bash", &scene.command(&command)) == Verdict::Allow
    });
    let passed = by_mode.contains(&true);
    tally.count(passed);
    let removed = passed && !Aftermath::of(&command).victim;
    removed.then(|| format!("let through, and it removes: {command}"))
}

/// A spelling of a denied file that is let through does not show it.
fn denied_file(scene: &Scene, bytes: &[u8], tally: &Tally) -> Option<String> {
    let mut dice = Dice { bytes: bytes.iter() };
    let read = dice.of(READS).replace('@', dice.of(FILES));
    let read = read.replace("[private.txt]", "[@]");
    let command = wrapped(&mut dice, read, &[]);
    let command = disturbed(&mut dice, command);
    let permit = scene.permit(PermissionMode::Default, &rules(&["Bash"], &["Read(./private.txt)"]));
    let seen = scene.command(&command);
    // What goes through a whole directory is looked at by the search, not here.
    let private = scene.path().canonicalize().unwrap().join("private.txt");
    let walks = matches!(&seen, Footprint::Command(used) if used.outline.files.iter().any(|file| {
        matches!(file.touch, FileTouch::Tree | FileTouch::VisibleTree)
            && private.starts_with(&file.path)
    }));
    let passed = !walks && permit.decide("Bash", &seen) == Verdict::Allow;
    tally.count(passed);
    let shown = passed && Aftermath::of(&command).said.contains(SECRET);
    shown.then(|| format!("let through, and it shows: {command}"))
}

/// What people say "always" to.
const ASKED: &[&str] = &[
    "cargo test",
    "cargo test -p x",
    "cargo build --release",
    "git add src",
    "git log -3 /etc",
    "git diff --stat /etc",
    "git status /etc",
    "git show HEAD:x /etc",
    "go test ./...",
    "go build",
    "pytest tests",
    "pytest -x",
    "make test",
    "npm test",
    "touch a",
    "rm -rf build",
    "rm *",
    "echo a:*",
    "domain:x",
    "=x",
    "*",
    "",
    " ",
    "()",
    "x)",
    "bash -c true",
    "cargo test 'a b'",
    "cargo  test",
];

/// What would be done besides: `@` is what was asked.
const MORE: &[&str] = &[
    "@; touch canary",
    "@ && touch canary",
    "@ || touch canary",
    "@ | touch canary",
    "@ & touch canary",
    "@\ntouch canary",
    "@ $(touch canary)",
    "@ `touch canary`",
    "@ <(touch canary)",
    "@ > canary",
    "@ >> canary",
    "@ 2> canary",
    "@ &> canary",
    "@ >| canary",
    "@ \"$(touch canary)\"",
    "@ ${x:-$(touch canary)}",
    "touch canary; @",
    "X=$(touch canary) @",
    "f() { touch canary; }; f @",
    "@ <<< $(touch canary)",
    "@ <<E\n$(touch canary)\nE",
    "@() { touch canary; }; @",
    "PATH=. @; touch canary",
    "touch canary",
    "touch canary # @",
    "@ -exec touch canary",
    "if @; then touch canary; fi",
    "! @ || touch canary",
    "@ $((a[$(touch canary)]))",
    "{ @; touch canary; }",
    "@ {a,b} > canary",
];

/// Options by which a program runs or writes something else.
const ACTING: &[(&str, &[&str])] = &[
    ("cargo", &["--config x", "--config=x", "--conf x"]),
    ("git", &["--output=x", "--output x", "--outp=x", "--ext-diff", "--textconv"]),
    ("go", &["-exec x", "-toolexec=x", "--exec=x", "-vettool=x", "-o x"]),
    ("pytest", &["-p evil", "-c evil.ini", "--rootdir=/x", "-xpevil", "-o x=y"]),
];

/// What "always" adds for one command lets nothing else through.
fn always_is_narrow(scene: &Scene, bytes: &[u8], tally: &Tally) -> Option<String> {
    let mut dice = Dice { bytes: bytes.iter() };
    let asked = dice.of(ASKED).to_owned();
    let asked = disturbed(&mut dice, asked);
    let more = dice.of(MORE).replace('@', &asked);
    let more = disturbed(&mut dice, more);
    let mut permit = scene.permit(PermissionMode::Default, &rules(&[], &[]));
    let Verdict::Ask { rule } = permit.question("Bash", &scene.command(&asked)) else {
        return Some(format!("{asked:?} is not asked about"));
    };
    let before = permit.decide("Bash", &scene.command(&more));
    permit.allow_for_session(&rule);
    if permit.granted().count() != 1 {
        return Some(format!("{asked:?} made a rule that cannot be read: {rule}"));
    }
    if asked.trim() == more.trim() {
        return None;
    }
    let passed = before != Verdict::Allow && allows(&permit, scene, &more);
    tally.count(passed);
    if passed && Aftermath::of(&more).canary {
        return Some(format!("{rule:?} of {asked:?} lets {more:?} through"));
    }
    let (_, options) = ACTING.iter().find(|(program, _)| asked.starts_with(program))?;
    // What would make the option a part of something else.
    if asked.contains(['#', '\'', '"', '`', '\\', '\n', ';', '&', '|', '$']) {
        return None;
    }
    let acting = format!("{asked} {}", dice.of(options));
    allows(&permit, scene, &acting).then(|| format!("{rule:?} lets {acting:?} through"))
}

fn allows(permit: &Permit, scene: &Scene, command: &str) -> bool {
    permit.decide("Bash", &scene.command(command)) == Verdict::Allow
}

/// What rules and commands are made of, nonsense included.
const SCRAPS: &[&str] = &[
    "Bash",
    "Read",
    "Edit",
    "Write",
    "WebFetch",
    "mcp__a",
    "mcp__a__b",
    "*",
    "(",
    ")",
    ":*",
    " *",
    "**",
    "=",
    "domain:",
    "//",
    "~/",
    "./",
    "../",
    "/",
    "[",
    "]",
    "{",
    "}",
    ",",
    "!",
    "\\",
    "'",
    "\"",
    "$",
    "`",
    "rm",
    "git",
    "cargo",
    "test",
    "-r",
    "--force",
    "a",
    "é",
    "\u{0}",
    "\u{200b}",
    "\n",
    "\t",
    " ",
    "-",
    "--",
    "|",
    ";",
    "&",
    "<",
    ">",
    "<<E",
    "E",
    "if",
    "then",
    "fi",
    "for",
    "do",
    "done",
    "case",
    "esac",
    "in",
    "$((",
    "))",
    "$(",
    "${",
    "x=",
    "a.example",
    ".",
    "?",
    "#",
    "%",
];

fn scraps(dice: &mut Dice<'_>, most: usize) -> String {
    (0..dice.below(most)).map(|_| dice.of(SCRAPS)).collect()
}

/// Rules and deeds out of anything: no panic, and one deny more allows nothing
/// more; what "always" adds is a rule for this very thing and for no other.
fn anything(scene: &Scene, bytes: &[u8], tally: &Tally) -> Option<String> {
    let mut dice = Dice { bytes: bytes.iter() };
    let (allow, deny) = (scraps(&mut dice, 8), scraps(&mut dice, 8));
    let text = scraps(&mut dice, 24);
    let path = std::path::PathBuf::from(format!("/{}", scraps(&mut dice, 8)));
    let fetch = Footprint::Fetch { url: format!("https://{text}/"), host: text.to_lowercase() };
    let deeds = [
        ("Bash", scene.command(&text)),
        ("Read", Footprint::Read(path.clone())),
        ("Edit", Footprint::Edit(path)),
        ("WebFetch", fetch),
        ("mcp__a__b", Footprint::Nothing),
    ];
    let other = [
        ("Bash", scene.command("touch canary")),
        ("Read", Footprint::Read("/canary".into())),
        ("Edit", Footprint::Edit("/canary".into())),
        ("WebFetch", Footprint::Fetch { url: "https://c/".into(), host: "canary.c".into() }),
    ];
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan] {
        let without = scene.permit(mode, &rules(&[&allow], &[]));
        let with = scene.permit(mode, &rules(&[&allow], &[&deny]));
        for (tool, deed) in &deeds {
            let now = with.decide(tool, deed);
            tally.count(now == Verdict::Allow);
            if now == Verdict::Allow && without.decide(tool, deed) != Verdict::Allow {
                return Some(format!("{deny:?} widens {allow:?} for {deed:?}"));
            }
            let mut granted = scene.permit(mode, &rules(&[], &[]));
            let Verdict::Ask { rule } = granted.decide(tool, deed) else { continue };
            granted.allow_for_session(&rule);
            if granted.granted().count() != 1 {
                return Some(format!("{rule:?} of {deed:?} cannot be read"));
            }
            for (tool, other) in other.iter().filter(|(_, other)| other != deed) {
                if granted.decide(tool, other) == Verdict::Allow {
                    return Some(format!("{rule:?} of {deed:?} allows {other:?}"));
                }
            }
        }
    }
    None
}

/// One case: what is wrong, if anything is.
type Target = fn(&Scene, &[u8], &Tally) -> Option<String>;

/// The same bytes every time: what fails, fails for everybody.
fn few(target: Target) -> Tally {
    let (scene, tally) = (furnished(), Tally::default());
    let mut wrong = Vec::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..FEW {
        let bytes: Vec<u8> = (0..64)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.to_be_bytes()[0]
            })
            .collect();
        wrong.extend(target(&scene, &bytes, &tally));
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n----\n"));
    tally
}

#[test]
fn s11_no_generated_spelling_of_a_denied_program_removes_anything() {
    let (passed, cases) = few(denied_program).share();
    assert!(passed < cases / 4, "the rule is about most of them: {passed} of {cases}");
}

#[test]
fn s11_no_generated_spelling_of_a_denied_file_shows_it() {
    let (passed, cases) = few(denied_file).share();
    assert!(passed < cases / 4, "the rule is about most of them: {passed} of {cases}");
}

#[test]
fn s11_no_generated_command_goes_further_than_always() {
    few(always_is_narrow);
}

#[test]
fn s11_rules_out_of_anything_widen_nothing() {
    few(anything);
}

#[test]
#[ignore = "a soak: cargo xtask soak fuzz"]
fn s11_fuzz_of_permission_rules() {
    let targets: [(&str, Target); 4] = [
        ("spellings of a denied program", denied_program),
        ("spellings of a denied file", denied_file),
        ("commands beside what always was said to", always_is_narrow),
        ("rules and deeds out of anything", anything),
    ];
    for (about, target) in targets {
        let (scene, tally) = (furnished(), Tally::default());
        bolero::check!()
            .with_type::<Vec<u8>>()
            .with_iterations(MANY)
            .with_max_len(256)
            .for_each(|bytes: &Vec<u8>| assert_eq!(target(&scene, bytes, &tally), None));
        let (passed, cases) = tally.share();
        println!("{about}: {passed} of {cases} let through, none did harm");
    }
}
