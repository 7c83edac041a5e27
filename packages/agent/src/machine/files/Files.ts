/** The agent's HTTP interface to the files of its workspace. agents-and-apps.md §17a. */
import { mkdir } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Either, Schema } from "effect"
import type { WebSocket } from "ws"
import { bodyReader, type Exchange, Refused, type Route, send, type Served, type SocketRoute } from "../Route.js"
import { download } from "./Download.js"
import { describe, type Entry } from "./Entry.js"
import { at, FileError } from "./FileError.js"
import { filePath } from "./FilePath.js"
import { find } from "./Find.js"
import { list } from "./Listing.js"
import { modeOf, Query } from "./Query.js"
import { remove } from "./Removal.js"
import { copy, move } from "./Transfer.js"
import { append, upload } from "./Upload.js"
import { type Reader, watch } from "./Watch.js"

/** How long reading what is there may take before a watch begins. */
const watchedWithin = "30 seconds"

const tooLarge = new Refused({ status: 504, message: "The directory is too large: reading what is below it takes longer than 30 seconds." })

/** Bytes that wait for a client that watches. Changes beyond them are not told. */
const maximumUnread = 1024 * 1024

const listBounds = { least: 1, most: 10_000, otherwise: 1000 }
const depthBounds = { least: 1, most: 1000, otherwise: 1 }
const findBounds = { least: 1, most: 10_000, otherwise: 1000 }
/** Milliseconds that a search may take. */
const findTimes = { least: 1, most: 60_000, otherwise: 10_000 }

const readDirectoryBody = bodyReader(
  Schema.Struct({
    path: Schema.String,
    parents: Schema.optional(Schema.Boolean),
    mode: Schema.optional(Schema.String)
  })
)

const readTransferBody = bodyReader(
  Schema.Struct({
    from: Schema.String,
    to: Schema.String,
    overwrite: Schema.optional(Schema.Boolean),
    recursive: Schema.optional(Schema.Boolean)
  })
)

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: Query
  /** The directory of relative paths. */
  readonly directory: string
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
}

/** Reads a body of JSON. */
const bodyOf = <A>(call: Call, read: ReturnType<typeof bodyReader<A, unknown>>): Promise<A> =>
  Effect.runPromise(Effect.either(read(call.request))).then((body) =>
    Either.getOrThrowWith(body, ({ detail = "", message, status }) => new FileError(status, `${message} ${detail}`))
  )

const pathOf = ({ directory, query }: Call): string => filePath(query.text("path"), directory)

const put = async (call: Call): Promise<void> => {
  const { query, request, response } = call
  const path = pathOf(call)
  const wanted = { mode: modeOf(query.text("mode")), parents: query.flag("parents"), fsync: query.flag("fsync") }
  const offset = query.number("offset", { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: undefined })
  const { entry, isNew } = await at(path, () =>
    offset === undefined ? upload(path, request, wanted) : append(path, request, { ...wanted, offset })
  )
  response.setHeader("etag", entry.etag)
  send(response, isNew ? 201 : 200, entry)
}

const makeDirectory = async (call: Call): Promise<void> => {
  const { directory, response } = call
  const { mode: text, parents = false, path: asked } = await bodyOf(call, readDirectoryBody)
  const path = filePath(asked, directory)
  const mode = modeOf(text)
  send(
    response,
    201,
    await at(path, async (): Promise<Entry> => {
      await mkdir(path, { recursive: parents, ...(mode === undefined ? {} : { mode }) })
      return describe(path)
    })
  )
}

const transfer =
  (run: typeof move) =>
  async (call: Call): Promise<void> => {
    const { directory, response, signal } = call
    const { from, overwrite = false, recursive = false, to } = await bodyOf(call, readTransferBody)
    const paths = { from: filePath(from, directory, "from"), to: filePath(to, directory, "to") }
    send(response, 200, await run({ ...paths, overwrite, recursive, signal }))
  }

const get = async (call: Call): Promise<void> => {
  const path = pathOf(call)
  await at(path, () => download(path, call.request, call.response))
}

interface FileRoute {
  readonly method: Route["method"]
  readonly path: Route["path"]
  readonly run: (call: Call) => Promise<void>
}

