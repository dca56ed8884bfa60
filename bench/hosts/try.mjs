// Runs the real agents beside Everfold, against a model on loopback, and says
// what reached the model, what was kept, and what is left afterwards:
// `node bench/hosts/try.mjs <everfold> [folder] [host or part…]`.
//
// Each host is installed from the package registry into the folder (a
// temporary one where none is given, which is removed), and runs in a home of
// its own with updates and telemetry off. Parts: `promises` is one prompt in
// each, `session` ten turns, `forms` a start on each of forty forms of its file.
// What cannot be installed or started is passed over, and said. Exit code 1 if
// a host that ran did not do what its guide promises.
//
// `small` is for every change: it installs nothing, takes less than a minute and
// gives one prompt to each host that is there and that fetches nothing itself.
// One that does not come to its end is no failure of ours there, and one that
// does is asked twice before it counts.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HOSTS, installed, present } from "./hosts.mjs";
import { tryForms } from "./forms.mjs";
import { tryHost, tryLogin } from "./promises.mjs";
import { trySession, wrongIn } from "./session.mjs";

const PARTS = ["promises", "session", "forms"];
const [program, given, ...words] = process.argv.slice(2);
if (!program) {
  console.error("usage: node bench/hosts/try.mjs <everfold> [folder] [host or part…]");
  process.exit(2);
}
const everfold = path.resolve(program);
const folder = given ?? fs.mkdtempSync(path.join(os.tmpdir(), "everfold-hosts-"));
const root = fs.mkdtempSync(path.join(os.tmpdir(), "everfold-beside-"));
const named = words.filter((word) => word in HOSTS);
const parts = words.filter((word) => PARTS.includes(word));
const names = named.length > 0 ? named : Object.keys(HOSTS);
const wants = (part) => parts.length === 0 || parts.includes(part);
let failed = 0;

function tail(text, lines = 15) {
  console.log(text.split("\n").slice(-lines).map((line) => `  | ${line.slice(0, 400)}`).join("\n"));
}

/** Time after which the small form begins nothing new. */
const SMALL_MS = 30_000;

async function small(name, host) {
  if (HOSTS[name].fetches) return console.log(`${name}: SKIPPED, it fetches packages when it starts`);
  if (performance.now() > SMALL_MS) return console.log(`${name}: SKIPPED, there is no time left`);
  let tried = await tryHost(name, host, everfold, path.join(root, "first"), SMALL_MS / 2);
  if (tried.code === 0 && tried.missing.length > 0) {
    tried = await tryHost(name, host, everfold, path.join(root, "second"), SMALL_MS / 2);
  }
  if (tried.code !== 0) return console.log(`${name}: SKIPPED, it ended with ${tried.code}`);
  console.log(`${name} ${tried.version}: ${tried.missing.length === 0 ? "does what its guide promises" : `MISSING ${tried.missing.join(", ")}`}`);
  if (tried.missing.length === 0) return undefined;
  failed += 1;
  return tail(tried.out);
}

async function promises(name, host) {
  const tried = await tryHost(name, host, everfold, root);
  const said = Object.entries(tried.found).map(([what, is]) => `${what} ${is ? "yes" : "no"}`);
  console.log(`${name} ${tried.version}: ${said.join(", ")}`);
  if (tried.missing.length > 0) {
    failed += 1;
    console.log(`  MISSING ${tried.missing.join(", ")}; it ended with ${tried.code} and said:`);
    tail(tried.out);
  }
  const login = await tryLogin(name, host, everfold, root);
  console.log(`  with its own login: ${login.reviews} review, kept ${login.kept ? "yes" : "no"}`);
  if (login.reviews !== 1 || !login.kept) {
    failed += 1;
    tail(login.out);
  }
}

/** The host that comes after one, for what the next session recalls. */
function after(name, programs) {
  const ring = Object.keys(HOSTS).filter((each) => programs[each]);
  const next = ring[(ring.indexOf(name) + 1) % ring.length];
  return next && next !== name ? { name: next, host: HOSTS[next], program: programs[next] } : null;
}

async function session(name, programs) {
  const next = after(name, programs);
  const done = await trySession(name, programs[name], next, everfold, root);
  const kept = Object.values(done.copies).filter((count) => count === 1).length;
  const where = next ? `recalled in ${next.name} ${done.recalled ? "yes" : "no"}` : "no other host";
  console.log(`${name} ten turns in ${done.seconds} s: ${kept} of 5 kept once, ${done.unwanted.length} of 10 kept, index ${done.index}, reviews ${done.reviews}, prefix ${done.prefix.same} of ${done.prefix.of}, ${where}, left ${done.left.length}`);
  const wrong = wrongIn(done);
  if (wrong.length === 0) return;
  failed += 1;
  console.log(`  WRONG: ${wrong.join("; ")}`);
  if (done.prefix.broken) console.log(`  ${JSON.stringify(done.prefix.broken).slice(0, 2000)}`);
  if (process.env.EVERFOLD_HOSTS_TELL) console.log(done.texts.join("\n=====\n"), done.out.slice(-3000));
  tail(done.log);
}

async function forms(name, host) {
  const done = await tryForms(name, host, everfold, root);
  console.log(`${name} ${done.forms} forms of its file: it starts with ${done.alone} as they are; ours went into ${done.changed} of these and ${done.started - done.changed} others, and it starts with all; ${done.left} left alone, ${done.wrong.length} wrong`);
  if (done.wrong.length === 0) return;
  failed += 1;
  for (const wrong of done.wrong) console.log(`  WRONG ${wrong}`);
}

const isSmall = words.includes("small");
const find = isSmall ? present : installed;
const programs = Object.fromEntries(Object.keys(HOSTS).map((name) => [name, find(name, folder)]));
for (const name of names) {
  if (!programs[name]) {
    console.log(`${name}: SKIPPED, ${isSmall ? "it is not there" : "it could not be installed"}`);
    continue;
  }
  if (isSmall) {
    await small(name, programs[name]);
    continue;
  }
  if (wants("promises")) await promises(name, programs[name]);
  if (wants("session")) await session(name, programs);
  if (wants("forms") && HOSTS[name].file) await forms(name, programs[name]);
}
if (process.env.EVERFOLD_HOSTS_KEEP) console.log(`kept ${root}`);
else fs.rmSync(root, { recursive: true, force: true });
if (!given) fs.rmSync(folder, { recursive: true, force: true });
process.exit(failed > 0 ? 1 : 0);
