/** The routes of files over a local server, with a folder of their own. */
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { make } from "../../../src/machine/files/Files.js"
import { send } from "../../../src/machine/Route.js"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly bytes: Buffer
  readonly text: string
  readonly json: ReturnType<typeof JSON.parse>
}

export interface Asked {
  readonly method?: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const addressOf = (url: string) => new URL(url, "http://agent")

/** Serves a temporary folder for the tests of a file. */
export const serving = () => {
  let directory = ""
  let port = 0
  const sockets = new WebSocketServer({ noServer: true })
  const served = make(Effect.sync(() => directory))

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams: query } = addressOf(request.url ?? "")
    const route = served.routes.find(({ method, path }) => method === request.method && path === pathname)
    if (route === undefined) return send(response, 404, {})
    const handling = route
      .handle({ request, response, parameters: {}, query })
      .pipe(Effect.catchAll(({ detail, message, status }) => Effect.sync(() => send(response, status, { message, detail }))))
    const fiber = Effect.runFork(Effect.scoped(handling))
    response.once("close", () => Effect.runFork(Fiber.interrupt(fiber)))
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { pathname, searchParams: query } = addressOf(request.url ?? "")
    const route = served.sockets.find(({ path }) => path === pathname)
    const opened = Effect.async<WebSocket>((resume) =>
      sockets.handleUpgrade(request, socket, head, (webSocket) => resume(Effect.succeed(webSocket)))
    )
    if (route === undefined) return void socket.destroy()
    const handling = route.open({ request, parameters: {}, query }).pipe(
      Effect.flatMap((handle) => Effect.flatMap(opened, handle)),
      Effect.catchAll(({ status }) => Effect.sync(() => socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n\r\n`)))
    )
    const fiber = Effect.runFork(Effect.scoped(handling))
    socket.once("close", () => Effect.runFork(Fiber.interrupt(fiber)))
  }

  const server = createServer(answer).on("upgrade", upgrade)

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-files-"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    port = typeof address === "object" && address !== null ? address.port : 0
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true, force: true })
  })

  const pathOf = (path: string, query: Asked["query"] = {}): string => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return search.size === 0 ? path : `${path}?${search}`
  }

  const begin = (path: string, { headers = {}, method = "GET", query }: Asked = {}) =>
    ask({ port, host: "127.0.0.1", path: pathOf(path, query), method, headers, agent: false })

  return {
    /** A path within the folder. */
    at: (...names: ReadonlyArray<string>) => join(directory, ...names),

    /** The address of a path, such as `/files?path=a`. */
    address: (path: string) => `http://127.0.0.1:${port}${path}`,

    /** A request that has not ended yet. */
    begin,

    call: (path: string, asked: Asked = {}): Promise<Answer> =>
      new Promise((resolve, reject) => {
        begin(path, asked)
          .on("error", reject)
          .on("response", (response) => {
            const chunks: Array<Buffer> = []
            response
              .on("data", (chunk: Buffer) => chunks.push(chunk))
              .on("error", reject)
              .on("end", () => {
                const bytes = Buffer.concat(chunks)
                const text = bytes.toString()
                const isJson = response.headers["content-type"] === "application/json"
                resolve({
                  status: response.statusCode ?? 0,
                  headers: response.headers,
                  bytes,
                  text,
                  json: isJson ? JSON.parse(text) : undefined
                })
              })
          })
          .end(asked.body)
      }),

    /** A WebSocket at a path, once it is open. */
    open: (path: string, query: Asked["query"]): Promise<WebSocket> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}${pathOf(path, query)}`)
        socket.once("open", () => resolve(socket)).once("error", reject)
      })
  }
}
