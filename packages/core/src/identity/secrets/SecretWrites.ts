/** The writes of users' secrets: their rules and limits, the lock of their user, and what is stored of a new one. identity.md §11. */
import { Effect, Redacted } from "effect"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Conflict, type Duplicate, Invalid, NotFound, type Validation } from "../../platform/Errors.js"
import type { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { UserId } from "../users/User.js"
import type { SecretValues } from "./SecretValues.js"
import { exceededLimit, sizeOf, type UserSecret, userSecretViolations, valueViolation } from "./UserSecret.js"
import type { UserSecretRepository } from "./UserSecretRepository.js"

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

/** The rule that a value breaks, as a list. */
export const valueViolations = (value: Redacted.Redacted<string>): ReadonlyArray<Validation> => {
  const detail = valueViolation(Redacted.value(value))
  return detail === undefined ? [] : [{ field: "value", detail }]
}

/** Every rule that a new secret breaks. */
export const newViolations = (secret: UserSecret, value: Redacted.Redacted<string>, brand: string): ReadonlyArray<Validation> => [
  ...userSecretViolations(secret, brand),
  ...(secret.value_size === 0 ? [{ field: "value", detail: "is required" }] : valueViolations(value))
]

/** Fails with `Invalid` when a user could not have these secrets. */
export const withinLimits = (secrets: ReadonlyArray<UserSecret>): Effect.Effect<void, Invalid> => {
  const message = exceededLimit(secrets)
  return message === undefined ? Effect.void : Effect.fail(new Invalid({ message }))
}

/** The refusal of a secret that has what another of its user has. */
export const taken = ({ constraint }: Duplicate, prefix = ""): Conflict => {
  const field = constraint.endsWith("env_name") ? "env_name" : constraint.endsWith("file_path_hash") ? "file_path" : "name"
  return new Conflict({ message: `Another secret has this ${field}.`, validations: [{ field: `${prefix}${field}`, detail: "is taken" }] })
}

interface Needs {
  readonly repository: UserSecretRepository["Type"]
  readonly values: SecretValues["Type"]
  readonly ids: Ids["Type"]
  readonly sha256: Cryptography["Type"]["sha256"]
}

/** Returns the steps that the writes of secrets have in common. */
export const secretWrites = ({ ids, repository, sha256, values }: Needs) => {
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

  /** Stores a new secret. Fails with `Conflict` for a name, variable or path that another one of the user has. */
  const store = (secret: UserSecret, value: Redacted.Redacted<string>, prefix?: string) =>
    Effect.gen(function* () {
      yield* repository
        .insert(secret, yield* values.seal(secret, value), yield* pathHash(secret))
        .pipe(Effect.catchTag("Duplicate", (duplicate) => Effect.fail(taken(duplicate, prefix))))
      return { value: secret, after: { ...secret, value: "set" } }
    })

  return { pathHash, recordOf, lock, store }
}

/** The result of {@link secretWrites}. */
export type SecretWrites = ReturnType<typeof secretWrites>
