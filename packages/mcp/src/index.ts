/** Tools for clients of the Model Context Protocol: workspaces, commands and files of the caller. */
import type { Client } from "@atelier/client"
import { allScopes, scopesOf } from "./scopes.js"

/** A message whose caller is known. */
export interface Call {
  /** The message, as it was read from the request's body. */
  readonly message: unknown
  /** Acts for the caller. */
  readonly client: Client
  /** Ends what the message has started. */
  readonly signal: AbortSignal
  /** Called with each failure of a tool that is a defect. */
  readonly onDefect: (error: unknown) => void
}

/** What `Atelier.make` takes as `mcp`. */
export interface ToolServer {
  readonly scopes: ReadonlyArray<string>
  readonly scopesOf: (message: unknown) => ReadonlyArray<string>
  /** Answers a message as streamable HTTP without a session, with one JSON document. */
  readonly answer: (request: Request, call: Call) => Promise<Response>
}

/** Makes a server of tools. The protocol's library is loaded with the first message. */
export const mcpServer = (): ToolServer => ({
  scopes: allScopes,
  scopesOf,
  answer: async (request, call) => (await import("./answer.js")).answer(request, call)
})
