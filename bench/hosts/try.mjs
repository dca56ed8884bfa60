// Runs the real agents beside Everfold, against a model on loopback, and says
// what reached the model: `node bench/hosts/try.mjs <everfold> [folder] [host…]`.
//
// Each host is installed from the package registry into the folder (a
// temporary one where none is given, which is removed), runs in a home of its
// own with updates and telemetry off, and gets one prompt. What cannot be
// installed or started is passed over, and said. Exit code 1 if a host that
// ran did not do what its guide promises.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { serve } from "./model.mjs";

const PROMPT = "When do deploys of the shop go out? Remember that the kitchen has green tea.";
const SAID = "Deploys of the shop wait for Thursday, when support is there.";
const REVIEW = "You look through the newest part of a conversation";
const INDEX = "[Deploy day](deploy-day.md)";
const RECALLED = "## deploy-day.md (today)";
const TIME_MS = 90_000;
const GEMINI_MODEL = "gemini-2.5-pro";

const HOSTS = {
  claude: {
    package: "@anthropic-ai/claude-code",
    program: "claude",
    args: ["-p", PROMPT],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-test-0123456789",
      DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    settings: () => {},
    // A login that is the host's alone.
    login: (place, url) => {
      const settings = { apiKeyHelper: "echo sk-ant-test-0123456789" };
      write(path.join(place.home, ".claude/settings.json"), JSON.stringify(settings));
      return {
        ANTHROPIC_BASE_URL: url, EVERFOLD_PROVIDER: "offline", DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
    },
    call: { tool: "mcp__everfold__memory_search", input: { query: "deploys of the shop" } },
    args_with_tools: ["--allowedTools", "mcp__everfold__memory_search"],
    promises: ["index", "recall", "tools", "called", "rule", "review"],
  },
  codex: {
    package: "@openai/codex",
    program: "codex",
    // Hooks are looked at by a person once; here nobody is there to do so.
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", PROMPT],
    env: (url) => ({
      TEST_KEY: "k", OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "sk-test-0123456789",
      EVERFOLD_MODEL: "test-model",
    }),
    settings: (place, url) => {
      const lines = [
        'model = "test-model"', 'model_provider = "test"', "check_for_update_on_startup = false",
        "[model_providers.test]", 'name = "test"', `base_url = "${url}/v1"`,
        'wire_api = "responses"', 'env_key = "TEST_KEY"', "[analytics]", "enabled = false",
      ];
      write(path.join(place.home, ".codex/config.toml"), `${lines.join("\n")}\n`);
    },
    login: () => ({ TEST_KEY: "k" }),
    call: {
      tool: "memory_search", namespace: "mcp__everfold", input: { query: "deploys of the shop" },
    },
    promises: ["index", "recall", "tools", "called", "rule", "review"],
  },
  gemini: {
    package: "@google/gemini-cli",
    program: "gemini",
    args: ["-m", GEMINI_MODEL, "--approval-mode", "yolo", "-p", PROMPT],
    env: (url) => ({
      GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true",
      ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-test-0123456789",
    }),
    settings: (place) => {
      const settings = {
        general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      };
      write(path.join(place.home, ".gemini/settings.json"), JSON.stringify(settings, null, 2));
    },
    login: (_, url) => ({
      GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_MODEL,
    }),
    call: { tool: "mcp_everfold_memory_search", input: { query: "deploys of the shop" } },
    promises: ["index", "recall", "tools", "called", "rule", "review"],
  },
  opencode: {
    package: "opencode-ai",
    program: "opencode",
    args: ["run", PROMPT],
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_SHARE: "1",
    }),
    settings: (place, url) => {
      const model = { name: "t", tool_call: true, limit: { context: 100000, output: 1000 } };
      const provider = {
        npm: "@ai-sdk/openai-compatible", name: "test",
        options: { baseURL: `${url}/v1`, apiKey: "k" }, models: { "test-model": model },
      };
      const settings = {
        autoupdate: false, share: "disabled", model: "test/test-model",
        small_model: "test/test-model", provider: { test: provider },
      };
      write(path.join(place.home, ".config/opencode/opencode.json"), JSON.stringify(settings));
    },
    call: { tool: "everfold_memory_search", input: { query: "deploys of the shop" } },
    promises: ["index", "recall", "pointer", "tools", "called", "rule"],
  },
};

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

