/** The import of a text that holds several secrets. identity.md §11. */
import { Effect, Either, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { Invalid, refuseViolations } from "../../platform/Errors.js"
import { transaction } from "../../platform/store/Transactor.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { UserId } from "../users/User.js"
import type { Users } from "../users/Users.js"
import { parseSecretsFile, type SecretsFileFormat, type SecretsYaml } from "./SecretsFile.js"
import { type NewUserSecret, newViolations, type SecretWrites, withinLimits } from "./SecretWrites.js"
import { environmentViolation, sizeOf, type UserSecret } from "./UserSecret.js"
import { secretSubject } from "./UserSecretAudit.js"
import type { UserSecretRepository } from "./UserSecretRepository.js"

/** A text that holds several secrets. */
export interface SecretsFile {
  readonly format: SecretsFileFormat
  readonly content: Redacted.Redacted<string>
}

/** Bytes of such a text. */
const maximumFileSize = 1024 * 1024

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

interface Needs {
  readonly users: Users["Type"]
  readonly repository: UserSecretRepository["Type"]
  readonly writes: SecretWrites
  readonly yaml: SecretsYaml["Type"]
  readonly brand: string
}

/** Returns the use case of `UserSecrets` that imports a text. */
export const secretImport = ({ brand, repository, users, writes, yaml }: Needs) => {
  /** Stores secrets that break no rule by themselves, each with its entry, or none of them. */
  const storeAll = (userId: UserId, secrets: ReadonlyArray<{ readonly secret: UserSecret; readonly value: Redacted.Redacted<string> }>) =>
    transaction(
      Effect.gen(function* () {
        const { success } = yield* Audit.AuditStatus
        yield* writes.lock(userId)
        yield* withinLimits([...(yield* repository.ofUser(userId)), ...secrets.map(({ secret }) => secret)])
        return yield* Effect.forEach(secrets, ({ secret, value }, index) =>
          Effect.gen(function* () {
            const { after } = yield* writes.store(secret, value, entryPrefix(index))
            yield* Audit.record({ ...secretSubject("create", secret), status_code: success, after })
            return secret
          })
        )
      })
    )

  return Traced.fn("UserSecrets.import")(function* (reference: string, file: SecretsFile) {
    const user = yield* users.holder(reference)
    yield* Access.authorize("create", AccessObjects.ownedBy("user_secret", user.id))
    const requests = yield* requestsOf(file, brand, yaml)
    const secrets = yield* Effect.forEach(requests, (request) =>
      Effect.map(writes.recordOf(user.id, request), (secret) => ({ secret, value: request.value }))
    )
    yield* refuseViolations(
      secrets.flatMap(({ secret, value }, index) =>
        newViolations(secret, value, brand).map(({ detail, field }) => ({ field: `${entryPrefix(index)}${field}`, detail }))
      )
    )
    return yield* storeAll(user.id, secrets)
  })
}
