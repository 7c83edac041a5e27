/** The gateway's SSH connections: with clients, which log in by their keys, and with agents, which ask for no key. Loaded with the first of them. */
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import ssh2, { type Connection, type PublicKeyAuthContext, type ServerChannel } from "ssh2"
import { leadPackets } from "./packets.js"

/** Milliseconds until a client has to be logged in. */
const loginWithin = 60_000

/** Requests of a client to log in. Each key takes two. */
const maximumRequests = 60

const algorithms = {
  cipher: ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr"],
  compress: ["none"]
} satisfies ssh2.Algorithms

/** Where a client that is logged in is led: to an agent, or to the reason why it is not. */
export type Admission = { readonly agent: Duplex } | { readonly refusal: string }

export interface Login {
  /** The name that the client gives. */
  readonly name: string
  /** The public key whose private half the client has, as SSH sends it. */
  readonly key: Buffer
  /** The client's program and version. */
  readonly client: string
}

export interface Options {
  readonly hostKey: string
  /** Answers undefined for a key that nothing is known of. */
  readonly admit: (login: Login) => Promise<Admission | undefined>
}

/** Connects to an agent, on a stream that the service has authorized. */
const connectAgent = (socket: Duplex): Promise<ssh2.Client> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.once("ready", () => resolve(client))
    // A failure after the start ends the socket, which ends the client's connection
    client.on("error", reject)
    client.once("close", () => reject(new Error("The workspace's agent has ended the connection.")))
    client.connect({ sock: socket, username: "gateway", authHandler: ["none"], algorithms, readyTimeout: loginWithin })
  })

type Admitted = { readonly agent: ssh2.Client; readonly stream: Duplex } | { readonly refusal: string }

const agentOf = (stream: Duplex): Promise<Admitted> =>
  connectAgent(stream).then(
    (agent) => ({ agent, stream }),
    (error: Error) => ({ refusal: error.message })
  )

/** Whether the client has shown that it has the private half of the key. */
const isProven = ({ blob, hashAlgo, key, signature }: PublicKeyAuthContext): boolean => {
  if (blob === undefined || signature === undefined) return false
  const parsed = ssh2.utils.parseKey(key.data)
  // Some versions of the library find several keys in a text
  const [found] = Array.isArray(parsed) ? parsed : [parsed]
  return found !== undefined && !(found instanceof Error) && found.verify(blob, signature, hashAlgo) === true
}

/** Tells the user of each session why it is not served. */
const refuse = (connection: Connection, message: string): void => {
  const tell = (channel: ServerChannel): void => {
    channel.stderr.write(`${message}\r\n`)
    channel.exit(255)
    channel.end()
  }
  connection.on("session", (accept) => {
    const session = accept()
    session.on("pty", (allow) => allow?.())
    session.on("shell", (allow) => tell(allow()))
    session.on("exec", (allow) => tell(allow()))
    session.on("subsystem", (allow) => tell(allow()))
  })
}

/** Serves a client's connection. Resolves when it has closed. */
export const serve = (socket: Socket, { admit, hostKey }: Options): Promise<void> =>
  new Promise((resolve) => {
    const server = new ssh2.Server({ hostKeys: [hostKey], ident: "Atelier", algorithms }, (connection, { header }) => {
      const late = setTimeout(() => socket.destroy(), loginWithin)
      let requests = 0
      let admitted: Admitted | undefined
      connection.on("error", () => socket.destroy())
      connection.once("close", () => clearTimeout(late))
      connection.on("authentication", (context) => {
        requests += 1
        if (requests > maximumRequests) return void socket.destroy()
        if (context.method !== "publickey") return context.reject(["publickey"])
        // Each key is asked to be proven, so that the answer tells nothing of the keys of others
        if (context.signature === undefined) return context.accept()
        if (!isProven(context)) return context.reject(["publickey"])
        const login = { name: context.username, key: context.key.data, client: `SSH-2.0-${header.versions.software}` }
        const entering = async (): Promise<void> => {
          const admission = await admit(login)
          if (admission === undefined) return context.reject(["publickey"])
          admitted = "refusal" in admission ? admission : await agentOf(admission.agent)
          context.accept()
        }
        entering().catch(() => socket.destroy())
      })
      connection.on("ready", () => {
        clearTimeout(late)
        if (admitted === undefined) return void socket.destroy()
        if ("refusal" in admitted) return refuse(connection, admitted.refusal)
        const { agent, stream } = admitted
        // Each ends with the other, after what it was sent before
        stream.once("close", () => connection.end())
        socket.once("close", () => agent.destroy())
        leadPackets({ connection, socket }, { connection: agent, socket: stream })
      })
    })
    server.on("error", () => socket.destroy())
    socket.once("close", () => resolve())
    server.injectSocket(socket)
  })
