import { Access, SystemActor } from "@atelier/core/access"
import { type CryptoKeyFeature, CryptoKeys } from "@atelier/core/deployment"
import { keptFor, type Timestamp } from "@atelier/core/platform"
import { Effect, type Redacted } from "effect"

/** A key of the deployment, as `CryptoKeys` or the deployment's interface gives it. */
export interface AppKey {
  readonly sequence: number
  readonly starts_at: Timestamp.Timestamp
  readonly secret: Redacted.Redacted<Uint8Array>
}

/** The key that signs or encrypts: the newest one that has begun. The keys are ordered, newest first. */
export const currentKey = (keys: ReadonlyArray<AppKey>, now: Timestamp.Timestamp): Effect.Effect<AppKey> => {
  const key = keys.find(({ starts_at }) => starts_at <= now)
  return key === undefined ? Effect.dieMessage("no key has begun") : Effect.succeed(key)
}

/** The deployment's keys of a feature, read once a minute: a key is made half an hour before it begins, so that every process has read it by then. */
export const appKeys = (feature: CryptoKeyFeature): Effect.Effect<Effect.Effect<ReadonlyArray<AppKey>>, never, CryptoKeys> =>
  Effect.gen(function* () {
    const { verifying } = yield* CryptoKeys
    const services = yield* Effect.context<never>()
    const read = verifying(feature).pipe(Access.actingAs(SystemActor.cryptoKeyReader), Effect.orDie, Effect.provide(services))
    return yield* keptFor("1 minute")(read)
  })
