// The tools that every server here has: one with structured content, one with plain text, one
// that fails.
import { z } from "zod";

export function register(server) {
  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => {
      const sum = { sum: a + b };
      return { content: [{ type: "text", text: JSON.stringify(sum) }], structuredContent: sum };
    },
  );
  server.registerTool(
    "echo",
    { description: "Repeats a text", inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  server.registerTool("fail", { description: "Fails", inputSchema: z.object({}) }, async () => ({
    content: [{ type: "text", text: "failed on purpose" }],
    isError: true,
  }));
  return server;
}
