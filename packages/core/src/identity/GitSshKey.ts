import { Context, type Effect, Redacted, Schema } from "effect"
import type { Option } from "effect"
import type { SshKeyAlgorithm } from "../deployment/DeploymentOptions.js"
import { Timestamp } from "../platform/Timestamp.js"
import { UserId } from "./User.js"

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

export class GitSshKeyRepository extends Context.Tag("@atelier/core/GitSshKeyRepository")<
  GitSshKeyRepository,
  {
    readonly insert: (key: GitSshKey, privateKey: Redacted.Redacted<string>) => Effect.Effect<void>
    /** The user's public key, and when it was made. */
    readonly ofUser: (userId: UserId) => Effect.Effect<Option.Option<GitSshKey>>
    /** Both halves: the only statement that reads the private one. */
    readonly pairOf: (userId: UserId) => Effect.Effect<Option.Option<SshKeyPair>>
  }
>() {}
