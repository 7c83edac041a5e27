import { Context, Effect, Either, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Conflict, type Duplicate, Invalid, NotFound, refuseViolations, type Validation, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import { parseSecretsFile, type SecretsFileFormat, SecretsYaml } from "./SecretsFile.js"
import { SecretValues } from "./SecretValues.js"
import type { UserId } from "../users/User.js"
import { Users } from "../users/Users.js"
import {
  environmentViolation,
  exceededLimit,
  sizeOf,
  type UserSecret,
  userSecretViolations,
  userSecretObject,
  valueViolation
} from "./UserSecret.js"
import { secretSubject } from "./UserSecretAudit.js"
import { UserSecretRepository } from "./UserSecretRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Auditing } from "../../audit/Audit.js"

/** The fields of a new secret. */
export interface NewUserSecret {
  readonly name: string
  readonly value: Redacted.Redacted<string>
  readonly description?: string | undefined
  readonly env_name?: string | undefined
  readonly file_path?: string | undefined
  /** Absent: true. */
  readonly enabled?: boolean | undefined
}

/** A text that holds several secrets. */
export interface SecretsFile {
  readonly format: SecretsFileFormat
  readonly content: Redacted.Redacted<string>
}

/** Bytes of such a text. */
const maximumFileSize = 1024 * 1024

/** The changes of a secret; absent fields stay. */
export interface UserSecretChanges extends Pick<NewUserSecret, "description" | "env_name" | "file_path" | "enabled"> {
  readonly value?: Redacted.Redacted<string> | undefined
}

const missing = new NotFound({ resource: "user_secret" })

/** The rule that a value breaks, as a list. */
const valueViolations = (value: Redacted.Redacted<string>): ReadonlyArray<Validation> => {
  const detail = valueViolation(Redacted.value(value))
  return detail === undefined ? [] : [{ field: "value", detail }]
}

const newViolations = (secret: UserSecret, value: Redacted.Redacted<string>, brand: string): ReadonlyArray<Validation> => [
  ...userSecretViolations(secret, brand),
  ...(secret.value_size === 0 ? [{ field: "value", detail: "is required" }] : valueViolations(value))
]

/** Fails with `Invalid` when a user could not have these secrets. */
const withinLimits = (secrets: ReadonlyArray<UserSecret>): Effect.Effect<void, Invalid> => {
  const message = exceededLimit(secrets)
  return message === undefined ? Effect.void : Effect.fail(new Invalid({ message }))
}

const taken = ({ constraint }: Duplicate, prefix = ""): Conflict => {
  const field = constraint.endsWith("env_name") ? "env_name" : constraint.endsWith("file_path_hash") ? "file_path" : "name"
  return new Conflict({ message: `Another secret has this ${field}.`, validations: [{ field: `${prefix}${field}`, detail: "is taken" }] })
}

/** Where entries of a text are named in refusals. */
const entryPrefix = (index: number): string => `secrets[${index}].`

/** The secrets that a text asks for. */
const requestsOf = (
  { content, format }: SecretsFile,
  brand: string,
  yaml: SecretsYaml["Type"]
): Either.Either<ReadonlyArray<NewUserSecret>, Invalid> => {
  const text = Redacted.value(content)
  const refusal = (detail: string): Invalid => Invalid.field("content", detail)
  if (text === "") return Either.left(refusal("is required"))
  if (sizeOf(text) > maximumFileSize) return Either.left(refusal(`must be at most ${maximumFileSize} bytes`))
  return Either.mapBoth(parseSecretsFile(format, text, yaml), {
    onLeft: refusal,
    onRight: (entries) =>
      entries.map(([name, value]) => {
        const enabled = environmentViolation(name, brand) === undefined
        return { name, value: Redacted.make(value), env_name: enabled ? name : "", enabled }
      })
  })
}

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

  const pathHash = ({ file_path }: UserSecret): Effect.Effect<Uint8Array> => sha256(new TextEncoder().encode(file_path))

  /** The record of a secret that is about to be made. */
  const recordOf = (userId: UserId, request: NewUserSecret) =>
    Effect.map(Effect.all([ids.next, Timestamp.now]), ([id, now]): UserSecret => ({
      id,
      user_id: userId,
      name: request.name,
      description: request.description ?? "",
      env_name: request.env_name ?? "",
      file_path: request.file_path ?? "",
      enabled: request.enabled ?? true,
      value_size: sizeOf(Redacted.value(request.value)),
      created_at: now,
      updated_at: now
    }))

  /** Locks a user's secrets against other writers. Fails with `NotFound` for a user who has been deleted since authentication. */
  const lock = (userId: UserId): Effect.Effect<void, NotFound> =>
    Effect.flatMap(repository.lock(userId), (isThere) => (isThere ? Effect.void : new NotFound({ resource: "user" })))

  const store = (secret: UserSecret, value: Redacted.Redacted<string>, prefix?: string) =>
    Effect.gen(function* () {
      yield* repository
        .insert(secret, yield* values.seal(secret, value), yield* pathHash(secret))
        .pipe(Effect.catchTag("Duplicate", (duplicate) => Effect.fail(taken(duplicate, prefix))))
      return { value: secret, after: { ...secret, value: "set" } }
    })

  /** Stores secrets that break no rule by themselves, each with its entry, or none of them. */
  const storeAll = (userId: UserId, secrets: ReadonlyArray<{ readonly secret: UserSecret; readonly value: Redacted.Redacted<string> }>) =>
    transaction(
      Effect.gen(function* () {
        const { success } = yield* Audit.AuditStatus
        yield* lock(userId)
        yield* withinLimits([...(yield* repository.ofUser(userId)), ...secrets.map(({ secret }) => secret)])
        return yield* Effect.forEach(secrets, ({ secret, value }, index) =>
          Effect.gen(function* () {
            const { after } = yield* store(secret, value, entryPrefix(index))
            yield* Audit.record({ ...secretSubject("create", secret), status_code: success, after })
            return secret
          })
        )
      })
    )

  /** The user's secret of that name. Fails with `NotFound` where the actor may not read it. */
  const find = (reference: string, name: string) =>
    Effect.gen(function* () {
      const user = yield* users.holder(reference)
      return yield* Access.visible(Option.getOrNull(yield* repository.byName(user.id, name)), userSecretObject, missing)
    })

  return {
    create: Traced.fn("UserSecrets.create")(function* (reference: string, request: NewUserSecret) {
      const user = yield* users.holder(reference)
      const secret = yield* recordOf(user.id, request)
      return yield* Audit.audited(
        secretSubject("create", secret),
        Effect.gen(function* () {
          yield* Access.authorize("create", AccessObjects.ownedBy("user_secret", user.id))
          yield* refuseViolations(newViolations(secret, request.value, brand))
          yield* lock(user.id)
          yield* withinLimits([...(yield* repository.ofUser(user.id)), secret])
          return yield* store(secret, request.value)
        })
      )
    }),

    import: Traced.fn("UserSecrets.import")(function* (reference: string, file: SecretsFile) {
      const user = yield* users.holder(reference)
      yield* Access.authorize("create", AccessObjects.ownedBy("user_secret", user.id))
      const requests = yield* requestsOf(file, brand, yaml)
      const secrets = yield* Effect.forEach(requests, (request) =>
        Effect.map(recordOf(user.id, request), (secret) => ({ secret, value: request.value }))
      )
      yield* refuseViolations(
        secrets.flatMap(({ secret, value }, index) =>
          newViolations(secret, value, brand).map(({ detail, field }) => ({ field: `${entryPrefix(index)}${field}`, detail }))
        )
      )
      return yield* storeAll(user.id, secrets)
    }),

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
          yield* lock(found.user_id)
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
            .update(after, yield* pathHash(after))
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
