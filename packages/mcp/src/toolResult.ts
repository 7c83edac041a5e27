import { AtelierError } from "@atelier/client"
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"

/** A refusal of a tool itself. */
export class ToolError extends Error {}

const messageOf = (error: unknown): string | undefined => {
  if (error instanceof AtelierError) {
    const findings = error.validations.map(({ detail, field }) => `${field}: ${detail}`)
    return [error.message, ...(error.detail === undefined ? [] : [error.detail]), ...findings].join("\n")
  }
  if (error instanceof ToolError || error instanceof RangeError) return error.message
  if (error instanceof DOMException && error.name === "TimeoutError") return "The tool has not ended in time. What it started may go on."
  return undefined
}

/** The result of a tool: what it returns, or why it failed, which the caller can act on. */
export const toolResult = async (
  run: () => Promise<Readonly<Record<string, unknown>>>,
  onDefect: (error: unknown) => void
): Promise<CallToolResult> => {
  try {
    const structuredContent = { ...(await run()) }
    return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] }
  } catch (error) {
    const message = messageOf(error)
    if (message === undefined) onDefect(error)
    return { isError: true, content: [{ type: "text", text: message ?? "The tool has failed. The service's log has the reason." }] }
  }
}
