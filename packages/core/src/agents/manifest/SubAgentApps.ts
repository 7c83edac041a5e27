import { Effect, Either } from "effect"
import { type Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import type { Validation } from "../../platform/Errors.js"
import { isWithinLevel, type ProvisionedApp } from "../../provisioning/engines/ProvisionedResource.js"
import { appViolations } from "../resources/ResourceRules.js"
import type { NewSubAgent, AppRefusal } from "./SubAgents.js"

/** The first 40 bits of a hash as 8 digits of base32hex (RFC 4648 §7), in lower case. */
const digitsOf = (hash: Uint8Array): string =>
  hash
    .subarray(0, 5)
    .reduce((number, byte) => number * 256 + byte, 0)
    .toString(32)
    .padStart(8, "0")

interface Needs {
  readonly cryptography: Cryptography["Type"]
}

/** The apps that a new sub-agent asks for, and those of them that are refused. */
export const subAgentApps = ({ cryptography }: Needs) => {
  /** The apps as they are stored, and those that cannot be. Agents of one workspace may have apps of the same slug. */
  const appsOf = (name: string, apps: NewSubAgent["apps"], maximum: ProvisionedApp["sharing_level"]) =>
    Effect.gen(function* () {
      const stored: Array<ProvisionedApp> = []
      const refused: Array<AppRefusal> = []
      const slugs = new Set<string>()
      const violationOf = (app: ProvisionedApp): Validation | undefined =>
        slugs.has(app.slug) ? { field: "slug", detail: `${JSON.stringify(app.slug)} is already in use` } : appViolations(app, { name })[0]
      for (const [index, asked] of apps.entries()) {
        const violation = Either.isLeft(asked) ? asked.left : violationOf(asked.right)
        if (violation !== undefined) refused.push({ index, field: violation.field, error: violation.detail })
        if (violation !== undefined || Either.isLeft(asked)) continue
        const app = asked.right
        slugs.add(app.slug)
        const digits = digitsOf(yield* hashSecret(cryptography, `${name}/${app.slug}`))
        const sharing_level = isWithinLevel(app.sharing_level, maximum) ? app.sharing_level : maximum
        stored.push({ ...app, slug: `${digits}-${app.slug}`, sharing_level })
      }
      return { stored, refused }
    })

  return { appsOf }
}
