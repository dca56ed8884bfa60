// Everfold beside pi: hands what happens on to `everfold hook`, and what comes
// back to the model; its tools are those of `everfold mcp`. Written by `everfold
// install pi`; `everfold uninstall pi` takes it away. Whatever goes wrong here,
// pi goes on.

__HEAD__

/** One request to the server that other agents start, which ends with it. */
function ask(method, params, cwd) {
  return new Promise((resolve, reject) => {
    const env = HOME ? { ...process.env, EVERFOLD_HOME: HOME } : process.env;
    const child = spawn(PROGRAM, ["mcp"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    const end = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    let rest = "";
    child.stdout.on("data", (part) => {
      const lines = (rest + part).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const said = JSON.parse(line);
        if (said.id !== 1) continue;
        child.stdin.end();
        if (said.error) reject(new Error(said.error.message));
        else resolve(said.result);
      }
    });
    child.stdin.on("error", () => {});
    child.on("error", (error) => { clearTimeout(end); reject(error); });
    child.on("close", () => { clearTimeout(end); reject(new Error("everfold did not answer")); });
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "pi", version: "1" } };
    for (const message of [
      { id: 0, method: "initialize", params: hello }, { method: "notifications/initialized" }, { id: 1, method, params },
    ]) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  });
}

async function addTools(pi) {
  const { tools } = await ask("tools/list", {}, process.cwd());
  for (const { name, title, description, inputSchema } of tools) {
    pi.registerTool({
      name, label: title ?? name, description, parameters: inputSchema,
      async execute(_id, params, _signal, _update, ctx) {
        const result = await ask("tools/call", { name, arguments: params }, ctx?.cwd ?? process.cwd());
        if (result.isError) throw new Error(result.content.map((part) => part.text ?? "").join("\n"));
        return { content: result.content.filter((part) => part.type === "text"), details: {} };
      },
    });
  }
}

export default async function (pi) {
  // How the session begins, until the model was told.
  let begun = "startup";
  const about = (ctx) => ({
    session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd,
    transcript_path: ctx.sessionManager.getSessionFile() ?? "",
  });
  pi.on("session_start", (event) => {
    begun = ["resume", "fork", "reload"].includes(event.reason) ? "resume" : "startup";
  });
  pi.on("before_agent_start", async (event, ctx) => {
    const told = [];
    if (begun) told.push(await hook("SessionStart", { ...about(ctx), source: begun }));
    begun = null;
    told.push(await hook("UserPromptSubmit", { ...about(ctx), prompt: event.prompt }));
    const content = told.filter(Boolean).join("\n\n");
    return content ? { message: { customType: "everfold", content, display: false } } : undefined;
  });
  pi.on("tool_result", async (event, ctx) => {
    const said = event.content.map((part) => part.text ?? "").join("\n");
    const failed = event.isError ? { exit_code: 1 } : {};
    const text = await hook("PostToolUse", {
      ...about(ctx), ...toolCall(event.toolName, event.input), tool_response: { output: said, ...failed },
    });
    return text ? { content: [...event.content, { type: "text", text: `<system-reminder>\n${text}\n</system-reminder>` }] } : undefined;
  });
  pi.on("agent_end", (_event, ctx) => { tell("Stop", about(ctx)); });
  pi.on("session_before_compact", (_event, ctx) => { tell("PreCompact", about(ctx)); });
  pi.on("session_compact", (event, ctx) => {
    tell("PostCompact", { ...about(ctx), compact_summary: event.compactionEntry?.summary ?? "" });
    begun = "compact";
  });
  pi.on("session_shutdown", (_event, ctx) => { tell("SessionEnd", about(ctx)); });
  await addTools(pi).catch(() => {});
}
