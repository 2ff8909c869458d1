// A server on the first line of the TypeScript SDK: `ts-v1.mjs stdio` or `ts-v1.mjs http PORT`.
import { createServer } from "node:http";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

import { register } from "./tools.mjs";

const make = () => register(new McpServer({ name: "ts-v1", version: "1.0.0" }));
const [transport, port] = process.argv.slice(2);

if (transport === "stdio") {
  await make().connect(new StdioServerTransport());
} else {
  createServer(async (request, response) => {
    const session = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await make().connect(session);
    await session.handleRequest(request, response);
  }).listen(Number(port), "127.0.0.1");
}
