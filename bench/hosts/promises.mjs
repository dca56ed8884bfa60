// One prompt in each host, with a key of ours and with the host's own login: what
// its page of the guide promises.

import fs from "node:fs";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { HOSTS, placeIn, run, settled } from "./hosts.mjs";
import { serve } from "./model.mjs";

export const REVIEW = "You look through the newest part of a conversation";
const PROMPT = "When do deploys of the shop go out? Remember that the kitchen has green tea.";
const SAID = "Deploys of the shop wait for Thursday, when support is there.";
const INDEX = "[Deploy day](deploy-day.md)";
const RECALLED = "## deploy-day.md (today)";

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

export async function tryHost(name, program, everfold, root, time) {
  const host = HOSTS[name];
  const place = placeIn(root, name);
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
  const args = [...(host.args_with_tools ?? []), ...host.turn(PROMPT)];
  const ran = await run(program, args, { ...options, time });
  await settled(place.home);
  const asked_for = spawnSync(program, ["--version"], { env, encoding: "utf8", timeout: 20_000 });
  const version = (asked_for.stdout || asked_for.stderr || "").trim();
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
export async function tryLogin(name, program, everfold, root) {
  const host = HOSTS[name];
  const place = placeIn(root, `${name}-login`);
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
  const ran = await run(program, host.turn(SAID), options);
  await settled(place.home);
  const reviews = server.requests.filter((request) => request.text.includes(REVIEW)).length;
  const kept = (await run(everfold, ["memory", "list"], options)).out;
  const log = path.join(place.home, ".everfold/logs/everfold.log");
  server.close();
  const out = fs.existsSync(log) ? `${ran.out}\n${fs.readFileSync(log, "utf8")}` : ran.out;
  return { reviews, kept: kept.includes("deploys"), out };
}
