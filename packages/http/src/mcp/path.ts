/** Where clients of the Model Context Protocol find the tools. */
export const mcpPath = "/mcp"
