// Ten turns of a real session in one host: five things worth keeping are said and
// ten that are not. What is in the store afterwards, what the model saw, and what
// another host's next session recalls.

import fs from "node:fs";
import path from "node:path";
import { HOSTS, converse, placeIn, run, settled, tree } from "./hosts.mjs";
import { REVIEW } from "./promises.mjs";
import { serve } from "./model.mjs";

const INDEX = "[Release notes](release-notes.md)";
const TOKEN = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");

/** Worth keeping: how it is told apart in the store, and in what a review proposes. */
const KEPT = {
  deploys: /wait for Thursday/,
  staging: /refreshed every Monday/,
  tracker: /SHOP-OPS/,
  english: /British English/,
  explorer: /Internet Explorer/,
};

/** Not worth it: small talk, a question, what is for now, a quotation, what is not to be kept, a secret, a joke, a task, a fancy, what code shows. */
const NOT_KEPT = [
  /pasta/, /round prices/, /purple/, /capped at nine/, /Pixel/, /16C7e42F/, /squirrel/, /barely/,
  /Mars/, /taxes/, /Kubernetes/,
];

const STAGING = "The staging database is refreshed every Monday night from production";
const TRACKER = "Bug reports of the shop are filed in the tracker SHOP-OPS, not on GitHub.";
const EXPLORER = "We decided in the team to drop Internet Explorer from the shop in March 2027, since nobody buys with it.";
const LOGGED = "Remember that retries are capped at nine.";

const TURNS = [
  "Remember that deploys of the shop wait for Thursday, when support is there. Thanks for the nice pasta yesterday, by the way.",
  "Does the cart round prices up? Keep the banner purple for now.",
  `${STAGING}, because auditors asked for it.`,
  `The log says: "${LOGGED}" Please do not remember that my cat is called Pixel.`,
  TRACKER,
  `Remember that the token for the mirror is ${TOKEN}. Never trust a squirrel with a keyboard, haha.`,
  "Please remember: I want answers in British English, in every project.",
  `As I said: ${STAGING}. Rename the variable foo to barely in main.js.`,
  `${EXPLORER} If we ever moved to Mars, deploys would go out at noon there.`,
  "The function total in cart.js adds the taxes twice; have a look at it.",
];

/** What a reviewer proposes, by what has to be in front of it. It is too eager, as models are. */
const PROPOSALS = [
  [STAGING, memory("Staging database", "project", STAGING)],
  [TRACKER, memory("Bug tracker", "reference", TRACKER)],
  [EXPLORER, memory("No Internet Explorer", "project", EXPLORER)],
  [LOGGED, memory("Retries", "project", LOGGED, "the retries are capped at nine")],
  [TOKEN, memory("Mirror token", "reference", `the token for the mirror is ${TOKEN}`)],
  [STAGING, memory("Kubernetes", "project", "The shop runs on Kubernetes in three regions.")],
];

function memory(name, type, evidence, description = evidence) {
  return { name, type, global: false, evidence, body: evidence, description };
}

/** Requests of the conversation have tools; those for titles and the like have none. */
function hasTools({ tools }) {
  return (tools?.[0]?.functionDeclarations ?? tools ?? []).length > 1;
}

/** A request of the conversation as its parts, in the order of the prefix. */
function parts({ body }) {
  const bare = (value) => JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner));
  const system = body.system ?? body.instructions ?? body.systemInstruction;
  const said = body.messages ?? body.input ?? body.contents ?? [];
  return [bare(body.tools), bare(system), ...said.map(bare)];
}

/** How many requests begin with all of the one before, and the first place where one does not. */
function prefixes(requests) {
  const all = requests.map(parts);
  let [same, broken] = [0, null];
  for (let at = 1; at < all.length; at += 1) {
    const wrong = all[at - 1].findIndex((part, place) => part !== all[at][place]);
    if (wrong < 0) same += 1;
    else broken ??= { request: at, part: wrong, before: all[at - 1][wrong], after: all[at][wrong] };
  }
  return { same, of: Math.max(all.length - 1, 0), broken };
}

/** The model: reviews what it is shown, saves one thing by itself in Claude Code, else says a word. */
function model(place) {
  let saved = false;
  let turn = 0;
  return (request) => {
    if (request.text.includes(REVIEW)) {
      const shown = (words) => request.text.includes(JSON.stringify(words).slice(1, -1).replaceAll('"', '\\"')) || request.text.includes(words);
      const memories = PROPOSALS.filter(([words]) => shown(words)).map(([, proposed]) => proposed);
      return { text: JSON.stringify({ memories }) };
    }
    const own = request.url.endsWith("/messages") && request.body.tools?.some((tool) => tool.name === "Write");
    if (own && !saved && request.text.includes(TRACKER)) {
      saved = true;
      const dir = path.join(place.home, ".claude/projects", place.project.replace(/[^A-Za-z0-9]/g, "-"), "memory");
      const content = `---\nname: Bug tracker\ndescription: ${TRACKER}\ntype: reference\n---\n\n${TRACKER}\n`;
      return { tool: "Write", input: { file_path: path.join(dir, "bug-tracker.md"), content } };
    }
    turn += 1;
    return { text: `All right, that was answer ${turn}.` };
  };
}

