/**
 * What requests to an app have in common that come on one connection. Clients send most of them with equal heads but for the target: what was read from one head counts
 * for the next.
 */
import type { IncomingMessage } from "node:http"
import type { AppPath } from "./appPath.js"

/** Characters of a head that is kept, with its target. */
const maximumHead = 4_096

/** The headers as Node joins them. A host may have changed them, so that the lines of the head do not tell what they are. */
const flattened = (headers: IncomingMessage["headers"]): ReadonlyArray<unknown> => Object.entries(headers).flat()

const sizeOf = (lines: ReadonlyArray<string>): number => lines.reduce((size, line) => size + line.length, 0)

const hasHeaders = (headers: IncomingMessage["headers"], expected: ReadonlyArray<unknown>): boolean => {
  let at = 0
  for (const name in headers) {
    if (name !== expected[at] || headers[name] !== expected[at + 1]) return false
    at += 2
  }
  return at === expected.length
}

const areEqual = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean => {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

const peerOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? ""

/** A head, and what it says together with its connection. A value that also depends on the query is not kept here. */
export class KnownHead {
  private readonly lines: ReadonlyArray<string>
  private readonly headers: ReadonlyArray<unknown>
  private readonly version: string
  /** The address at the other end of the connection. */
  readonly peer: string
  /** The client's address. */
  ip: string | undefined
  /** What a request without a query says of its caller. */
  caller: { readonly credential: string | undefined; key: string | undefined } | undefined
  /** The name under which requests to the app are counted. */
  counted: string | undefined
  /** The lines of the head as the app gets them. */
  forApp: string | undefined

  constructor(
    source: IncomingMessage,
    private readonly app: AppPath
  ) {
    this.lines = source.rawHeaders.slice()
    this.headers = flattened(source.headers)
    this.version = source.httpVersion
    this.peer = peerOf(source)
  }

  /** Whether a request on the same connection has an equal head. A host may make up one connection for all its clients. */
  isOf(source: IncomingMessage): boolean {
    const { headers, httpVersion, rawHeaders } = source
    return (
      httpVersion === this.version && areEqual(rawHeaders, this.lines) && hasHeaders(headers, this.headers) && peerOf(source) === this.peer
    )
  }

  /** The same app at another target; undefined for a target elsewhere. */
  appAt(url: string): AppPath | undefined {
    const { app } = this
    if (!url.startsWith(app.base)) return undefined
    const mark = url.indexOf("?")
    const end = mark < 0 ? url.length : mark
    return { ...app, path: url.slice(app.base.length - 1, end), query: mark < 0 ? "" : url.slice(mark + 1) }
  }
}

/** The heads of the last requests to apps, by their connections. Each service reads heads by its own settings, and a host may have several services. */
export class KnownHeads {
  private readonly heads = new WeakMap<object, KnownHead>()

  /** The head of the request before on the same connection, if that of this one is equal. */
  of(source: IncomingMessage): KnownHead | undefined {
    const known = this.heads.get(source.socket)
    return known?.isOf(source) === true ? known : undefined
  }

  /** Keeps the head of a request to an app for the next one; undefined for a long head. */
  keep(source: IncomingMessage, app: AppPath): KnownHead | undefined {
    if (sizeOf(source.rawHeaders) + (source.url ?? "").length > maximumHead) return undefined
    const known = new KnownHead(source, app)
    this.heads.set(source.socket, known)
    return known
  }
}
