// A server on the second line of the TypeScript SDK: `ts-v2.mjs stdio` or `ts-v2.mjs http PORT`.
import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { register } from "./tools.mjs";

const make = () => register(new McpServer({ name: "ts-v2", version: "1.0.0" }));
const [transport, port] = process.argv.slice(2);

if (transport === "stdio") {
  serveStdio(make);
} else {
  createServer(toNodeHandler(createMcpHandler(make))).listen(Number(port), "127.0.0.1");
}
