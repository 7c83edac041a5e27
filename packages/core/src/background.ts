import { Effect, Layer } from "effect"
import { Replicas } from "./deployment/Replicas.js"
import { workers } from "./layer.js"
import { Organizations } from "./organizations/Organizations.js"
import { type EmbeddedDaemonOptions, embeddedDaemons } from "./provisioning/daemons/EmbeddedDaemons.js"

/** Prepares the store for the first call, and runs the background work of every area as long as the scope is open. */
export const startBackground = (options: EmbeddedDaemonOptions) =>
  Effect.gen(function* () {
    // Before anything is stored that other processes compare with their time
    yield* Effect.flatMap(Replicas, ({ align }) => align)
    yield* Effect.flatMap(Organizations, ({ ensureDefault }) => ensureDefault)
    // Before lost leases are looked for: daemons know from the start which are lost
    yield* Layer.build(embeddedDaemons(options))
    yield* Effect.all(workers, { discard: true })
  })
