/** Answers one message by a server of its own: without a session, nothing is kept between messages. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import type { Call } from "./index.js"
import { fileTools } from "./fileTools.js"
import { processTools } from "./processTools.js"
import type { AnyTool } from "./Tool.js"
import { toolResult } from "./toolResult.js"
import { workspaceTools } from "./workspaceTools.js"

const instructions =
  "Workspaces are machines of the user, made from templates. A tool that works in a workspace takes its id, its name, or OWNER/NAME, and needs it running. Commands and paths begin at the workspace's own directory. Delete workspaces that you made once they are not needed."

const tools: ReadonlyArray<AnyTool> = [...workspaceTools, ...processTools, ...fileTools]

// Each server would compile one of its own
const jsonSchemaValidator = new AjvJsonSchemaValidator()

export const answer = async (request: Request, { client, message, onDefect, signal }: Call): Promise<Response> => {
  const server = new McpServer({ name: "atelier", version: "0.1.0" }, { instructions, jsonSchemaValidator })
  for (const { description, input, name, output, run, title, ...hints } of tools) {
    const { destructive, idempotent, readOnly } = hints
    const annotations = { title, readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false }
    server.registerTool(name, { title, description, inputSchema: input, outputSchema: output, annotations }, (given, extra) =>
      toolResult(() => run(client, given, extra.signal), onDefect)
    )
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const end = (): void => void server.close().catch(onDefect)
  signal.addEventListener("abort", end, { once: true })
  try {
    await server.connect(transport)
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    signal.removeEventListener("abort", end)
    if (!signal.aborted) end()
  }
}
