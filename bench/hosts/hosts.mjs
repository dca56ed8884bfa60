// The agents: how each is got, set up against a model on loopback, given a
// turn, and started for no more than reading its files.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const TIME_MS = 90_000;
const GEMINI_MODEL = "gemini-2.5-pro";
const QUIET_CLAUDE = {
  DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
};
const QUIET_OPENCODE = {
  OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_SHARE: "1",
};
const QUIET_PI = { PI_OFFLINE: "1", PI_TELEMETRY: "0" };
const GEMINI_LOGIN = (url) => ({
  GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true",
});
// Hooks are looked at by a person once; here nobody is there to do so.
const CODEX = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"];
const SEARCH = { query: "deploys of the shop" };

/**
 * Of each: `env` with a key that we have too, `login` with one that only the host
 * has; `turn` the arguments for a prompt of a new session, `more` for the same
 * session again; `reads` the arguments that make it read its files and say which
 * servers there are; `file` where its servers stand, under which key.
 */
export const HOSTS = {
  claude: {
    package: "@anthropic-ai/claude-code",
    program: "claude",
    turn: (prompt) => ["-p", prompt],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-test-0123456789", ...QUIET_CLAUDE,
    }),
    settings: () => {},
    // A login that is the host's alone.
    login: (place, url) => {
      const settings = { apiKeyHelper: "echo sk-ant-test-0123456789" };
      write(path.join(place.home, ".claude/settings.json"), JSON.stringify(settings));
      return { ANTHROPIC_BASE_URL: url, EVERFOLD_PROVIDER: "offline", ...QUIET_CLAUDE };
    },
    call: { tool: "mcp__everfold__memory_search", input: SEARCH },
    args_with_tools: ["--allowedTools", "mcp__everfold__memory_search"],
    promises: ["index", "recall", "tools", "called", "rule", "review"],
    reads: ["mcp", "list"],
    file: ".claude.json",
    servers: "mcpServers",
  },
  codex: {
    package: "@openai/codex",
    program: "codex",
    turn: (prompt) => ["exec", ...CODEX, prompt],
    more: (prompt) => ["exec", "resume", "--last", ...CODEX, prompt],
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
    call: { tool: "memory_search", namespace: "mcp__everfold", input: SEARCH },
    promises: ["index", "recall", "tools", "called", "rule", "review"],
    reads: ["mcp", "list"],
    file: ".codex/config.toml",
    servers: "mcp_servers",
  },
  gemini: {
    package: "@google/gemini-cli",
    program: "gemini",
    turn: (prompt) => ["-m", GEMINI_MODEL, "--approval-mode", "yolo", "-p", prompt],
    more: (prompt) => ["-m", GEMINI_MODEL, "--approval-mode", "yolo", "--resume", "latest", "-p", prompt],
    env: (url) => ({
      ...GEMINI_LOGIN(url), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-test-0123456789",
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
    login: (_, url) => ({ ...GEMINI_LOGIN(url), GEMINI_MODEL }),
    call: { tool: "mcp_everfold_memory_search", input: SEARCH },
    promises: ["index", "recall", "tools", "called", "rule", "review"],
    reads: ["mcp", "list"],
    file: ".gemini/settings.json",
    servers: "mcpServers",
  },
  opencode: {
    package: "opencode-ai",
    program: "opencode",
    fetches: true,
    turn: (prompt) => ["run", prompt],
    more: (prompt) => ["run", "--continue", prompt],
    env: () => QUIET_OPENCODE,
    login: () => QUIET_OPENCODE,
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
    call: { tool: "everfold_memory_search", input: SEARCH },
    promises: ["index", "recall", "pointer", "tools", "called", "rule"],
    reads: ["mcp", "list"],
    file: ".config/opencode/opencode.json",
    servers: "mcp",
  },
  // What is ours there is a file of its own: there are no forms of it.
  pi: {
    package: "@mariozechner/pi-coding-agent",
    program: "pi",
    turn: (prompt) => ["-p", prompt],
    more: (prompt) => ["-p", "--continue", prompt],
    env: () => QUIET_PI,
    login: () => QUIET_PI,
    settings: (place, url) => {
      const models = [{ id: "test-model" }];
      const providers = { test: { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "k", models } };
      write(path.join(place.home, ".pi/agent/models.json"), JSON.stringify({ providers }));
      const settings = { defaultProvider: "test", defaultModel: "test-model" };
      write(path.join(place.home, ".pi/agent/settings.json"), JSON.stringify(settings));
    },
    call: { tool: "memory_search", input: SEARCH },
    promises: ["index", "recall", "tools", "called", "rule"],
  },
};

export function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

/** A home and a project of their own. */
export function placeIn(root, name) {
  const place = { home: path.join(root, name, "home"), project: path.join(root, name, "project") };
  fs.mkdirSync(place.home, { recursive: true });
  write(path.join(place.project, ".git/HEAD"), "ref: refs/heads/main\n");
  return place;
}

/** Runs a program to its end, or to the end of its time. */
export function run(program, args, options) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (part) => { out += part; });
    child.stderr.on("data", (part) => { out += part; });
    // Who does not read what it is given is no failure.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    const end = setTimeout(() => child.kill("SIGKILL"), options.time ?? TIME_MS);
    child.on("error", (error) => { clearTimeout(end); resolve({ code: -1, out: `${error}` }); });
    child.on("close", (code) => { clearTimeout(end); resolve({ code, out }); });
  });
}

