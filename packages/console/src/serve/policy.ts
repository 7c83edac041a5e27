/** Where the console may load from, beside the server that serves it. */
export interface Sources {
  /** The random text that lets the page's own style elements in. */
  readonly nonce: string
  /** The origin of the deployment's logo; undefined for the server's own. */
  readonly logo?: string | undefined
  /** Where the interface's WebSockets are, with their scheme. */
  readonly sockets?: string | undefined
}

const joined = (...sources: ReadonlyArray<string | undefined>): string => sources.filter((source) => source !== undefined).join(" ")

/** The console's content security policy. It runs no script of a page, loads nothing from elsewhere, and is framed by no page. */
export const policyOf = ({ logo, nonce, sockets }: Sources): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${joined("'self'", "data:", logo)}`,
    "font-src 'self'",
    `connect-src ${joined("'self'", sockets)}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'"
  ].join("; ")
