import { Effect, Either, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import { userAudit } from "../users/UserAudit.js"
import type { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Conflict, NotFound } from "../../platform/Errors.js"
import type { Ids } from "../../platform/Ids.js"
import { random as randomName } from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { accountWrite, lockedAccount } from "../users/Account.js"
import type { AccountRepository } from "../users/AccountRepository.js"
import type { GitSshKeyPairs } from "../secrets/GitSshKeyPairs.js"
import type { IdpSyncInForce } from "../sync/IdpSyncInForce.js"
import { usernameFrom } from "../logins/ProviderProfile.js"
import { fullNameOf, type ScimAttributes, ScimInvalid } from "./ScimUser.js"
import { ownerRole, newUser, type User } from "../users/User.js"
import type { UserRepository } from "../users/UserRepository.js"
import { statusTransitions } from "../users/UserStatus.js"

/** The username that a user sent under this name gets; undefined if neither it nor the address yields one. */
export const nameOf = (userName: string, email: string): string | undefined => usernameFrom(userName, email) ?? usernameFrom("", email)

export const missing = new NotFound({ resource: "user", message: "There is no such user." })

const taken = new Conflict({ message: "A user with this userName or e-mail address exists already." })

interface Needs {
  readonly automatic: Pick<Audit.Subject, "additional_fields">
  readonly accounts: AccountRepository["Type"]
  readonly users: UserRepository["Type"]
  readonly ids: Ids["Type"]
  readonly sshKeys: GitSshKeyPairs["Type"]
  readonly organizationSync: IdpSyncInForce["Type"]["organizations"]
  readonly organizations: OrganizationRepository["Type"]
}

/** How the directory makes, changes and revives a user. */
export const scimChanges = ({ automatic, accounts, users, ids, sshKeys, organizationSync, organizations }: Needs) => {
  /** Activates or suspends a user. `wanted` decides from the current state; undefined changes nothing. */
  const change = <E>(user: Pick<User, "id" | "username">, wanted: (user: User) => Either.Either<boolean | undefined, E>) =>
    Audit.audited(
      { ...accountWrite(user), ...automatic },
      Effect.gen(function* () {
        const before = yield* Effect.mapError(lockedAccount(accounts, user.id), () => missing)
        yield* Access.authorizeWrite("update", AccessObjects.user(before), missing)
        const active = yield* wanted(before)
        const status = active === undefined ? before.status : statusTransitions[before.status][active ? "reinstate" : "suspend"]
        if (status === before.status) return { value: before, before, after: before }
        if (status === "suspended" && before.id === (yield* CurrentActor).userId) {
          return yield* new ScimInvalid("mutability", "You cannot suspend yourself.")
        }
        if (status === "suspended" && before.rbac_roles.includes(ownerRole)) {
          return yield* new ScimInvalid("mutability", "An owner cannot be suspended: the role has to be taken away first.")
        }
        const updated_at = yield* Timestamp.now
        yield* users.updateStatus(before.id, before.status, status, updated_at)
        const after: User = { ...before, status, updated_at }
        return { value: after, before, after }
      })
    )

  /** Reinstates a suspended user. Fails with `Conflict` for a user with another status. */
  const revive = (user: Pick<User, "id" | "username">, active: boolean) =>
    change(user, (before) => (before.status === "suspended" && !before.is_system ? Either.right(active) : Either.left(taken))).pipe(
      // Deleted a moment ago
      Effect.catchTag("NotFound", () => taken)
    )

  const insert = (attributes: ScimAttributes, email: string, active: boolean) =>
    Effect.gen(function* () {
      const username = nameOf(attributes.userName, email) ?? (yield* randomName("-"))
      const id = yield* ids.next
      const now = yield* Timestamp.now
      const user = newUser(
        {
          id,
          email,
          username,
          name: fullNameOf(attributes),
          status: active ? "dormant" : "suspended",
          login_type: "oidc"
        },
        now
      )
      const storeSshKey = yield* sshKeys.prepare
      return yield* Audit.audited(
        { action: "create", resource: userAudit, id, target: username, ...automatic },
        Effect.gen(function* () {
          yield* Access.authorize("create", AccessObjects.user(user))
          if (Option.isSome(yield* users.byUsername(username))) return yield* taken
          yield* users.insert(user, null)
          if ((yield* organizationSync).organization_assign_default) {
            const { id: organization_id } = yield* Effect.flatMap(organizations.default, Effect.orDie)
            yield* Access.authorize("create", AccessObjects.organizationMember({ user_id: id, organization_id }))
            yield* organizations.addMember({ organization_id, user_id: id, roles: [], created_at: now })
          }
          yield* storeSshKey(id, now)
          return { value: user, after: user }
        }).pipe(Effect.catchTag("Duplicate", () => taken))
      )
    })

  return { change, revive, insert }
}
