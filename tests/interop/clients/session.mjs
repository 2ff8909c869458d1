// What every TypeScript client does once it is connected: list the tools, make the calls it was
// told to make, and print all of it as one JSON document.

// The first argument is {mode, server: {url} | {command, args}, calls: [{name, arguments}]}.
export const plan = JSON.parse(process.argv[2]);

export async function run(client, transport, negotiatedVersion) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  const results = [];
  for (const call of plan.calls) {
    try {
      results.push(await client.callTool(call));
    } catch (error) {
      results.push({ protocolError: { code: error.code, message: error.message } });
    }
  }
  const report = {
    version: negotiatedVersion() ?? null,
    server: client.getServerVersion() ?? null,
    tools,
    results,
  };
  await client.close();
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
