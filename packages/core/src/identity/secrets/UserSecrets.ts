import { Context, Effect, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import type { Auditing } from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { type Conflict, type Forbidden, Invalid, NotFound, refuseViolations } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { Users } from "../users/Users.js"
import { secretImport, type SecretsFile } from "./SecretImport.js"
import { SecretsYaml } from "./SecretsFile.js"
import { SecretValues } from "./SecretValues.js"
import { type NewUserSecret, newViolations, secretWrites, taken, valueViolations, withinLimits } from "./SecretWrites.js"
import { sizeOf, type UserSecret, userSecretObject, userSecretViolations } from "./UserSecret.js"
import { secretSubject } from "./UserSecretAudit.js"
import { UserSecretRepository } from "./UserSecretRepository.js"

/** The changes of a secret; absent fields stay. */
export interface UserSecretChanges extends Pick<NewUserSecret, "description" | "env_name" | "file_path" | "enabled"> {
  readonly value?: Redacted.Redacted<string> | undefined
}

const missing = new NotFound({ resource: "user_secret" })

/** The methods of {@link UserSecrets}. */
export interface UserSecretsService {
  /**
   * Creates a secret of the user. Fails with `Forbidden` if the actor may not create it, `Invalid` for a broken rule or limit, and
   * `Conflict` for a name, variable or path that another of the user's secrets has. identity.md §11.
   */
  readonly create: (
    reference: string,
    request: NewUserSecret
  ) => Effect.Effect<UserSecret, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * New secrets of the user, one for each entry of a text, or none of them: named and delivered like its key, and disabled where that can
   * be no variable. Fails as `create` does; refusals name the entry. identity.md §11.
   */
  readonly import: (
    reference: string,
    file: SecretsFile
  ) => Effect.Effect<ReadonlyArray<UserSecret>, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** The user's secrets, by name. Fails with `NotFound` if the actor may not read them. */
  readonly list: (reference: string) => Effect.Effect<ReadonlyArray<UserSecret>, NotFound, CurrentActor>

  /** The user's secret of that name. */
  readonly get: (reference: string, name: string) => Effect.Effect<UserSecret, NotFound, CurrentActor>

  /** Changes the given fields. The rules and limits of new secrets apply to the result. identity.md §11. */
  readonly update: (
    reference: string,
    name: string,
    changes: UserSecretChanges
  ) => Effect.Effect<UserSecret, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Deletes a secret; workspaces that run keep what they were given. */
  readonly delete: (reference: string, name: string) => Effect.Effect<void, Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const repository = yield* UserSecretRepository
  const values = yield* SecretValues
  const ids = yield* Ids
  const { sha256 } = yield* Cryptography
  const yaml = yield* SecretsYaml
  const { brand } = yield* DeploymentOptions
  const writes = secretWrites({ repository, values, ids, sha256 })

  /** The user's secret of that name. Fails with `NotFound` where the actor may not read it. */
  const find = (reference: string, name: string) =>
    Effect.gen(function* () {
      const user = yield* users.holder(reference)
      return yield* Access.visible(Option.getOrNull(yield* repository.byName(user.id, name)), userSecretObject, missing)
    })

  return {
    create: Traced.fn("UserSecrets.create")(function* (reference: string, request: NewUserSecret) {
      const user = yield* users.holder(reference)
      const secret = yield* writes.recordOf(user.id, request)
      return yield* Audit.audited(
        secretSubject("create", secret),
        Effect.gen(function* () {
          yield* Access.authorize("create", AccessObjects.ownedBy("user_secret", user.id))
          yield* refuseViolations(newViolations(secret, request.value, brand))
          yield* writes.lock(user.id)
          yield* withinLimits([...(yield* repository.ofUser(user.id)), secret])
          return yield* writes.store(secret, request.value)
        })
      )
    }),

    import: secretImport({ users, repository, writes, yaml, brand }),

    list: Traced.fn("UserSecrets.list")(function* (reference: string) {
      const user = yield* users.holder(reference)
      const secrets = yield* repository.list(user.id, yield* Access.predicate("read", "user_secret"))
      if (secrets.length === 0) yield* Access.readable(AccessObjects.ownedBy("user_secret", user.id), missing)
      return secrets
    }),

    get: Traced.fn("UserSecrets.get")(function* (reference: string, name: string) {
      return yield* find(reference, name)
    }),

    update: Traced.fn("UserSecrets.update")(function* (reference: string, name: string, changes: UserSecretChanges) {
      const found = yield* find(reference, name)
      const { value } = changes
      return yield* Audit.audited(
        secretSubject("write", found),
        Effect.gen(function* () {
          yield* Access.authorizeWrite("update", userSecretObject(found), missing)
          if (Object.values(changes).every((change) => change === undefined))
            return yield* new Invalid({ message: "At least one field has to be given." })
          yield* writes.lock(found.user_id)
          const all = yield* repository.ofUser(found.user_id)
          const before = all.find(({ id }) => id === found.id)
          if (before === undefined) return yield* missing
          const after: UserSecret = {
            ...before,
            description: changes.description ?? before.description,
            env_name: changes.env_name ?? before.env_name,
            file_path: changes.file_path ?? before.file_path,
            enabled: changes.enabled ?? before.enabled,
            value_size: value === undefined ? before.value_size : sizeOf(Redacted.value(value)),
            updated_at: yield* Timestamp.now
          }
          yield* refuseViolations([...userSecretViolations(after, brand), ...(value === undefined ? [] : valueViolations(value))])
          yield* withinLimits(all.map((secret) => (secret.id === after.id ? after : secret)))
          yield* repository
            .update(after, yield* writes.pathHash(after))
            .pipe(Effect.catchTag("Duplicate", (duplicate) => Effect.fail(taken(duplicate))))
          if (value === undefined) return { value: after, before, after }
          yield* repository.setValue(after.id, yield* values.seal(after, value))
          return { value: after, before: { ...before, value: "old" }, after: { ...after, value: "new" } }
        })
      )
    }),

    delete: Traced.fn("UserSecrets.delete")(function* (reference: string, name: string) {
      const found = yield* find(reference, name)
      yield* Audit.audited(
        secretSubject("delete", found),
        Effect.gen(function* () {
          yield* Access.authorizeWrite("delete", userSecretObject(found), missing)
          if (!(yield* repository.delete(found.id))) return yield* missing
          return { value: undefined, before: { ...found, value: "set" } }
        })
      )
    })
  }
})

/** Secrets for users' workspaces, managed by each user alone. */
export class UserSecrets extends Context.Tag("@atelier/core/UserSecrets")<UserSecrets, UserSecretsService>() {
  static readonly layer = standingOn(service(UserSecrets, make), Users.layer, SecretValues.layer)
}
