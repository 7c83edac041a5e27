/** `proxy`: a SOCKS5 proxy (RFC 1928) into a workspace. */
import type { Client } from "@atelier/client"
import { createServer, type Socket } from "node:net"
import { failureOf } from "../Failure.js"
import type { Session } from "../Session.js"
import { join, listen, tellLost, untilInterrupted } from "./portForward.js"
import { reachSandbox } from "./reachSandbox.js"

const version = 5
const connectCommand = 1
const replies = { succeeded: 0, failed: 1, notAllowed: 2, refused: 5, commandUnsupported: 7, addressUnsupported: 8 } as const

export interface Request {
  readonly command: number
  readonly host: string
  readonly port: number
  /** Bytes that the request took. */
  readonly length: number
}

/** Reads a request; undefined while bytes are missing. */
export const readRequest = (bytes: Uint8Array): Request | undefined => {
  const [, command, , kind] = bytes
  if (command === undefined || kind === undefined) return undefined
  const size = kind === 1 ? 4 : kind === 4 ? 16 : (bytes[4] ?? 0) + 1
  const length = 4 + size + 2
  if (bytes.length < Math.max(5, length)) return undefined
  const address = bytes.subarray(4, 4 + size)
  const host =
    kind === 1 ? [...address].join(".") : kind === 3 ? new TextDecoder().decode(address.subarray(1)) : Buffer.from(address).toString("hex")
  return { command, host, port: ((bytes[length - 2] ?? 0) << 8) | (bytes[length - 1] ?? 0), length }
}

const loopback6 = `${"0".repeat(31)}1`

/** Whether a name means the workspace itself: connections go to it alone. */
const isWorkspace = (host: string, name: string): boolean => ["localhost", "127.0.0.1", loopback6, name].includes(host.toLowerCase())

/** Bytes of a greeting and a request at most. */
const maximumHead = 600
/** Milliseconds that a client may take for them. */
const headTime = 10_000

const reply = (code: number): Uint8Array => Uint8Array.of(version, code, 0, 1, 0, 0, 0, 0, 0, 0)

/** Collects bytes until a part of the conversation is whole, and puts back what is left over. */
const readPart = async <A extends { readonly length: number }>(socket: Socket, read: (bytes: Uint8Array) => A | undefined): Promise<A> => {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const chunk: Buffer | null = socket.read()
    if (chunk !== null) bytes = Buffer.concat([bytes, chunk])
    const part = read(bytes)
    if (part !== undefined) {
      if (bytes.length > part.length) socket.unshift(bytes.subarray(part.length))
      return part
    }
    if (bytes.length > maximumHead || socket.readableEnded || socket.destroyed) throw new Error("is not SOCKS5")
    await new Promise<void>((resolve) => {
      const go = (): void => {
        for (const event of ["readable", "end", "close"]) socket.off(event, go)
        resolve()
      }
      for (const event of ["readable", "end", "close"]) socket.on(event, go)
    })
  }
}

const readGreeting = (bytes: Uint8Array): { readonly length: number } | undefined => {
  const [, count] = bytes
  return count === undefined || bytes.length < count + 2 ? undefined : { length: count + 2 }
}

const serve = async (client: Client, agent: string, name: string, socket: Socket, session: Session): Promise<void> => {
  socket.on("error", () => {})
  socket.setTimeout(headTime, () => socket.destroy())
  await readPart(socket, readGreeting)
  socket.write(Uint8Array.of(version, 0))
  const { command, host, port } = await readPart(socket, readRequest)
  socket.setTimeout(0)
  if (command !== connectCommand) return void socket.end(reply(replies.commandUnsupported))
  if (!isWorkspace(host, name)) return void socket.end(reply(replies.notAllowed))
  socket.write(reply(replies.succeeded))
  await join(client, agent, port, socket, session.signal).catch((error: unknown) => {
    socket.destroy()
    tellLost(port, error, session)
  })
}

interface ProxyInput {
  readonly workspace: string
  readonly port: number | undefined
}

export const socksProxy = async ({ port = 1080, workspace }: ProxyInput, session: Session): Promise<void> => {
  const { out, program, signal } = session
  const client = await session.liveClient()
  const { agentId, name } = await reachSandbox(client, workspace, session)
  const server = createServer((socket) => {
    serve(client, agentId, name, socket, session).catch((error: unknown) => {
      socket.destroy()
      if (!signal.aborted) out.debug(failureOf(error, program).message)
    })
  })
  try {
    const bound = await listen(server, "127.0.0.1", port)
    out.row({ host: "127.0.0.1", port: bound }, `SOCKS5 on 127.0.0.1:${bound} leads to the ports of ${name}, as localhost or ${name}`)
    await untilInterrupted(signal)
  } finally {
    server.close()
  }
}
