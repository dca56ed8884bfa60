// Everfold beside opencode: hands what happens on to `everfold hook`, and what
// comes back to the model. Written by `everfold install opencode`; `everfold
// uninstall opencode` takes it away. Whatever goes wrong here, opencode goes on.

__HEAD__

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
