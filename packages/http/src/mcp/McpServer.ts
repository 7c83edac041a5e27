import type { Client } from "@atelier/client"

/** A call of a client of the Model Context Protocol, whose caller is known. */
export interface McpCall {
  /** The message, as it was read from the body. */
  readonly message: unknown
  /** Acts for the caller, with the rights, scopes and allow list of its credential. */
  readonly client: Client
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
  /** Called with each failure of a tool that is a defect. */
  readonly onDefect: (error: unknown) => void
}

/** Answers clients of the Model Context Protocol at `/mcp`, such as `mcpServer()` of `@atelier/mcp`. */
export interface McpServer {
  /** The scopes with which a token may use every tool. */
  readonly scopes: ReadonlyArray<string>
  /** Returns the scopes that a message needs, by what it calls. */
  readonly scopesOf: (message: unknown) => ReadonlyArray<string>
  readonly answer: (request: Request, call: McpCall) => Promise<Response>
}
