import { Effect, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import { type Actor, CurrentActor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Organizations } from "../../organizations/Organizations.js"
import { Forbidden, Invalid, Unauthenticated } from "../../platform/Errors.js"
import type { ProvisionerKeys } from "../keys/ProvisionerKeys.js"
import type { DaemonSecrets } from "./RemoteDaemons.js"

export const noCredential = new Unauthenticated({ message: "A daemon needs a provisioner key, the pre-shared key or a session." })

/** Compares in a time that depends on the lengths alone. */
const isSame = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length
  for (let index = 0; index < other.length; index++) difference |= (one.charCodeAt(index) || 0) ^ other.charCodeAt(index)
  return difference === 0
}

interface Needs {
  readonly keys: ProvisionerKeys["Type"]
  readonly options: DeploymentOptions["Type"]
  readonly organizations: Organizations["Type"]
}

/** Who connects a daemon, and for which organization. */
export const daemonCredentials = ({ keys, options, organizations }: Needs) => {
  const asSystem = Access.actingAs(SystemActor.systemRestricted)

  /** Who connects: the owner of the tags, the key, and the tags that the credential decides. */
  const admittedBy = (caller: Option.Option<Actor>, secrets: DaemonSecrets) =>
    Effect.gen(function* () {
      const { key, shared } = secrets
      if (Option.isSome(caller)) {
        if (key !== undefined || shared !== undefined) {
          return yield* new Invalid({ message: "A session and a daemon's credential cannot be given together." })
        }
        return { _tag: "User", actor: caller.value } as const
      }
      if (key !== undefined && shared !== undefined) return yield* noCredential
      if (key !== undefined) {
        const found = yield* Effect.mapError(keys.authenticate(Redacted.make(key)), () => noCredential)
        return { _tag: "Key", key: found, secret: Redacted.make(key) } as const
      }
      const expected = Redacted.value(options.provisionerDaemonPsk)
      if (shared === undefined || expected === "" || !isSame(shared, expected)) return yield* noCredential
      return { _tag: "Shared" } as const
    })

  /**
   * The organization that a daemon names, which only a caller with a credential hears of. The holder of a key hears of no organization but that of
   * the key.
   */
  const organizationOf = (reference: string, credential: Effect.Effect.Success<ReturnType<typeof admittedBy>>) =>
    Effect.gen(function* () {
      switch (credential._tag) {
        case "User":
          return yield* Effect.provideService(organizations.get(reference), CurrentActor, credential.actor)
        case "Shared":
          return yield* asSystem(organizations.get(reference))
        case "Key": {
          const own = yield* asSystem(organizations.get(credential.key.organization_id))
          const named = yield* Effect.option(asSystem(organizations.get(reference)))
          if (Option.exists(named, ({ id }) => id === own.id)) return own
          return yield* new Forbidden({
            message: `The provisioner key is for the organization "${own.name}", not for the one that the address names.`
          })
        }
      }
    })

  return { admittedBy, organizationOf }
}

/** The result of {@link daemonCredentials}. */
export type DaemonCredentials = ReturnType<typeof daemonCredentials>
