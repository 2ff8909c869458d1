"""A client on the Python SDK: lists the tools, makes the calls it was told to make, prints JSON.

The first argument is {mode, server: {url} | {command, args}, calls: [{name, arguments}]}.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters

MODES = {"legacy": "legacy", "auto": "auto", "modern": "2026-07-28"}


def plain(model):
    """The model as the JSON that was on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    plan = json.loads(sys.argv[1])
    server = plan["server"]
    target = server["url"] if "url" in server else StdioServerParameters(**server)
    async with Client(target, mode=MODES[plan["mode"]]) as client:
        tools = await client.list_tools()
        results = []
        for call in plan["calls"]:
            try:
                results.append(plain(await client.call_tool(call["name"], call["arguments"])))
            except MCPError as error:
                results.append({"protocolError": {"code": error.code, "message": error.message}})
        report = {
            "version": client.protocol_version,
            "server": plain(client.server_info) if client.server_info else None,
            "tools": plain(tools)["tools"],
            "results": results,
        }
    print(json.dumps(report))


asyncio.run(main())
