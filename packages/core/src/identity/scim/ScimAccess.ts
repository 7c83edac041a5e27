import { Context, Effect, Redacted } from "effect"
import type { Actor, CallInfo } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { constantTimeEquals, Cryptography } from "../../platform/secrets/Cryptography.js"
import { type Forbidden, NotFound, Unauthenticated } from "../../platform/Errors.js"
import { service } from "../../platform/wiring/Standing.js"

/** The methods of {@link ScimAccess}. */
export interface ScimAccessService {
  /**
   * Returns the actor that provisions users, authenticated by the deployment's key in `Authorization`, with or without `Bearer`. Fails
   * with `NotFound` if the deployment has no key, `Forbidden` without a license, and `Unauthenticated` for another key. authorization.md
   * §13.
   */
  readonly admit: (authorization: Redacted.Redacted<string>, info: CallInfo) => Effect.Effect<Actor, NotFound | Forbidden | Unauthenticated>
}

const make = Effect.gen(function* () {
  const { scimAuthHeader } = yield* DeploymentOptions
  const { sha256 } = yield* Cryptography
  const digest = (text: string): Effect.Effect<Uint8Array> => sha256(new TextEncoder().encode(text))
  const key = Redacted.value(scimAuthHeader)
  const expected = yield* digest(key)

  return {
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

/** Authentication of providers that provision users. */
export class ScimAccess extends Context.Tag("@atelier/core/ScimAccess")<ScimAccess, ScimAccessService>() {
  static readonly layer = service(ScimAccess, make)
}
