/** The keys by which SSH clients know workspaces again. agents-and-apps.md §17b. */
import { Context, Effect, Option, Redacted } from "effect"
import { SshKeyGenerator } from "../../identity/secrets/GitSshKey.js"
import type { Worker } from "../../platform/background/Worker.js"
import { Encryption, type Sealed } from "../../platform/secrets/Encryption.js"
import { openRow, type SealedColumn } from "../../platform/store/Resealing.js"
import { nil } from "../../platform/texts/Uuid.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { service } from "../../platform/wiring/Standing.js"
import type { WorkspaceId } from "../Workspace.js"
import { publicKeyOf, type WorkspaceHostKey } from "./HostKey.js"
import { HostKeyRepository } from "./HostKeyRepository.js"

/** A row's id is that of its workspace. */
const placeOf: SealedColumn["placeOf"] = ({ id }) => `workspace_host_keys.sealed_key/${id}`

/** The methods of {@link HostKeys}. */
export interface HostKeysService {
  readonly column: SealedColumn

  /**
   * Returns a workspace's private key, an Ed25519 key in OpenSSH's form, which is made when it is first asked for and never changes. A key that none of
   * the deployment's encryption keys opens is replaced, and logged. For the workspace's own agent alone.
   */
  readonly of: (id: WorkspaceId) => Effect.Effect<Redacted.Redacted>

  /** Returns the public half of a workspace's key, which is made as by `of`. The caller checks the right to the workspace. */
  readonly publicOf: (id: WorkspaceId) => Effect.Effect<WorkspaceHostKey>

  /** Deletes the keys of deleted workspaces. */
  readonly forgetting: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* HostKeyRepository
  const generator = yield* SshKeyGenerator
  const encryption = yield* Encryption

  const column: SealedColumn = {
    name: "a workspace's host key",
    placeOf,
    sealedOtherwise: repository.sealedOtherwise,
    reseal: repository.reseal
  }

  const open = (id: WorkspaceId, value: Sealed) =>
    Effect.map(
      openRow(encryption, column, { id, user_id: nil, value }),
      Option.map((bytes) => Redacted.make(new TextDecoder().decode(bytes)))
    )

  const of = (id: WorkspaceId): Effect.Effect<Redacted.Redacted> =>
    Effect.gen(function* () {
      const stored = Option.getOrUndefined(yield* repository.of(id))
      const known = stored === undefined ? Option.none() : yield* open(id, stored)
      if (Option.isSome(known)) return known.value
      const { private_key } = yield* generator.generate("ed25519")
      const sealed = yield* encryption.seal(new TextEncoder().encode(Redacted.value(private_key)), placeOf({ id, user_id: nil }))
      // Another replica may have been faster: its key counts
      const kept = yield* open(id, yield* repository.keep(id, sealed, stored, yield* Timestamp.now))
      return Option.getOrElse(kept, () => private_key)
    })

  return {
    column,

    of,

    publicOf: (id: WorkspaceId): Effect.Effect<WorkspaceHostKey> =>
      Effect.map(of(id), (key) => ({ public_key: publicKeyOf(Redacted.value(key)) })),

    forgetting: {
      name: "forget-host-keys",
      every: "1 day",
      run: Effect.asVoid(repository.forgetDeleted)
    } satisfies Worker<never>
  }
})

/** The host keys of workspaces. */
export class HostKeys extends Context.Tag("@atelier/core/HostKeys")<HostKeys, HostKeysService>() {
  static readonly layer = service(HostKeys, make)
}
