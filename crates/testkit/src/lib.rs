//! What tests share: scripted and misbehaving MCP servers, suites, harnesses