/** Turns of one session in one process of Claude Code; what it said. */
export function converse(program, args, prompts, options) {
  return new Promise((resolve) => {
    const form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const child = spawn(program, ["-p", ...form, ...args], { ...options, stdio: ["pipe", "pipe", "pipe"] });
    const left = [...prompts];
    let [out, line] = ["", ""];
    const next = () => {
      const prompt = left.shift();
      if (prompt === undefined) return child.stdin.end();
      const content = [{ type: "text", text: prompt }];
      return child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    };
    child.stdout.on("data", (part) => {
      out += part;
      const lines = (line + part).split("\n");
      line = lines.pop();
      for (const each of lines) if (each.includes('"type":"result"')) next();
    });
    child.stderr.on("data", (part) => { out += part; });
    child.stdin.on("error", () => {});
    const end = setTimeout(() => child.kill("SIGKILL"), TIME_MS * 2);
    child.on("error", (error) => { clearTimeout(end); resolve({ code: -1, out: `${error}` }); });
    child.on("close", (code) => { clearTimeout(end); resolve({ code, out }); });
    next();
  });
}

/** The program of a host, where it is in the folder. */
export function present(name, folder) {
  const program = path.join(folder, name, "node_modules/.bin", HOSTS[name].program);
  return fs.existsSync(program) ? program : null;
}

/** The program of a host, installed as needed; none where that fails. */
export function installed(name, folder) {
  const dir = path.join(folder, name);
  if (!present(name, folder)) {
    fs.mkdirSync(dir, { recursive: true });
    const args = ["install", "--prefix", dir, "--no-audit", "--no-fund", HOSTS[name].package];
    spawnSync("npm", args, { cwd: dir, encoding: "utf8", timeout: 600_000 });
  }
  return present(name, folder);
}

/** Waits until no worker of a hook runs for this home. */
export async function settled(home) {
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

/** Every file and folder below one, with its bytes. */
export function tree(root) {
  const found = new Map();
  const ahead = [root];
  while (ahead.length > 0) {
    const dir = ahead.pop();
    for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
      const at = path.join(dir, entry.name);
      if (entry.isDirectory()) ahead.push(at);
      const bytes = entry.isFile() ? fs.readFileSync(at, "latin1") : entry.isDirectory() ? "/" : fs.readlinkSync(at);
      found.set(path.relative(root, at), bytes);
    }
  }
  return found;
}
