/** The clients of the relay of this process. agents-and-apps.md §12. */
import { Relay as Protocol } from "@atelier/agent-protocol"
import { Relay } from "@atelier/core/network"
import { Background, service } from "@atelier/core/platform"
import { randomBytes } from "@atelier/node"
import { Clock, Context, Effect } from "effect"
import { Draining } from "../server/operate/Draining.js"
import { RelayClient, type RelayHouse, textOf } from "./RelayClient.js"
import type { Wire, WireEvents } from "./Wire.js"

/** How many clients the relay serves at once, and how many of them may be in their handshake. */
const maximumClients = 10_000
const maximumHandshakes = 1_000

/** How often it is looked at what is due, in milliseconds. */
const tickInterval = 500

export class RelayServer extends Context.Tag("@atelier/http/RelayServer")<
  RelayServer,
  {
    /** The public key of the relay, which is new with each process. */
    readonly publicKey: () => Uint8Array
    /** Whether another client may connect. */
    readonly hasRoom: Effect.Effect<boolean>
    /** Gives a RecvPacket that another process has forwarded to the client that it is for, if that is here. */
    readonly forwarded: (destination: Uint8Array, frame: Uint8Array) => void
    /** Sends what clients have been given outside of their own frames. */
    readonly flush: () => void
    /** Serves a client until its connection has closed. */
    readonly serve: (open: (events: WireEvents) => Wire) => Effect.Effect<void>
  }
>() {
  static readonly layer = service(
    RelayServer,
    Effect.gen(function* () {
      const { router } = yield* Relay
      const draining = yield* Draining
      const clock = yield* Effect.clock
      let pair: Protocol.Box.KeyPair | undefined
      // Made for the first client: it takes 15 ms of a start
      const keys = () => (pair ??= Protocol.Box.keyPairOf(randomBytes(32)))
      const clients = new Set<RelayClient>()
      const entering = new Set<RelayClient>()
      const touched: Array<RelayClient> = []
      /** The client that is at work in a tick. */
      let ticking: RelayClient | undefined
      const reasons = new Map<string, number>()
      const house: RelayHouse = {
        keys,
        router,
        now: () => clock.unsafeCurrentTimeMillis(),
        touched: (client) => void touched.push(client),
        entered: (client) => void entering.delete(client),
        refused: (reason) => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      }
      /** Sends what the frames of one read have given: together, as one write for each client. */
      const flush = (): void => {
        for (let client = touched.pop(); client !== undefined; client = touched.pop()) client.flush()
      }
      const tick = Effect.suspend(() => {
        const now = house.now()
        for (const client of clients) {
          ticking = client
          client.tick(now)
        }
        ticking = undefined
        flush()
        const told = [...reasons]
        reasons.clear()
        return Effect.forEach(
          told,
          ([reason, clients]) => Effect.annotateLogs(Effect.logDebug("the relay ended connections"), { reason, clients }),
          {
            discard: true
          }
        )
      })
      // A client that cannot be served must not keep the others from what is due for them at each tick
      const expelled = Effect.sync(() => {
        if (ticking === undefined) return
        clients.delete(ticking)
        entering.delete(ticking)
        router.disconnect(ticking)
        ticking = undefined
      })
      yield* Background.repeat(
        "relay",
        Effect.zipRight(
          Clock.sleep(tickInterval),
          Effect.tapErrorCause(tick, () => expelled)
        )
      )
      yield* Effect.forkScoped(
        Effect.zipRight(
          draining.begun,
          Effect.sync(() => {
            for (const client of clients) client.end("restart")
          })
        )
      )
      return {
        publicKey: () => keys().publicKey,
        forwarded: (destination, frame) => {
          const source = textOf(Protocol.RelayFrame.keyOf(frame))
          const bytes = frame.length - Protocol.RelayFrame.headerLength - Protocol.RelayFrame.keyLength
          router.routeHere(source, textOf(destination), bytes)?.deliver(frame)
        },
        flush,
        hasRoom: Effect.sync(() => clients.size < maximumClients && entering.size < maximumHandshakes),
        serve: (open) =>
          Effect.async<void>((resume) => {
            let client: RelayClient | undefined
            const wire = open({
              data: (bytes) => {
                client?.take(bytes)
                flush()
              },
              drain: () => client?.drained(),
              close: () => {
                if (client !== undefined) {
                  clients.delete(client)
                  entering.delete(client)
                  router.disconnect(client)
                  flush()
                }
                resume(Effect.void)
              }
            })
            client = new RelayClient(house, wire)
            clients.add(client)
            entering.add(client)
            flush()
            return Effect.sync(wire.destroy)
          })
      }
    })
  )
}
