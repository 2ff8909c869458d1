//! The MCP server users connect to: tools, routing, eras
