import { Relay } from "@atelier/core/network"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger, TestClock } from "effect"
import { RelayServer } from "../../../src/relay/RelayServer.js"
import type { Wire } from "../../../src/relay/Wire.js"
import { Draining } from "../../../src/server/operate/Draining.js"

const services = RelayServer.layer.pipe(Layer.provide(Layer.merge(Relay.layer, Draining.layer)))

const aWire = (end: () => void): Wire => ({ write: () => undefined, takesMore: () => true, end, destroy: () => undefined })

it.scoped("a client that cannot be served keeps no other from the end of its handshake", () =>
  Effect.gen(function* () {
    const relay = yield* RelayServer
    const ended = yield* Deferred.make<void>()
    const broken = aWire(() => {
      throw new Error("the connection is broken")
    })
    yield* Effect.forkScoped(relay.serve(() => broken))
    yield* Effect.forkScoped(relay.serve(() => aWire(() => Deferred.unsafeDone(ended, Effect.void))))
    // Neither has named its key in the ten seconds of its handshake
    yield* TestClock.adjust("12 seconds")
    yield* Deferred.await(ended)
    expect(yield* relay.hasRoom).toBe(true)
  }).pipe(Effect.provide(services), Effect.provide(Logger.remove(Logger.defaultLogger)))
)