/** Runs a program to its end, or to the end of its time. */
function run(program, args, options) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (part) => { out += part; });
    child.stderr.on("data", (part) => { out += part; });
    // Who does not read what it is given is no failure.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    const end = setTimeout(() => child.kill("SIGKILL"), TIME_MS);
    child.on("error", (error) => { clearTimeout(end); resolve({ code: -1, out: `${error}` }); });
    child.on("close", (code) => { clearTimeout(end); resolve({ code, out }); });
  });
}

/** The program of a host, installed as needed; none where that fails. */
function installed(name, folder) {
  const host = HOSTS[name];
  const dir = path.join(folder, name);
  const program = path.join(dir, "node_modules/.bin", host.program);
  if (!fs.existsSync(program)) {
    fs.mkdirSync(dir, { recursive: true });
    const args = ["install", "--prefix", dir, "--no-audit", "--no-fund", host.package];
    const done = spawnSync("npm", args, { cwd: dir, encoding: "utf8", timeout: 600_000 });
    if (done.status !== 0) return null;
  }
  return fs.existsSync(program) ? program : null;
}

/** What the model is asked, and what it says: one call of a tool, then a word. */
function model(call) {
  let called = false;
  return (request) => {
    if (request.text.includes(REVIEW)) return { text: "nothing" };
    const has = request.text.includes(call.tool);
    if (has && !called) {
      called = true;
      return call;
    }
    return { text: "All right." };
  };
}

async function tryHost(name, program, everfold, root) {
  const host = HOSTS[name];
  const place = { home: path.join(root, name, "home"), project: path.join(root, name, "project") };
  fs.mkdirSync(place.home, { recursive: true });
  write(path.join(place.project, ".git/HEAD"), "ref: refs/heads/main\n");
  const server = await serve(model(host.call));
  host.settings(place, server.url);
  const env = { PATH: process.env.PATH, HOME: place.home, ...host.env(server.url) };
  const options = { cwd: place.project, env };
  const ours = (...args) => run(everfold, args, options);
  const planned = JSON.parse((await ours("install", name, "--dry-run", "--json")).out);
  await ours("install", name);
  const about = ["--description", "deploys of the shop go out on Thursdays", "--type", "project"];
  await run(everfold, ["memory", "add", "--name", "Deploy day", ...about], {
    ...options, input: "Support is there.",
  });
  const ran = await run(program, [...(host.args_with_tools ?? []), ...host.args], options);
  await settled(place.home);
  const version = spawnSync(program, ["--version"], { env, encoding: "utf8" }).stdout?.trim();
  const asked = server.requests.filter((request) => request.method === "POST");
  const own = asked.filter((request) => !request.text.includes(REVIEW));
  const some = (text) => own.some((request) => request.text.includes(text));
  const kept = (await ours("memory", "list")).out;
  const found = {
    index: some(INDEX),
    recall: some(RECALLED),
    pointer: some("Memory of earlier sessions"),
    tools: ["memory_search", "memory_read", "memory_save", "memory_forget", "session_search",
      "result_read"].every(some),
    called: some("looked_at"),
    rule: kept.includes("green-tea"),
    review: asked.some((request) => request.text.includes(REVIEW)),
  };
  await ours("uninstall", name);
  // Hosts write these files too, so that only what is ours can be looked for.
  const left = ({ path: file }) => fs.existsSync(file) && /everfold(\/|"? (hook|mcp)| -->)/.test(fs.readFileSync(file, "utf8"));
  found.restored = planned.changes.length > 0 && !planned.changes.some(left);
  server.close();
  const missing = [...host.promises, "restored"].filter((promise) => !found[promise]);
  return { version, found, missing, code: ran.code, out: ran.out };
}

/** What was said to a host is reviewed with the host's own login (X7). */
async function tryLogin(name, program, everfold, root) {
  const host = HOSTS[name];
  if (!host.login) return null;
  const place = { home: path.join(root, `${name}-login`, "home"), project: path.join(root, `${name}-login`, "project") };
  fs.mkdirSync(place.home, { recursive: true });
  write(path.join(place.project, ".git/HEAD"), "ref: refs/heads/main\n");
  const memory = {
    name: "Deploys", type: "project", global: false, evidence: SAID, body: SAID,
    description: "deploys of the shop wait for Thursday, when support is there",
  };
  const server = await serve((request) => ({
    text: request.text.includes(REVIEW) ? JSON.stringify({ memories: [memory] }) : "All right.",
  }));
  host.settings(place, server.url);
  const env = {
    PATH: `${path.dirname(program)}:${process.env.PATH}`, HOME: place.home,
    ...host.login(place, server.url),
  };
  const options = { cwd: place.project, env };
  await run(everfold, ["install", name], options);
  const args = host.args.map((word) => (word === PROMPT ? SAID : word));
  const ran = await run(program, args, options);
  await settled(place.home);
  const reviews = server.requests.filter((request) => request.text.includes(REVIEW)).length;
  const kept = (await run(everfold, ["memory", "list"], options)).out;
  const log = path.join(place.home, ".everfold/logs/everfold.log");
  server.close();
  const out = fs.existsSync(log) ? `${ran.out}\n${fs.readFileSync(log, "utf8")}` : ran.out;
  return { reviews, kept: kept.includes("deploys"), out };
}

/** Waits until no worker of a hook runs for this home. */
async function settled(home) {
  for (let tries = 0; tries < 600; tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, 100); });
    const ids = fs.existsSync("/proc") ? fs.readdirSync("/proc").filter((id) => /^\d+$/.test(id)) : [];
    const busy = ids.some((id) => {
      try {
        const line = fs.readFileSync(`/proc/${id}/cmdline`, "latin1");
        return line.includes("--worker") && fs.readFileSync(`/proc/${id}/environ`, "latin1").includes(home);
      } catch {
        return false;
      }
    });
    if (!busy && tries > 5) return;
  }
}

