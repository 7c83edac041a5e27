/** The client of the program that embeds the service: its requests reach the handler without a socket. */
import { type Client, createClient, type SocketConstructor } from "@atelier/client"
import { createServer, type Server } from "node:http"
import { duplexPair } from "node:stream"
import { type ClientOptions, WebSocket } from "ws"
import type { Options } from "./Options.js"
import { presentationFor } from "./wire/Compatibility.js"
import { type TrustedCaller, trustCaller } from "./server/credentials/TrustedCaller.js"
import type { Listener } from "./server/listener/NodeListener.js"

export interface InProcessOptions {
  /** The user that the client acts for, by username or id. */
  readonly user: string
}

/** The address that requests of the process itself come from. */
const ownAddress = "127.0.0.1"

/** The headers that say how a body ends, which a connection would have added. */
const framingOf = (body: RequestInit["body"]): ReadonlyArray<readonly [string, string]> => {
  if (body === undefined || body === null) return []
  if (typeof body === "string") return [["content-length", String(Buffer.byteLength(body))]]
  if (body instanceof Uint8Array) return [["content-length", String(body.byteLength)]]
  if (body instanceof Blob) return [["content-length", String(body.size)]]
  return [["transfer-encoding", "chunked"]]
}

/** Makes clients of one service, each for a caller whose requests come from an address. */
export const inProcessClients = (
  { fetch, handler, upgrade }: Pick<Listener, "fetch" | "handler" | "upgrade">,
  { accessUrl, brand, compatibility }: Pick<Options, "accessUrl" | "brand" | "compatibility">
): ((caller: TrustedCaller, remoteAddress?: string) => Client) => {
  let server: Server | undefined
  /** Reads requests from connections that are handed to it, and listens nowhere. */
  const connections = (): Server => (server ??= createServer(handler).on("upgrade", upgrade))

  return (caller, remoteAddress = ownAddress) => {
    const connect = () => {
      const [near, far] = duplexPair()
      // Unlike a socket's, an end of the pair does not learn that the other one was destroyed, and waits for it to be read
      near.once("close", () => far.destroy())
      far.once("close", () => near.destroy())
      trustCaller(far, caller)
      connections().emit("connection", far)
      return near
    }
    /** A WebSocket over a pair of streams in memory. */
    class InProcessSocket extends WebSocket {
      constructor(url: string, options: ClientOptions = {}) {
        super(url.replace(/^wss:/, "ws:"), { ...options, createConnection: connect })
      }
    }
    return createClient({
      baseUrl: accessUrl,
      brand: brand ?? presentationFor(compatibility).brand,
      fetch: async (url, init) => {
        const request = new Request(url, init)
        // Hosts of apps are told from the service's own by it
        request.headers.set("host", new URL(url).host)
        for (const [name, value] of framingOf(init.body)) request.headers.set(name, value)
        trustCaller(request, caller)
        return fetch(request, { remoteAddress })
      },
      // The types of `ws` name the class of its own events
      WebSocket: InProcessSocket as unknown as SocketConstructor
    })
  }
}