const routes: ReadonlyArray<FileRoute> = [
  { method: "GET", path: "/files", run: get },
  { method: "HEAD", path: "/files", run: get },
  { method: "PUT", path: "/files", run: put },
  {
    method: "DELETE",
    path: "/files",
    run: async (call) => {
      const path = pathOf(call)
      await at(path, () => remove(path, call.query.flag("recursive"), call.request.headers, call.signal))
      send(call.response, 204)
    }
  },
  {
    method: "GET",
    path: "/files/stat",
    run: async (call) => {
      const path = pathOf(call)
      send(call.response, 200, await at(path, () => describe(path)))
    }
  },
  {
    method: "GET",
    path: "/files/list",
    run: async (call) => {
      const { query, response, signal } = call
      const path = pathOf(call)
      const options = { after: query.text("after"), depth: query.number("depth", depthBounds), limit: query.number("limit", listBounds) }
      send(response, 200, await at(path, () => list(path, { ...options, signal })))
    }
  },
  { method: "POST", path: "/files/directories", run: makeDirectory },
  { method: "POST", path: "/files/move", run: transfer(move) },
  { method: "POST", path: "/files/copy", run: transfer(copy) },
  {
    method: "GET",
    path: "/files/archive",
    run: async (call) => {
      const path = pathOf(call)
      // Loaded with the first archive, since an agent's start is to load little
      const { archive } = await import("./Pack.js")
      await at(path, () => archive(path, call.response, call.signal))
    }
  },
  {
    method: "PUT",
    path: "/files/archive",
    run: async (call) => {
      const path = pathOf(call)
      const { unpack } = await import("./Unpack.js")
      send(call.response, 200, await unpack(path, call.request))
    }
  },
  {
    method: "GET",
    path: "/files/find",
    run: async (call) => {
      const { query, response, signal } = call
      const path = pathOf(call)
      const search = { directory: path, name: query.text("name"), content: query.text("content"), signal }
      const bounds = { limit: query.number("limit", findBounds), timeout: query.number("timeout_ms", findTimes) }
      send(response, 200, await at(path, () => find({ ...search, ...bounds })))
    }
  }
]

/** The refusal of a route; the rest of the body is not read. */
const refusalOf = ({ request, response }: Exchange, error: unknown): Refused => {
  if (!request.complete && !response.headersSent) response.setHeader("connection", "close")
  if (!(error instanceof FileError)) return failed(error)
  const { code, message, status } = error
  return new Refused({ status, message, ...(code === undefined ? {} : { detail: code }) })
}

const failed = (error: unknown): Refused =>
  new Refused({ status: 500, message: "The agent failed.", detail: error instanceof Error ? error.message : String(error) })

const queryOf = ({ url = "" }: IncomingMessage): Query => new Query(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "")

/** Sends what changes. What happens while the client does not read is not told: it learns that there was something. */
const tell = (socket: WebSocket): Reader => {
  let isBehind = false
  const overflow = (): void => {
    if (isBehind) return
    isBehind = true
    socket.send('{"type":"overflow"}', () => {
      isBehind = false
    })
  }
  return {
    overflow,
    events: (events) => {
      if (socket.bufferedAmount > maximumUnread) overflow()
      else socket.send(JSON.stringify({ events }))
    }
  }
}

/** Keeps what changes before the WebSocket is open. */
const early = (): { readonly reader: Reader; readonly lead: (reader: Reader) => void } => {
  const calls: Array<(reader: Reader) => void> = []
  let led: Reader | undefined
  const call = (run: (reader: Reader) => void): void => (led === undefined ? void calls.push(run) : run(led))
  return {
    reader: { events: (events) => call((reader) => reader.events(events)), overflow: () => call((reader) => reader.overflow()) },
    lead: (reader) => {
      led = reader
      for (const run of calls.splice(0)) run(reader)
    }
  }
}

/** The routes of a workspace's files. `directory` is where relative paths begin. */
export const make = (directory: Effect.Effect<string>): Served => {
  const routeOf = ({ method, path, run }: FileRoute): Route => ({
    method,
    path,
    handle: (exchange) =>
      Effect.flatMap(directory, (base) =>
        Effect.tryPromise({
          try: (signal) => run({ ...exchange, query: queryOf(exchange.request), directory: base, signal }),
          catch: (error) => refusalOf(exchange, error)
        })
      )
  })

  const open: SocketRoute["open"] = ({ request }) =>
    Effect.gen(function* () {
      const base = yield* directory
      const { lead, reader } = early()
      const { signal } = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      yield* Effect.tryPromise({
        try: async () => {
          const query = queryOf(request)
          return watch(filePath(query.text("path"), base), query.flag("recursive"), reader, signal)
        },
        catch: (error) => (error instanceof FileError ? new Refused({ status: error.status, message: error.message }) : failed(error))
      }).pipe(Effect.timeoutFail({ duration: watchedWithin, onTimeout: () => tooLarge }))
      const begin = (socket: WebSocket): void => {
        // The client learns that it misses nothing from here on
        socket.send('{"events":[]}')
        lead(tell(socket))
      }
      return (socket: WebSocket) =>
        Effect.zipRight(
          Effect.sync(() => begin(socket)),
          Effect.never
        )
    })

  return { routes: routes.map(routeOf), sockets: [{ path: "/files/watch", open }] }
}
