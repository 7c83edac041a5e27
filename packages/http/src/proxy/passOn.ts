/** Requests that a workspace proxy sends on to the service, and their answers. */
import { type IncomingMessage, request as httpRequest, type RequestOptions, type ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Duplex } from "node:stream"
import { pipeline } from "node:stream"
import { isOfConnection, linesOf } from "../apps/appHeaders.js"
import { framingLines } from "../apps/forward.js"
import type { SilentConnections } from "./SilentConnections.js"

/** Milliseconds in which a connection to the service has to be made. */
const connectWithin = 10_000

/** The service as a proxy reaches it. */
export interface Upstream {
  readonly url: URL
  readonly connections: SilentConnections
  /** Connections that are kept, by the protocol. */
  readonly agent: NonNullable<RequestOptions["agent"]>
  /** Names of headers, in lower case, that clients may not send on. */
  readonly dropped: ReadonlySet<string>
}

const flat = (lines: ReadonlyArray<readonly [string, string]>): Array<string> => lines.flatMap(([name, value]) => [name, value])

/** The head of a request without its framing, and without what concerns its connection alone. */
const requestLines = ({ rawHeaders }: IncomingMessage, dropped: ReadonlySet<string>) => {
  const lines = linesOf(rawHeaders)
  const isOurs = isOfConnection(lines)
  return lines.filter(([name]) => {
    const lower = name.toLowerCase()
    return !isOurs(lower) && !dropped.has(lower) && lower !== "host" && lower !== "expect" && lower !== "content-length"
  })
}

const answerLines = ({ rawHeaders }: IncomingMessage) => {
  const lines = linesOf(rawHeaders)
  const isOurs = isOfConnection(lines)
  return lines.filter(([name]) => !isOurs(name.toLowerCase()))
}

/** Begins a request to the service. `added` are names and values in turn. */
const begin = (
  { agent, connections, dropped, url }: Upstream,
  request: IncomingMessage,
  added: ReadonlyArray<string>,
  connection: ReadonlyArray<string>
) => {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest
  const upstream = send({
    agent,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port,
    method: request.method ?? "GET",
    path: `${url.pathname.replace(/\/+$/, "")}${request.url ?? "/"}`,
    headers: ["Host", url.host, ...flat(requestLines(request, dropped)), ...added, ...connection],
    setHost: false
  })
  const timer = setTimeout(() => upstream.destroy(new Error("it cannot be reached in time")), connectWithin)
  const reached = (): void => clearTimeout(timer)
  let release: () => void = () => undefined
  upstream.on("socket", (socket) => {
    release = connections.use(socket)
    if (socket.connecting) socket.once(url.protocol === "https:" ? "secureConnect" : "connect", reached)
    else reached()
  })
  upstream.once("close", reached)
  // An upgraded connection stays in use until its end
  upstream.once("response", (answer) => answer.once("close", () => release()))
  return upstream
}

/** Sends a request on, and its answer back as it comes. `failed` answers without one. */
export const passOn = (
  to: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
  added: ReadonlyArray<string>,
  failed: (error: Error) => void
): void => {
  const length = request.headers["content-length"]
  const isChunked = request.headers["transfer-encoding"] !== undefined
  const hasBody = isChunked || length !== undefined
  const framing = framingLines(
    request.method ?? "GET",
    isChunked ? "chunked" : length === undefined ? undefined : { length: Number(length) }
  )
  const attempt = (): void => {
    const upstream = begin(to, request, added, framing)
    const leave = (): void => void upstream.destroy()
    response.once("close", leave)
    upstream.on("error", (error: NodeJS.ErrnoException) => {
      response.off("close", leave)
      if (response.headersSent || response.destroyed) return void response.destroy()
      // The service closed a kept connection as the request was on its way, and has not read it
      if (upstream.reusedSocket && error.code === "ECONNRESET" && !hasBody) attempt()
      else failed(error)
    })
    upstream.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, flat(answerLines(answer)))
      pipeline(answer, response, () => undefined)
    })
    if (hasBody) request.pipe(upstream)
    else upstream.end()
  }
  attempt()
}

/** Sends a request for another protocol on, without a body, and connects both sides for as long as both stay. */
export const passUpgrade = (
  to: Upstream,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  added: ReadonlyArray<string>,
  failed: (error: Error) => void
): void => {
  const upstream = begin(to, request, added, [
    ...framingLines(request.method ?? "GET", undefined),
    "Connection",
    "Upgrade",
    "Upgrade",
    request.headers["upgrade"] ?? ""
  ])
  socket.on("error", () => socket.destroy()).once("close", () => upstream.destroy())
  const lines = (answer: IncomingMessage, connection: ReadonlyArray<string>): string =>
    [
      `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`,
      ...answerLines(answer).map(([name, value]) => `${name}: ${value}`),
      ...connection,
      "",
      ""
    ].join("\r\n")
  let isAnswered = false
  upstream.on("error", (error) => (isAnswered ? socket.destroy() : failed(error)))
  upstream.once("upgrade", (answer, other: Duplex, rest: Buffer) => {
    isAnswered = true
    for (const [side, opposite] of [
      [socket, other],
      [other, socket]
    ] as const) {
      side.once("error", () => opposite.destroy()).once("close", () => opposite.destroy())
    }
    socket.write(lines(answer, ["Connection: Upgrade", `Upgrade: ${answer.headers.upgrade ?? ""}`]), "latin1")
    socket.write(rest)
    other.write(head)
    other.pipe(socket).pipe(other)
  })
  upstream.once("response", (answer) => {
    isAnswered = true
    socket.write(lines(answer, ["Connection: close"]), "latin1")
    pipeline(answer, socket, () => socket.destroy())
  })
  upstream.end()
}
