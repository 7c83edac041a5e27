import { Context, Effect, Layer, Redacted } from "effect"
import type { Actor, CallInfo } from "../../access/Actor.js"
import { SystemActor } from "../../access/SystemActor.js"
import { DeploymentOptions } from "../../deployment/DeploymentOptions.js"
import { requireFeature } from "../../deployment/Entitlements.js"
import { constantTimeEquals, Cryptography } from "../../platform/Cryptography.js"
import { type Forbidden, NotFound, Unauthenticated } from "../../platform/Errors.js"

const make = Effect.gen(function* () {
  const { scim_api_key } = yield* DeploymentOptions
  const { sha256 } = yield* Cryptography
  const digest = (text: string): Effect.Effect<Uint8Array> => sha256(new TextEncoder().encode(text))
  const key = Redacted.value(scim_api_key)
  const expected = yield* digest(key)

  return {
    /**
     * Who provisions users, from what a request has as `Authorization`: the deployment's key, with `Bearer` in front of it or not. Fails
     * with `NotFound` where the deployment has no key, `Forbidden` where it is not licensed, and `Unauthenticated` for another key.
     * authorization.md §13.
     */
    admit: (authorization: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<Actor, NotFound | Forbidden | Unauthenticated> =>
      Effect.gen(function* () {
        if (key === "") return yield* new NotFound({ message: "SCIM is not enabled." })
        yield* requireFeature("scim")
        // Digests have one length, whatever was sent
        const given = yield* digest(Redacted.value(authorization).replace(/^bearer\s+/i, ""))
        if (!constantTimeEquals(expected, given)) return yield* new Unauthenticated({ message: "The SCIM key is not valid." })
        return { ...SystemActor.scimProvisioner, ...info }
      })
  }
})

/** Who may provision users. */
export class ScimAccess extends Context.Tag("@atelier/core/ScimAccess")<ScimAccess, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(ScimAccess, make)
}
