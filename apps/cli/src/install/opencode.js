// Everfold beside opencode: hands what happens on to `everfold hook`, and what
// comes back to the model. Written by `everfold install opencode`; `everfold
// uninstall opencode` takes it away. Whatever goes wrong here, opencode goes on.

import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";

const COMMAND = __COMMAND__;
const TIMEOUT_MS = 10_000;

function words(event) {
  return [...COMMAND.slice(1), "--host", "opencode", event];
}

/** What Everfold says to an event: text for the model, or nothing. */
function hook(event, input) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], words(event), {
        stdio: ["pipe", "pipe", "ignore"],
      });
      const end = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
      let out = "";
      child.stdout.on("data", (part) => { out += part; });
      child.stdin.on("error", () => {});
      child.on("error", () => { clearTimeout(end); resolve(""); });
      child.on("close", () => {
        clearTimeout(end);
        try {
          resolve(JSON.parse(out).hookSpecificOutput?.additionalContext ?? "");
        } catch {
          resolve("");
        }
      });
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...input }));
    } catch {
      resolve("");
    }
  });
}

/** The same for what needs no answer. opencode may end right after it, so it waits. */
function tell(event, input) {
  try {
    const said = JSON.stringify({ hook_event_name: event, ...input });
    spawnSync(COMMAND[0], words(event), { input: said, timeout: TIMEOUT_MS, stdio: ["pipe", "ignore", "ignore"] });
  } catch {
    // opencode goes on.
  }
}

/** A tool of opencode's in the words of a hook. */
function toolCall(tool, args) {
  const names = { read: "Read", write: "Write", edit: "Edit", patch: "Edit" };
  const path = args?.filePath ?? args?.path;
  return { tool_name: names[tool] ?? tool, tool_input: path ? { ...args, file_path: path } : args ?? {} };
}

export const Everfold = async ({ directory }) => {
  // Sessions that have had their start, and those of sub-agents: nobody typed
  // what is said there.
  const started = new Set();
  const inner = new Set();
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local/share");
  const about = (sessionID) => ({
    session_id: sessionID, cwd: directory,
    transcript_path: join(data, "opencode/opencode.db", `${sessionID}.jsonl`),
  });
  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {};
      if (event.type === "session.created" && info?.parentID) inner.add(info.id);
      if (event.type === "session.idle" && started.has(sessionID)) tell("Stop", about(sessionID));
    },
    "chat.message": async (input, output) => {
      if (inner.has(input.sessionID)) return;
      const own = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = own.map((part) => part.text).join("\n");
      const told = [];
      if (!started.has(input.sessionID)) {
        started.add(input.sessionID);
        told.push(await hook("SessionStart", { ...about(input.sessionID), source: "startup" }));
      }
      told.push(await hook("UserPromptSubmit", { ...about(input.sessionID), prompt }));
      const text = told.filter(Boolean).join("\n\n");
      const last = output.parts.at(-1);
      if (text && last) {
        output.parts.push({
          id: `${last.id}e`, sessionID: last.sessionID, messageID: last.messageID,
          type: "text", synthetic: true, text: `<system-reminder>\n${text}\n</system-reminder>`,
        });
      }
    },
    "tool.execute.after": async (input, output) => {
      const exit = output.metadata?.exit;
      const response = { output: String(output.output ?? ""), ...(Number.isInteger(exit) ? { exit_code: exit } : {}) };
      const text = await hook("PostToolUse", {
        ...about(input.sessionID), ...toolCall(input.tool, input.args), tool_response: response,
      });
      if (text) output.output = `${output.output}\n\n<system-reminder>\n${text}\n</system-reminder>`;
    },
  };
};
