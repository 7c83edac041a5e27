import { Context, type Effect, type Option, type Redacted, Schema } from "effect"
import type { SshKeyAlgorithm } from "../../deployment/options/DeploymentOptions.js"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { SealedColumn, SealedRow } from "../../platform/store/Resealing.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { UserId } from "../users/User.js"

/** The key pair that a user's workspaces authenticate to git servers with. Only workspace agents are given the private half. */
export const GitSshKey = Schema.Struct({
  user_id: UserId,
  created_at: Timestamp,
  updated_at: Timestamp,
  /** One line of an `authorized_keys` file, with the newline at its end. */
  public_key: Schema.String
})
export interface GitSshKey extends Schema.Schema.Type<typeof GitSshKey> {}

export interface SshKeyPair {
  readonly public_key: string
  /** PEM: OpenSSH's own form for Ed25519, SEC 1 for ECDSA, PKCS #1 for RSA. */
  readonly private_key: Redacted.Redacted<string>
}

/** Makes key pairs. */
export class SshKeyGenerator extends Context.Tag("@atelier/core/SshKeyGenerator")<
  SshKeyGenerator,
  {
    readonly generate: (algorithm: SshKeyAlgorithm) => Effect.Effect<SshKeyPair>
  }
>() {}

/** A private half that was stored before they were encrypted. */
export interface PlainPrivateKey {
  readonly user_id: UserId
  readonly private_key: Redacted.Redacted<string>
}

/** A user's pair as it is stored. */
export interface StoredSshKeyPair {
  readonly public_key: string
  readonly private_key: SealedRow | PlainPrivateKey
}

/** A key's row has its user's id. */
export class GitSshKeyRepository extends Context.Tag("@atelier/core/GitSshKeyRepository")<
  GitSshKeyRepository,
  {
    /** Stores a user's key in place of a former one, whose creation time is kept. Returns the stored key. */
    readonly store: (key: GitSshKey, privateKey: Sealed) => Effect.Effect<GitSshKey>
    /** The user's public key, and when it was made. */
    readonly ofUser: (userId: UserId) => Effect.Effect<Option.Option<GitSshKey>>
    /** Both halves: the only statement that reads a private one for its use. */
    readonly pairOf: (userId: UserId) => Effect.Effect<Option.Option<StoredSshKeyPair>>
    /** At most `limit` private halves that are not encrypted, of the users with the ids after this one. */
    readonly plain: (after: UserId, limit: number) => Effect.Effect<ReadonlyArray<PlainPrivateKey>>
    /** Encrypts one of them. Returns false if another value was stored since. */
    readonly seal: (key: PlainPrivateKey, sealed: Sealed) => Effect.Effect<boolean>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
  }
>() {}