const [everfold, given, ...wanted] = process.argv.slice(2);
if (!everfold) {
  console.error("usage: node bench/hosts/try.mjs <everfold> [folder] [host…]");
  process.exit(2);
}
const folder = given ?? fs.mkdtempSync(path.join(os.tmpdir(), "everfold-hosts-"));
const root = fs.mkdtempSync(path.join(os.tmpdir(), "everfold-beside-"));
let failed = 0;
for (const name of wanted.length > 0 ? wanted : Object.keys(HOSTS)) {
  const program = installed(name, folder);
  if (!program) {
    console.log(`${name}: SKIPPED, it could not be installed`);
    continue;
  }
  const tried = await tryHost(name, program, path.resolve(everfold), root);
  const said = Object.entries(tried.found).map(([what, is]) => `${what} ${is ? "yes" : "no"}`);
  console.log(`${name} ${tried.version}: ${said.join(", ")}`);
  if (tried.missing.length > 0) {
    failed += 1;
    console.log(`  MISSING ${tried.missing.join(", ")}; it ended with ${tried.code} and said:`);
    console.log(tried.out.split("\n").slice(-15).map((line) => `  | ${line}`).join("\n"));
  }
  const login = await tryLogin(name, program, path.resolve(everfold), root);
  if (!login) continue;
  console.log(`  with its own login: ${login.reviews} review, kept ${login.kept ? "yes" : "no"}`);
  if (login.reviews !== 1 || !login.kept) {
    failed += 1;
    console.log(login.out.split("\n").slice(-15).map((line) => `  | ${line}`).join("\n"));
  }
}
fs.rmSync(root, { recursive: true, force: true });
if (!given) fs.rmSync(folder, { recursive: true, force: true });
process.exit(failed > 0 ? 1 : 0);
