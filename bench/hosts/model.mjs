// A model that answers by rule, in the four dialects that hosts speak:
// Anthropic's messages, OpenAI's chat completions and responses, Gemini's
// generateContent. It keeps every request, so that one can look at what a host
// sent to its model.

import { createServer } from "node:http";

const MODEL = "test-model";

/** How many answers there were: each has ids of its own, as real ones do. */
let answers = 0;

/** Starts the server on loopback. `answer(request)` says what the model says. */
export function serve(answer) {
  const requests = [];
  const server = createServer((incoming, outgoing) => {
    const parts = [];
    incoming.on("data", (part) => parts.push(part));
    incoming.on("end", () => {
      const url = incoming.url.split("?")[0];
      let body = {};
      try {
        body = JSON.parse(Buffer.concat(parts).toString("utf8"));
      } catch {
        // Not every request has a body.
      }
      const request = { method: incoming.method, url, body, text: JSON.stringify(body) };
      requests.push(request);
      reply(request, answer, outgoing);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${server.address().port}`;
      resolve({ url, requests, close: () => server.closeAllConnections?.() ?? server.close() });
    });
  });
}

function reply(request, answer, out) {
  const { url, body } = request;
  if (request.method !== "POST") {
    return json(out, url.endsWith("/models") ? { object: "list", data: [{ id: MODEL }] } : {});
  }
  if (url.endsWith("/messages/count_tokens")) return json(out, { input_tokens: 100 });
  if (url.endsWith(":countTokens")) return json(out, { totalTokens: 100 });
  const said = answer(request);
  answers += 1;
  if (url.endsWith("/messages")) return messages(out, said, body.stream);
  if (url.endsWith("/chat/completions")) return chat(out, said, body.stream);
  if (url.endsWith("/responses")) return responses(out, said);
  if (url.includes(":streamGenerateContent")) return gemini(out, said, true);
  if (url.includes(":generateContent")) return gemini(out, said, false);
  return json(out, {});
}

function json(out, value) {
  out.writeHead(200, { "content-type": "application/json" });
  out.end(JSON.stringify(value));
}

function events(out, list, named) {
  out.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of list) {
    const data = typeof event === "string" ? event : JSON.stringify(event);
    out.write(`${named ? `event: ${event.type}\n` : ""}data: ${data}\n\n`);
  }
  out.end();
}

function messages(out, said, stream) {
  const content = said.tool
    ? { type: "tool_use", id: `toolu_${answers}`, name: said.tool, input: said.input }
    : { type: "text", text: said.text };
  const usage = { input_tokens: 100, output_tokens: 10 };
  const stop_reason = said.tool ? "tool_use" : "end_turn";
  const message = { id: `msg_${answers}`, type: "message", role: "assistant", model: MODEL, usage };
  if (!stream) {
    return json(out, { ...message, content: [content], stop_reason, stop_sequence: null });
  }
  const start = said.tool ? { ...content, input: {} } : { ...content, text: "" };
  const delta = said.tool
    ? { type: "input_json_delta", partial_json: JSON.stringify(said.input) }
    : { type: "text_delta", text: said.text };
  events(out, [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ], true);
}

function chat(out, said, stream) {
  const call = (index) => ({
    ...index, id: `call_${answers}`, type: "function",
    function: { name: said.tool, arguments: JSON.stringify(said.input) },
  });
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const finish_reason = said.tool ? "tool_calls" : "stop";
  const base = { id: `chat_${answers}`, created: 1, model: MODEL };
  if (!stream) {
    const message = said.tool
      ? { role: "assistant", content: null, tool_calls: [call({})] }
      : { role: "assistant", content: said.text };
    const choices = [{ index: 0, message, finish_reason }];
    return json(out, { ...base, object: "chat.completion", choices, usage });
  }
  const delta = said.tool
    ? { role: "assistant", tool_calls: [call({ index: 0 })] }
    : { role: "assistant", content: said.text };
  const chunk = (choices, more) => ({ ...base, object: "chat.completion.chunk", choices, ...more });
  events(out, [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason }]),
    chunk([], { usage }),
    "[DONE]",
  ], false);
}

function responses(out, said) {
  const item = said.tool
    ? {
      type: "function_call", id: `fc_${answers}`, call_id: `call_${answers}`, name: said.tool,
      ...(said.namespace ? { namespace: said.namespace } : {}),
      arguments: JSON.stringify(said.input), status: "completed",
    }
    : {
      type: "message", id: `m_${answers}`, role: "assistant", status: "completed",
      content: [{ type: "output_text", text: said.text, annotations: [] }],
    };
  const usage = {
    input_tokens: 100, output_tokens: 10, total_tokens: 110,
    input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 },
  };
  const response = { id: `resp_${answers}`, object: "response", model: MODEL, status: "completed" };
  events(out, [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, output: [item], usage } },
  ], true);
}

function gemini(out, said, stream) {
  const part = said.tool
    ? { functionCall: { name: said.tool, args: said.input } }
    : { text: said.text };
  const body = {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
    modelVersion: MODEL,
  };
  return stream ? events(out, [body], false) : json(out, body);
}
