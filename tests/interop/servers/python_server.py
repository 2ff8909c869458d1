"""A server on the Python SDK: `python_server.py stdio`, `… http PORT` or `… sse PORT`."""

import sys
from typing import TypedDict

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("python", version="1.0.0")


class Sum(TypedDict):
    sum: float


@server.tool()
def add(a: float, b: float) -> Sum:
    """Adds two numbers"""
    return {"sum": a + b}


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Repeats a text"""
    return text


@server.tool(structured_output=False)
def fail() -> str:
    """Fails"""
    raise ToolError("failed on purpose")


if sys.argv[1] == "stdio":
    server.run()
else:
    transport = {"http": "streamable-http", "sse": "sse"}[sys.argv[1]]
    server.run(transport, host="127.0.0.1", port=int(sys.argv[2]))
