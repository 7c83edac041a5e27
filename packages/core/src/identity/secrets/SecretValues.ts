import { Array as Arr, Context, Effect, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { aiProviderColumn, AiProviderRepository } from "../../ai/AiProvider.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { cryptoKeyColumn, CryptoKeyRepository } from "../../deployment/cryptoKeys/CryptoKey.js"
import { ExternalAuthRepository } from "../../externalAuth/ExternalAuthRepository.js"
import { externalAuthTokenColumn } from "../../externalAuth/ExternalTokenSealing.js"
import { pushKeyColumn } from "../../notifications/PushKeySealing.js"
import { Encryption, type Sealed } from "../../platform/secrets/Encryption.js"
import { Forbidden } from "../../platform/Errors.js"
import { openRow, resealColumn, type Resealing, type SealedColumn, SealedColumns } from "../../platform/store/Resealing.js"
import { GitSshKeyRepository } from "./GitSshKey.js"
import { gitSshKeyColumn, sealPlainKeys } from "./GitSshKeySealing.js"
import { linkTokenColumn } from "../logins/LinkTokenSealing.js"
import type { UserId } from "../users/User.js"
import { UserLinkRepository } from "../logins/UserLinkRepository.js"
import type { UserSecret } from "./UserSecret.js"
import { UserSecretRepository } from "./UserSecretRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"

/** A secret as a workspace gets it. */
export interface DeliveredSecret {
  /** Empty when it becomes no variable. */
  readonly env_name: string
  /** Empty when it becomes no file. */
  readonly file_path: string
  readonly value: Redacted.Redacted<Uint8Array>
}

/** The methods of {@link SecretValues}. */
export interface SecretValuesService {
  /** A value as its row stores it. */
  readonly seal: (secret: Pick<UserSecret, "id" | "user_id">, value: Redacted.Redacted<string>) => Effect.Effect<Sealed>

  /**
   * Returns the secrets that an agent of the user's workspaces is given. A value that cannot be decrypted is left out and logged, so that
   * the workspace still starts. Fails with `Forbidden` if the actor is not an agent of the user. agents-and-apps.md §14, "Manifest".
   */
  readonly ofAgent: (ownerId: UserId) => Effect.Effect<ReadonlyArray<DeliveredSecret>, Forbidden, CurrentActor>

  /**
   * Encrypts anew, with the first key, everything that another key encrypted: users' secrets, their keys for git, what providers of
   * logins and of external authentication gave for them, the keys of AI providers, signing keys, the key of web push, and the states of builds. The other keys can be given up then. Fails with `Forbidden` if the actor may not rotate keys. Safe beside requests and beside itself; a call that ends early leaves the rest to the next one.
   */
  readonly reseal: () => Effect.Effect<Resealing, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const secrets = yield* UserSecretRepository
  const gitSshKeys = yield* GitSshKeyRepository
  const links = yield* UserLinkRepository
  const externalAuth = yield* ExternalAuthRepository
  const aiProviders = yield* AiProviderRepository
  const cryptoKeys = yield* CryptoKeyRepository
  const values = yield* DeploymentValues
  const encryption = yield* Encryption
  const further = yield* SealedColumns

  const secretColumn: SealedColumn = {
    name: "a user's secret",
    placeOf: ({ id, user_id }) => `user_secrets.value/${user_id}/${id}`,
    sealedOtherwise: secrets.sealedOtherwise,
    reseal: secrets.reseal
  }

  /** Everything that is encrypted. */
  const columns = [
    secretColumn,
    gitSshKeyColumn(gitSshKeys),
    linkTokenColumn(links),
    externalAuthTokenColumn(externalAuth),
    aiProviderColumn(aiProviders),
    cryptoKeyColumn(cryptoKeys),
    pushKeyColumn(values),
    ...further.map(({ column }) => column)
  ]

  /** Encrypts everything that an older version stored as plaintext. */
  const sealPlain = Effect.map(
    Effect.all([sealPlainKeys(encryption, gitSshKeys), ...further.map((column) => column.sealPlain)]),
    Arr.reduce(0, (sum, count) => sum + count)
  )

  return {
    seal: (secret: Pick<UserSecret, "id" | "user_id">, value: Redacted.Redacted<string>): Effect.Effect<Sealed> =>
      encryption.seal(new TextEncoder().encode(Redacted.value(value)), secretColumn.placeOf(secret)),

    ofAgent: Traced.fn("SecretValues.ofAgent")(function* (ownerId: UserId) {
      const { agentId, userId } = yield* CurrentActor
      if (agentId === undefined || userId !== ownerId) return yield* new Forbidden()
      const found = yield* Effect.forEach(yield* secrets.delivered(ownerId), (secret) =>
        Effect.map(
          openRow(encryption, secretColumn, secret),
          Option.map((value): DeliveredSecret => ({
            env_name: secret.env_name,
            file_path: secret.file_path,
            value: Redacted.make(value)
          }))
        )
      )
      return Arr.getSomes(found)
    }),

    reseal: Traced.fn("SecretValues.reseal")(function* () {
      yield* Access.authorize("update", AccessObjects.bare("crypto_key"))
      const plain: Resealing = { resealed: yield* sealPlain, unreadable: 0 }
      const results = yield* Effect.forEach(columns, (column) => resealColumn(encryption, column))
      return [plain, ...results].reduce((sum, { resealed, unreadable }): Resealing => ({
        resealed: sum.resealed + resealed,
        unreadable: sum.unreadable + unreadable
      }))
    })
  }
})

/** The values of user secrets, which are stored encrypted and given to workspace agents only. */
export class SecretValues extends Context.Tag("@atelier/core/SecretValues")<SecretValues, SecretValuesService>() {
  static readonly layer = service(SecretValues, make)
}
