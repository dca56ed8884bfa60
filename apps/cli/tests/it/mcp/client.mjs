// A client of the official TypeScript SDK: calls every tool, in one protocol revision.
const [targetText, mode] = process.argv.slice(2);
const target = JSON.parse(targetText);
const isOld = mode === "v1";
const { Client } = await import(isOld ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(isOld ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
const { StreamableHTTPClientTransport } = await import(
  isOld ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client"
);
const transport =
  typeof target === "string" ? new StreamableHTTPClientTransport(new URL(target)) : new StdioClientTransport(target);
const options = mode === "v2-pinned" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "test", version: "1" }, { capabilities: {}, ...options });
await client.connect(transport);
const told = { tools: (await client.listTools()).tools.map((tool) => tool.name) };
const call = (name, args) => client.callTool({ name, arguments: args });
told.saved = (
  await call("memory_save", {
    name: "Deploy day",
    description: "deploys of the shop go out on Thursdays",
    type: "project",
    text: "The shop is deployed on Thursdays, as support is there then.",
  })
).structuredContent;
told.found = (await call("memory_search", { query: "when is the shop deployed" })).structuredContent;
const wrong = await call("memory_read", { id: "nothing" });
told.wrong = [wrong.isError, wrong.content[0].text];
const { resources } = await client.listResources();
told.resources = resources.map((resource) => resource.uri);
told.text = (await client.readResource({ uri: resources[0].uri })).contents[0].text;
await client.close();
console.log(JSON.stringify(told));
