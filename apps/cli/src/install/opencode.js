// Everfold beside opencode: hands what happens on to `everfold hook`, and what
// comes back to the model. Written by `everfold install opencode`; `everfold
// uninstall opencode` takes it away. Whatever goes wrong here, opencode goes on.

import { spawn } from "node:child_process";

const COMMAND = __COMMAND__;
const TIMEOUT_MS = 10_000;

/** What Everfold says to an event: text for the model, or nothing. */
function hook(event, input) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), "--host", "opencode", event], {
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

/** A tool of opencode's in the words of a hook. */
function toolCall(tool, args) {
  const names = { read: "Read", write: "Write", edit: "Edit", patch: "Edit" };
  const path = args?.filePath ?? args?.path;
  return { tool_name: names[tool] ?? tool, tool_input: path ? { ...args, file_path: path } : args ?? {} };
}

export const Everfold = async ({ directory }) => {
  // Sessions that have had their start.
  const started = new Set();
  const about = (sessionID) => ({ session_id: sessionID, cwd: directory });
  return {
    "chat.message": async (input, output) => {
      const own = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      // `opencode run` puts what it is given in quotes.
      const prompt = own.map((part) => part.text.trim().replace(/^"([^"]*)"$/, "$1")).join("\n");
      const told = [];
      if (!started.has(input.sessionID)) {
        started.add(input.sessionID);
        told.push(await hook("SessionStart", { ...about(input.sessionID), source: "startup" }));
      }
      told.push(await hook("UserPromptSubmit", { ...about(input.sessionID), prompt }));
      // opencode may end right after the answer; what the person asks to keep is
      // in the message already.
      await hook("Stop", { ...about(input.sessionID), prompt });
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
