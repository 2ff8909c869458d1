// A client on the second line of the TypeScript SDK, which speaks both eras.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { plan, run } from "./session.mjs";

const modes = { legacy: "legacy", auto: "auto", modern: { pin: "2026-07-28" } };
const transport = plan.server.url
  ? new StreamableHTTPClientTransport(new URL(plan.server.url))
  : new StdioClientTransport(plan.server);
const client = new Client(
  { name: "ts-v2", version: "1.0.0" },
  { versionNegotiation: { mode: modes[plan.mode] } },
);

await run(client, transport, () => client.getNegotiatedProtocolVersion());
