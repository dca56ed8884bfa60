import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";

const [PROGRAM, HOME, HOST] = __CALL__;
const TIMEOUT_MS = 10_000;

function words(event) {
  return ["hook", ...(HOME ? ["--home", HOME] : []), "--host", HOST, event];
}

/** What Everfold says to an event: text for the model, or nothing. */
function hook(event, input) {
  return new Promise((resolve) => {
    try {
      const child = spawn(PROGRAM, words(event), { stdio: ["pipe", "pipe", "ignore"] });
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

/** The same for what needs no answer. The agent may end right after it, so it waits. */
function tell(event, input) {
  try {
    const said = JSON.stringify({ hook_event_name: event, ...input });
    spawnSync(PROGRAM, words(event), { input: said, timeout: TIMEOUT_MS, stdio: ["pipe", "ignore", "ignore"] });
  } catch {
    // The agent goes on.
  }
}

/** A tool of the agent's in the words of a hook. */
function toolCall(tool, args) {
  const names = { read: "Read", write: "Write", edit: "Edit", patch: "Edit" };
  const path = args?.filePath ?? args?.path;
  return { tool_name: names[tool] ?? tool, tool_input: path ? { ...args, file_path: path } : args ?? {} };
}
