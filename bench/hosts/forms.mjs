// A host's file in every form that people keep it in: where the host starts with
// it as it is, it starts with ours in it too and has our server once; where the
// file cannot be changed, it is left alone.

import fs from "node:fs";
import path from "node:path";
import { HOSTS, placeIn, run } from "./hosts.mjs";

/** One key that each host knows, and a server that is not ours. */
const KNOWN = {
  claude: { key: '"theme": "dark"', other: '{"type": "stdio", "command": "true", "args": []}' },
  gemini: { key: '"ui": {"theme": "Default"}', other: '{"command": "true"}' },
  opencode: { key: '"username": "me"', other: '{"type": "local", "command": ["true"], "enabled": false}' },
};
const OLD = {
  claude: '{"type": "stdio", "command": "/old/everfold", "args": ["mcp"]}',
  gemini: '{"command": "/old/everfold", "args": ["mcp"]}',
  opencode: '{"type": "local", "command": ["/old/everfold", "mcp"], "enabled": true}',
};

/** JSON: KEY is a member, SERVERS the key of servers, OTHER a server, OURS an entry of an earlier installation. */
const JSON_FORMS = [
  "", " \n\n", "{}", "{ }", "{\n}\n", "{\r\n}\r\n", "\ufeff{}\n", "\ufeff{\r\n  KEY\r\n}",
  "{KEY}", "{KEY, \"SERVERS\": {  }}\n", "{\n  KEY\n}\n", "{\n    KEY,\n    \"SERVERS\": {\n        \"other\": OTHER\n    }\n}\n",
  "{\n\tKEY\n}", "{\r\n\tKEY\r\n}\r\n", "{\n  KEY,\n}\n", "{KEY,}\n",
  "// head\n{\n  // mine\n  KEY // one\n  /* two */\n}\n// tail\n", "{ /* only a comment */ }",
  "{\"SERVERS\":{}}", "{\n  \"SERVERS\": {\n    // none yet\n  }\n}\n", "{\"SERVERS\": {\"other\": OTHER}, KEY}",
  "{\n  KEY,\n  \"SERVERS\": {\n    \"other\": OTHER,\n  },\n}\n", "{\"SERVERS\": {}, \"SERVERS\": {\"b\": OTHER}}",
  "{\"SERVERS\": {\"\\u006fther\": OTHER}}", "{\"SERVERS\": {\"\u00e9t\u00e9\": OTHER}}", "{\"SERVERS\": {\"one\": OTHER, \"two\": OTHER}}\n\n\n",
  "{\"SERVERS\": {\"everfold\": OURS}}", "{\n  \"SERVERS\": {\n    // ours\n    \"everfold\": OURS, // c\n    \"other\": OTHER\n  }\n}\n",
  "{\n  KEY,\n  \"SERVERS\": {\n    \"other\": OTHER,\n    \"everfold\": OURS\n  }\n}\n",
  "{", "{KEY", "{\"x\" 1}", "{x: 1}", "{KEY} {}", "[]", "{\"SERVERS\": []}", "{\"SERVERS\": \"no\"}",
];

const TOML_FORMS = [
  "", "\n\n", "\ufeffmodel = \"m\"\n", "# only a comment", "model = \"m\"", "model = \"m\"\r\nmodel_provider = \"openai\"\r\n",
  "model = \"m\"\n\n[tui]\nnotifications = true\n# b = 2\n", "[mcp_servers]\n", "[mcp_servers] # mine\n\n[tui]\nnotifications = true\n",
  "mcp_servers = {}\n", "mcp_servers = { other = { command = \"true\" } } # c\nmodel = \"m\"\n",
  "model = \"m\"\r\nmcp_servers = { other = { command = \"true\" } }\r\n[tui]\r\nnotifications = true\r\n",
  "mcp_servers.other.command = \"true\"\n", "mcp_servers.other = { command = \"true\" }\nmodel = \"m\"\n\n[tui]\nnotifications = true\n",
  "[mcp_servers]\nother = { command = \"true\" }\n", "[mcp_servers]\nother.command = \"true\"\nother.args = [\n  \"a\", # one\n]\n",
  "[mcp_servers.other]\ncommand = \"true\"\n", "[mcp_servers.other]\ncommand = \"true\"",
  "[mcp_servers . \"other\"]\ncommand = 'true'\n[mcp_servers.other.env]\nA = \"b\"\n",
  "developer_instructions = \"\"\"\n[mcp_servers.everfold]\n\"\"\"\n", "developer_instructions = '''\r\nmcp_servers = 1\r\n'''\r\n",
  "[profiles.x]\nmodel = \"m\"\n", "\"mcp_servers\".\"other\".command = \"true\"\n", "[features]\nweb_search_request = true\n\n\n",
  "[mcp_servers.everfold]\ncommand = \"/old\"\nargs = [\"mcp\"]\n", "[mcp_servers]\neverfold = { command = \"/old\" }\nother = { command = \"true\" }\n",
  "mcp_servers.everfold.command = \"/old\"\nmcp_servers.everfold.args = []\n[tui]\nnotifications = true\n",
  "mcp_servers = { everfold = { command = \"/old\" }, other = { command = \"true\" } }\n",
  "[\"mcp_servers\".'everfold']\r\ncommand = \"/old\"\r\n\r\n[tui]\r\nnotifications = true\r\n",
  "[mcp_servers.everfold]\ncommand = \"/old\"\n[mcp_servers.everfold.tools.memory_save]\napproval_mode = \"approve\"\n",
  "model = \n", "[mcp_servers\n", "model = \"m\nx = 1\n", "model = \"a\"\nmodel = \"b\"\n", "[mcp_servers.other]\n[mcp_servers.other]\n",
  "mcp_servers = 1\n", "[[mcp_servers]]\ncommand = \"x\"\n", "{\"mcp_servers\": {}}\n",
];