/** Every memory of the two stores: what it says, without where it is from. */
function memories(listed) {
  return listed.map((row) => {
    const text = fs.readFileSync(row.file, "utf8");
    return [row.name, row.description, text.slice(text.indexOf("\n---", 3) + 4)].join("\n");
  });
}

/** Ten turns in a host, and what became of them. */
export async function trySession(name, program, next, everfold, root) {
  const host = HOSTS[name];
  const place = placeIn(root, `${name}-session`);
  const server = await serve(model(place));
  for (const each of new Set([host, next?.host].filter(Boolean))) each.settings(place, server.url);
  const login = {};
  for (const each of [next?.host, host].filter(Boolean)) Object.assign(login, each.login(place, server.url));
  const env = {
    PATH: `${path.dirname(program)}:${process.env.PATH}`, HOME: place.home, ...login,
  };
  const options = { cwd: place.project, env };
  const ours = (...args) => run(everfold, args, options);
  const before = tree(place.home);
  const planned = [];
  const install = async (which) => {
    const plan = JSON.parse((await ours("install", which, "--dry-run", "--json")).out);
    planned.push(...plan.changes.map((change) => path.relative(place.home, change.path)));
    await ours("install", which);
  };
  await install(name);
  const about = ["--description", "release notes of the shop are written by Ada", "--type", "project"];
  await run(everfold, ["memory", "add", "--name", "Release notes", ...about], { ...options, input: "On the day before." });

  const began = Date.now();
  const outs = [];
  if (host.more) {
    for (const [at, prompt] of TURNS.entries()) {
      outs.push(await run(program, at === 0 ? host.turn(prompt) : host.more(prompt), options));
    }
  } else {
    outs.push(await converse(program, [], TURNS, options));
  }
  const seconds = Math.round((Date.now() - began) / 1000);
  await settled(place.home);

  const asked = server.requests.filter((request) => request.method === "POST");
  const reviews = asked.filter((request) => request.text.includes(REVIEW)).length;
  const talk = asked.filter((request) => !request.text.includes(REVIEW) && hasTools(request.body));
  const last = talk.at(-1)?.text ?? "";
  const index = last.split(INDEX).length - 1;
  const turns = TURNS.filter((prompt) => last.includes(prompt.slice(0, 12))).length;
  const prefix = prefixes(talk);

  let recalled = null;
  if (next) {
    await install(next.name);
    const from = server.requests.length;
    outs.push(await run(next.program, next.host.turn("When do deploys of the shop go out, and where are its bug reports filed?"), options));
    await settled(place.home);
    const seen = server.requests.slice(from).filter((request) => !request.text.includes(REVIEW)).map((request) => request.text).join("\n");
    const shown = /## [\w-]+\.md \(today\)/.test(seen);
    recalled = shown && KEPT.deploys.test(seen) && KEPT.tracker.test(seen);
    await ours("uninstall", next.name);
  }

  const texts = memories(JSON.parse((await ours("memory", "list", "--json")).out));
  const copies = Object.fromEntries(Object.entries(KEPT).map(([what, words]) => [what, texts.filter((text) => words.test(text)).length]));
  const unwanted = NOT_KEPT.filter((words) => texts.some((text) => words.test(text))).map(String);

  await ours("uninstall", name);
  const left = leftovers(before, tree(place.home), planned);
  server.close();
  const log = path.join(place.home, ".everfold/logs/everfold.log");
  const told = fs.existsSync(log) ? fs.readFileSync(log, "utf8") : "";
  return { seconds, turns, reviews, index, prefix, copies, unwanted, recalled, left, texts, out: outs.map((each) => each.out).join("\n"), log: told };
}

/** What is not as it was: files of the host that it does not write by itself, and words of ours in those that it does. */
function leftovers(before, after, touched) {
  const own = (file) => file === ".everfold" || file.startsWith(".everfold/");
  const left = [];
  for (const [file, bytes] of before) {
    const now = after.get(file);
    if (now === undefined) left.push(`${file} is gone`);
    // The host may have written to it too; nothing of ours may be there.
    else if (now !== bytes && (!touched.includes(file) || /everfold/i.test(now))) left.push(`${file} is another`);
  }
  for (const file of touched) {
    if (!own(file) && !before.has(file) && after.has(file) && /everfold/i.test(after.get(file))) left.push(`${file} is left`);
  }
  if (after.has(".everfold/installed")) left.push(".everfold/installed is left");
  return left;
}

/** What is wrong with a session; nothing where it went as it must. */
export function wrongIn(session) {
  const wrong = [];
  if (session.turns !== TURNS.length) wrong.push(`${session.turns} turns`);
  for (const [what, count] of Object.entries(session.copies)) if (count !== 1) wrong.push(`${what} is there ${count} times`);
  if (session.unwanted.length > 0) wrong.push(`kept ${session.unwanted.join(" ")}`);
  if (session.index !== 1) wrong.push(`the index is shown ${session.index} times`);
  if (session.prefix.broken) wrong.push("the prefix changed");
  if (session.recalled === false) wrong.push("not recalled in the next host");
  return [...wrong, ...session.left];
}
