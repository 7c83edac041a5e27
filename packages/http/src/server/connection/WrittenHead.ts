import type { ServerResponse } from "node:http"
import { ownMethods } from "./ownMethods.js"

/** The part of a response that Node's types do not describe. A head depends on it, or sets it. */
interface Internals {
  _header: string | null
  _headerSent: boolean
  _contentLength: number | null
  readonly _storeHeader: unknown
  readonly _hasBody: boolean
  readonly _last: boolean
  readonly _defaultKeepAlive: boolean
  readonly _removedConnection: boolean
  readonly _removedContLen: boolean
  readonly _removedTE: boolean
  readonly _expect_continue: boolean
  readonly _keepAliveTimeout: number
  readonly _maxRequestsPerSocket: number | null | undefined
  readonly maxRequestsOnConnectionReached: unknown
}

type Response = ServerResponse & Internals

/** Whether a response would have the head that Node writes for the first answer of a connection that goes on: its owner has set nothing yet. */
const isPlain = (response: ServerResponse): response is Response => {
  const {
    _defaultKeepAlive,
    _expect_continue,
    _hasBody,
    _last,
    _maxRequestsPerSocket,
    _removedConnection,
    _removedContLen,
    _removedTE,
    _storeHeader
  } = response as Partial<Response>
  return (
    response.writeHead === ownMethods.writeHead &&
    response.setHeader === ownMethods.setHeader &&
    _storeHeader === ownMethods.storeHeader &&
    _hasBody === true &&
    _last === false &&
    _defaultKeepAlive === true &&
    _removedConnection === false &&
    _removedContLen === false &&
    _removedTE === false &&
    _expect_continue === false &&
    !_maxRequestsPerSocket &&
    !(response as Partial<Response>).maxRequestsOnConnectionReached &&
    response.shouldKeepAlive &&
    response.useChunkedEncodingByDefault &&
    response.sendDate &&
    !response.strictContentLength
  )
}

/** Whether nothing of a response's head is set. */
const isUnset = (response: Response): boolean =>
  response._header === null && response.statusMessage === undefined && response.getHeaderNames().length === 0

/** The server whose options Node heeds in a head; undefined for a response that waits for others on its connection. */
const serverOf = ({ socket }: ServerResponse): unknown => (socket === null ? undefined : Reflect.get(socket, "server"))

/**
 * A head as Node wrote it, for responses that differ in the id of their request alone. Node checks each line and puts them together again for each response, which takes a
 * twentieth of a small request.
 */
export class WrittenHead {
  private constructor(
    private readonly before: string,
    private readonly behind: string,
    private readonly statusCode: number,
    private readonly statusMessage: string,
    private readonly isChunked: boolean,
    private readonly length: number | null,
    private readonly keepAliveTimeout: number,
    private readonly server: unknown
  ) {}

  /**
   * Has Node write the head of a response, and keeps it. Undefined for a head that another response would not have: one without a date of its own, or for a connection that
   * ends.
   */
  static write(
    response: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string | Array<string>>>,
    id: string
  ): WrittenHead | undefined {
    const isFirst = isPlain(response) && isUnset(response)
    response.writeHead(status, headers)
    if (!isFirst || !isPlain(response) || headers["date"] === undefined || headers["connection"] !== undefined) return undefined
    const { _contentLength, _header, _headerSent, _keepAliveTimeout, chunkedEncoding, statusMessage } = response
    const server = serverOf(response)
    const [before, behind, ...others] = _header?.split(id) ?? []
    if (server === undefined || before === undefined || behind === undefined || others.length > 0 || _headerSent) return undefined
    return new WrittenHead(before, behind, status, statusMessage, chunkedEncoding, _contentLength, _keepAliveTimeout, server)
  }

  /** Writes the head of a response to the request with an id. Returns whether it has: another response has to have a head of its own. */
  writeTo(response: ServerResponse, id: string): boolean {
    if (!isPlain(response) || !isUnset(response)) return false
    if (response._keepAliveTimeout !== this.keepAliveTimeout || serverOf(response) !== this.server) return false
    response.statusCode = this.statusCode
    response.statusMessage = this.statusMessage
    response.chunkedEncoding = this.isChunked
    response._contentLength = this.length
    response._header = this.before + id + this.behind
    return true
  }
}