/** What is not text: the file itself is another thing. */
const SPECIAL = {
  "no file": () => {},
  "a link": (file, text) => {
    fs.writeFileSync(`${file}.kept`, text);
    fs.symlinkSync(`${file}.kept`, file);
  },
  "a link to a link": (file, text) => {
    fs.writeFileSync(`${file}.kept`, text);
    fs.symlinkSync(`${file}.kept`, `${file}.between`);
    fs.symlinkSync(`${file}.between`, file);
  },
  "read-only": (file, text) => {
    fs.writeFileSync(file, text);
    fs.chmodSync(file, 0o444);
  },
};

function forms(name) {
  const plain = name === "codex" ? 'model = "m"\n' : `{${KNOWN[name].key}}\n`;
  const texts = name === "codex" ? TOML_FORMS : JSON_FORMS.map((text) => text
    .replaceAll("KEY", KNOWN[name].key).replaceAll("SERVERS", HOSTS[name].servers)
    .replaceAll("OTHER", KNOWN[name].other).replaceAll("OURS", OLD[name]));
  const all = texts.map((text) => ({ about: JSON.stringify(text), make: (file) => fs.writeFileSync(file, text), text }));
  for (const [about, make] of Object.entries(SPECIAL)) all.push({ about, make: (file) => make(file, plain), text: about });
  return all;
}

const bytes = (file) => (fs.existsSync(file) ? fs.readFileSync(file, "latin1") : null);

/** One form: what the host and we made of it. */
async function tryForm(name, program, everfold, form, place) {
  const host = HOSTS[name];
  const file = path.join(place.home, host.file);
  const env = { PATH: process.env.PATH, HOME: place.home, ...host.env("http://127.0.0.1:9") };
  const options = { cwd: place.project, env };
  const fresh = () => {
    fs.rmSync(place.home, { recursive: true, force: true });
    fs.mkdirSync(path.dirname(file), { recursive: true });
    form.make(file);
  };
  // A server of somebody else's that does not answer is no failure of the start.
  const starts = async () => {
    const ran = await run(program, host.reads, options);
    const rows = ran.out.split("\n").filter((line) => /^\W*everfold\b/.test(line.replace(/\u001b\[\d*m/g, "")));
    return { started: ran.code === 0, ours: rows.length, out: ran.out };
  };
  fresh();
  const alone = (await starts()).started;
  fresh();
  const before = bytes(file);
  const installed = await run(everfold, ["install", name], options);
  if (installed.code !== 0) {
    const untouched = bytes(file) === before && installed.out.includes(path.basename(file));
    return { alone, outcome: "left", wrong: untouched ? null : "it was not left alone" };
  }
  const together = await starts();
  const taken = await run(everfold, ["uninstall", name], options);
  const now = bytes(file);
  const clean = taken.code === 0 && (now === before || !/everfold/.test(now ?? "")) ? null : "something is left";
  const wrong = alone && !(together.started && together.ours === 1) ? `it does not start, or has ours ${together.ours} times: ${together.out.slice(-300)}` : clean;
  return { alone, outcome: together.started ? "started" : "not read by the host", wrong };
}

/** All forms of a host's file, and what is wrong. */
export async function tryForms(name, program, everfold, root) {
  const done = { forms: 0, alone: 0, changed: 0, started: 0, left: 0, wrong: [] };
  const ahead = forms(name);
  const work = async (lane) => {
    for (let form = ahead.shift(); form; form = ahead.shift()) {
      const one = await tryForm(name, program, everfold, form, placeIn(root, `${name}-form-${lane}`));
      done.forms += 1;
      if (one.alone) done.alone += 1;
      if (one.alone && one.outcome !== "left") done.changed += 1;
      if (one.outcome === "started") done.started += 1;
      if (one.outcome === "left") done.left += 1;
      if (one.wrong) done.wrong.push(`${form.about}: ${one.wrong}`);
    }
  };
  await Promise.all([work(0), work(1)]);
  return done;
}
