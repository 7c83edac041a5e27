import { Clock, Effect } from "effect"
import { Invalid } from "../../platform/Errors.js"
import type { Deployment } from "../Deployment.js"
import { violation } from "./LicensedFeatures.js"
import type { LicenseAuthority, VerifiedLicense } from "./License.js"

interface Needs {
  readonly authority: LicenseAuthority["Type"]
  readonly deploymentId: Deployment["Type"]["id"]
}

/** What a license says to this deployment, or why it is refused. */
export const licenseReading = ({ authority, deploymentId }: Needs) => {
  /** Reads a new token. Fails with `Invalid` for one that grants nothing here, now or later. */
  const read = (token: string): Effect.Effect<VerifiedLicense, Invalid> =>
    Effect.gen(function* () {
      if (authority === undefined) return yield* new Invalid({ message: "This deployment has no keys that verify licenses." })
      const message = "The license is invalid."
      const verified = yield* Effect.mapError(authority.verify(token), ({ reason }) => new Invalid({ message, detail: reason }))
      const now = yield* Clock.currentTimeMillis
      const { claims, deployment_ids } = verified
      const reason = claims.expires <= now ? "it has expired" : violation(claims, now)
      if (reason !== undefined) return yield* new Invalid({ message, detail: reason })
      if (deployment_ids.length > 0 && !deployment_ids.includes(deploymentId)) {
        const detail = `it is for the deployments ${deployment_ids.slice(0, 20).join(", ")}, and this one is ${deploymentId}`
        return yield* new Invalid({ message, detail })
      }
      return verified
    })

  return { read }
}
