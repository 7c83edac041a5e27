/** Packets for clients of the relay that are connected to other processes of the deployment. agents-and-apps.md §12. */
import { Relay as Protocol } from "@atelier/agent-protocol"
import { DeploymentOptions, Replicas } from "@atelier/core/deployment"
import { type OtherProcess, PacketQueue, Relay, type RelayConnection } from "@atelier/core/network"
import { Background, type Uuid, Worker } from "@atelier/core/platform"
import { Effect, Stream } from "effect"
import type { WebSocket } from "ws"
import { textOf } from "../relay/RelayClient.js"
import { RelayServer } from "../relay/RelayServer.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { heartbeatScoped } from "../sockets/heartbeat.js"
import { open } from "../sockets/Connection.js"
import { makeConnect } from "./connectProcess.js"
import { Presence, relayPath } from "./wire.js"

const { keyLength } = Protocol.RelayFrame

/** How often it is looked for processes that are not connected yet. */
const period = "2 seconds"

/** How many packets wait for another process, and their bytes. */
const queuedPackets = 4_096
const queuedBytes = 4 * 1024 * 1024

/** Bytes that are handed to a connection before it has to send some. */
const sentAhead = 1024 * 1024

/** Clients that another process may name. */
const maximumKeys = 20_000

/** Sends what is forwarded to a process. A process that takes too little loses the oldest packets. */
const forwarder = (webSocket: WebSocket) => {
  const queue = new PacketQueue(queuedPackets, queuedBytes)
  const pump = (): void => {
    while (webSocket.bufferedAmount < sentAhead) {
      const message = queue.take()
      if (message === undefined) return
      webSocket.send(message, pump)
    }
  }
  return (key: Uint8Array, frame: Uint8Array): void => {
    queue.offer(Buffer.concat([key, frame]))
    pump()
  }
}

/** The keys that a message names. */
const keysIn = (message: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.floor((message.length - 1) / keyLength) }, (_, at) =>
    message.subarray(1 + at * keyLength, 1 + (at + 1) * keyLength)
  )

/**
 * Connects the relay to those of the other processes for as long as these live. A process hears from each of the others which clients it has, and
 * sends it packets for these.
 */
export const relayMesh = Effect.gen(function* () {
  const { router } = yield* Relay
  const { flush } = yield* RelayServer
  const { others } = yield* Replicas
  const { derpServerEnable } = yield* DeploymentOptions
  const connect = yield* makeConnect
  const heartbeats = yield* Heartbeat
  const linked = new Set<Uuid.Uuid>()
  if (!derpServerEnable) return

  /** Makes the clients of another process reachable until it ends. */
  const link = (process: OtherProcess) =>
    Effect.gen(function* () {
      const clients = new Map<string, RelayConnection>()
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const client of clients.values()) router.disconnect(client)
          flush()
        })
      )
      const { webSocket } = yield* connect(process, relayPath, null)
      const forward = forwarder(webSocket)
      const connection = open(webSocket, {}, () => undefined)
      webSocket.resume()
      yield* heartbeatScoped(heartbeats, webSocket)
      yield* Stream.runForEach(connection.messages, (message) =>
        Effect.sync(() => {
          if (typeof message === "string") return
          for (const bytes of keysIn(message)) {
            const key = textOf(bytes)
            const known = clients.get(key)
            if (message[0] === Presence.gone && known !== undefined) {
              clients.delete(key)
              router.disconnect(known)
            }
            if (message[0] !== Presence.here || known !== undefined || clients.size >= maximumKeys) continue
            const own = new Uint8Array(bytes)
            const client = { key, isElsewhere: true, deliver: (frame: Uint8Array) => forward(own, frame), peerGone: () => undefined }
            clients.set(key, client)
            router.connect(client)
          }
          flush()
        })
      )
    }).pipe(
      Effect.scoped,
      Effect.catchAll(({ message }) =>
        Effect.annotateLogs(Effect.logDebug("the relay of another process is not connected"), { process: process.id, reason: message })
      ),
      Effect.ensuring(Effect.sync(() => linked.delete(process.id)))
    )

  const look = Effect.flatMap(others, (found) =>
    Effect.forEach(
      found,
      ({ id, relay_address }) => {
        if (relay_address === "" || linked.has(id)) return Effect.void
        linked.add(id)
        return Background.once("relay_link", link({ id, address: relay_address }))
      },
      { discard: true }
    )
  )
  yield* Background.repeat("relay_mesh", Effect.zipRight(Worker.begun, Effect.zipRight(look, Effect.sleep(period))))
})
