/** A method and a path of the interface, with the facts that are known before its implementation is loaded. */
export interface Route {
  readonly method: string
  readonly path: `/${string}`
  readonly trailingSlash: boolean
  /** The path with names in braces for its parameters. */
  readonly pattern: string
  /** The parameters of the path that are ids, and nothing else. */
  readonly ids: ReadonlyArray<string>
  /** Whose credential the endpoint wants. A user's may be one of several. */
  readonly caller: "user" | "agent" | "other" | "public"
  /** The group of endpoints whose implementation answers; undefined for a page. */
  readonly group: string | undefined
}
