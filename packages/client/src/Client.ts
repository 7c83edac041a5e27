/** The connection that every operation takes: the service's address, and how requests reach it. */
import { type Sandboxes, sandboxesOf } from "./sandboxes/Sandboxes.js"
import type { SocketConstructor } from "./WebSocketLike.js"

/** The platform's `fetch`, or a function that stands in for it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** Where the service is mounted, such as `https://dev.example.com` or `https://example.com/workspaces`. */
  readonly baseUrl: string | URL
  /** A session token, an API token or an agent's token. A function is asked before each request. Browsers may use their cookie instead. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** The deployment's SCIM key, for the operations of `scim`. */
  readonly scimKey?: string | undefined
  /** The service's brand, which names headers and parameters; default `Service`. A service with `compatibility: "coder"` has the brand `Coder`. */
  readonly brand?: string | undefined
  /** The header that carries the token; default `<brand>-Session-Token`. */
  readonly sessionHeader?: string | undefined
  /** The query parameter that carries the token of a WebSocket in browsers, which cannot set its headers; default `<brand>_session_token`. */
  readonly sessionQuery?: string | undefined
  /** Headers of every request, such as a proxy's. A function is asked before each request. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>) | undefined
  /** Sends the requests; default the platform's `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Opens WebSockets; default the platform's. Node 20 has none: give the class of the package `ws`. */
  readonly WebSocket?: SocketConstructor | undefined
}

/** A service and the credential to call it with. Made by `createClient`; holds no connection. */
export interface Client {
  readonly baseUrl: string
  readonly fetch: Fetch
  readonly WebSocket: SocketConstructor | undefined
  /** The headers of a request. */
  readonly headers: () => Promise<Record<string, string>>
  readonly sessionHeader: string
  readonly sessionQuery: string
  readonly requestIdHeader: string
  /** Workspaces to run commands in, made in a call and thrown away. */
  readonly sandboxes: Sandboxes
}

/**
 * Makes a client. It opens no connection; the first operation does.
 *
 * @throws TypeError for an address that is not one of `http` or `https`
 */
export const createClient = (options: ClientOptions): Client => {
  const address = String(options.baseUrl)
  if (!/^https?:\/\//i.test(address)) throw new TypeError(`baseUrl: must begin with http:// or https://, not "${address}"`)
  const base = new URL(address)
  const word = (options.brand ?? "Service").trim().replace(/[^0-9A-Za-z]+/g, "-")
  const sessionHeader = options.sessionHeader ?? `${word}-Session-Token`
  const { headers, scimKey, token } = options
  const client: Client = {
    baseUrl: `${base.origin}${base.pathname.replace(/\/+$/, "")}`,
    // Called without `this`: browsers refuse a `fetch` that is called as another object's method
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    WebSocket: options.WebSocket ?? (globalThis as { readonly WebSocket?: SocketConstructor }).WebSocket,
    headers: async () => {
      const credential = typeof token === "function" ? await token() : token
      return {
        ...(credential === undefined ? {} : { [sessionHeader]: credential }),
        ...(scimKey === undefined ? {} : { Authorization: `Bearer ${scimKey}` }),
        ...(typeof headers === "function" ? headers() : headers)
      }
    },
    sessionHeader,
    sessionQuery: options.sessionQuery ?? `${word.toLowerCase().replaceAll("-", "_")}_session_token`,
    requestIdHeader: `X-${word}-Request-Id`,
    get sandboxes() {
      return sandboxesOf(client)
    }
  }
  return client
}
