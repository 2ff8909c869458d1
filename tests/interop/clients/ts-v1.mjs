// A client on the first line of the TypeScript SDK, which speaks the older era only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { plan, run } from "./session.mjs";

const transport = plan.server.url
  ? new StreamableHTTPClientTransport(new URL(plan.server.url))
  : new StdioClientTransport(plan.server);

// The transport is told the version that was agreed on; this client does not keep it itself.
let version;
const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => {
  version = agreed;
  setProtocolVersion?.(agreed);
};

await run(new Client({ name: "ts-v1", version: "1.0.0" }), transport, () => version);
