/** Ways into a workspace as web streams: terminals, apps and ports. */
import { AtelierError } from "./AtelierError.js"
import { type CallOptions, encode } from "./call.js"
import type { Client } from "./Client.js"
import * as terminals from "./generated/terminals.js"
import type { Close, Socket } from "./sockets.js"

/** A size in characters. */
export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

export interface TerminalInput extends Partial<TerminalSize> {
  /** The agent's id. */
  readonly agent: string
  /** A UUID. The same one leads to the same terminal; a new one unless given. */
  readonly id?: string | undefined
  /** Runs in place of the login shell. */
  readonly command?: string | undefined
}

/** A terminal that is open. */
export interface Terminal {
  /** Leads to the same terminal again. */
  readonly id: string
  /** What is typed. Closing it leaves the terminal, which lives on. */
  readonly input: WritableStream<string>
  /** What the terminal shows, as its program wrote it. Ends with the program; fails with an `AtelierError` at the end of the right to it. */
  readonly output: ReadableStream<Uint8Array>
  readonly resize: (size: TerminalSize) => void
  readonly closed: Promise<Close>
}

const bytesOf = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

/** The messages of a socket as a stream, which reads them as they are asked for. */
const readableOf = (socket: Socket): ReadableStream<Uint8Array> => {
  const messages = socket[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await messages.next()
        if (done === true) controller.close()
        else controller.enqueue(typeof value === "string" ? new TextEncoder().encode(value) : value)
      },
      cancel: async () => {
        socket.close()
        await messages.return()
      }
    },
    { highWaterMark: 0 }
  )
}

const writableOf = <A>(socket: Socket, encoded: (value: A) => Uint8Array): WritableStream<A> =>
  new WritableStream<A>({
    write: (value) => {
      socket.send(encoded(value))
      return socket.flushed()
    },
    close: () => socket.close(),
    abort: () => socket.close()
  })

/** Opens a terminal of a workspace. @throws AtelierError 404 without the right to it */
export const openTerminal = async (
  client: Client,
  { agent, columns = 80, command, id = crypto.randomUUID(), rows = 24 }: TerminalInput,
  options?: CallOptions
): Promise<Terminal> => {
  const size = { height: String(rows), width: String(columns) }
  const socket = await terminals.openTerminal(client, { workspaceagent: agent, reconnect: id, command, ...size }, options)
  return {
    id,
    input: writableOf(socket, (data: string) => bytesOf({ data })),
    output: readableOf(socket),
    resize: (next) => socket.send(bytesOf({ height: next.rows, width: next.columns })),
    closed: socket.closed
  }
}

export interface PortInput {
  /** The agent's id. */
  readonly agent: string
  readonly port: number
}

/** A connection to a program in a workspace. */
export interface PortConnection {
  readonly readable: ReadableStream<Uint8Array>
  /** Closing it closes the connection. */
  readonly writable: WritableStream<Uint8Array>
  readonly closed: Promise<Close>
}

/** Connects to a TCP port beside an agent. @throws AtelierError 404 without the right to it, 400 for a port of the agent's own */
export const connectPort = async (client: Client, { agent, port }: PortInput, options?: CallOptions): Promise<PortConnection> => {
  const socket = await terminals.connectPort(client, { workspaceagent: agent, port }, options)
  return { readable: readableOf(socket), writable: writableOf(socket, (bytes: Uint8Array) => bytes), closed: socket.closed }
}

/** Where an app is served by path. */
export interface AppInput {
  /** The workspace's owner, by username or id. */
  readonly user: string
  readonly workspace: string
  /** The agent's name; needed in a workspace with several. */
  readonly agent?: string | undefined
  /** The app's slug. */
  readonly app: string
  /** Behind the app's own path, with a slash at its beginning and the query; default `/`. */
  readonly path?: string | undefined
}

/** Asks an app of a workspace, as `fetch` does. The app gets everything but the token. Redirects are not followed. */
export const fetchApp = async (
  client: Client,
  { agent, app, path = "/", user, workspace }: AppInput,
  init: RequestInit = {}
): Promise<Response> => {
  if (!path.startsWith("/")) throw new TypeError("path: must begin with a slash")
  const place = agent === undefined ? workspace : `${workspace}.${agent}`
  const base = encode("/@{user}/{place}/apps/{app}", { user, place, app }).path
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(await client.headers())) headers.set(name, value)
  try {
    return await client.fetch(`${client.baseUrl}${base}${path}`, { redirect: "manual", ...init, headers })
  } catch (cause) {
    init.signal?.throwIfAborted()
    throw new AtelierError({ status: 0, message: "The service cannot be reached.", cause })
  }
}
