//! Other MCP servers as this product uses them: started, supervised, called
