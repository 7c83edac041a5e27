import { Encryption, resealColumn, Timestamp } from "@atelier/core/platform"
import { GatewayKey, HostKeyRepository, HostKeys, WorkspaceRepository } from "@atelier/core/workspaces"
import { NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import ssh2 from "ssh2"
import { aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { databases } from "../../../../test/store/databases.js"
import { agentServices } from "../agents/services.js"

const aKey = () => NodeEncryption.parseKey(randomBytes(32).toString("base64"))

/** A replica of the service with these encryption keys. */
const replica = (...keys: ReadonlyArray<NodeEncryption.EncryptionKey>) =>
  Effect.map(
    Layer.build(Layer.provideMerge(Layer.fresh(Layer.merge(HostKeys.layer, GatewayKey.layer)), NodeEncryption.layer(keys))),
    (context) => ({
      encryption: Context.get(context, Encryption),
      gateway: Context.get(context, GatewayKey),
      hostKeys: Context.get(context, HostKeys)
    })
  )

const revealed = Effect.map(Redacted.value<string>)

for (const [name, database] of databases) {
  layer(agentServices(database))(`host keys on ${name}`, (it) => {
    it.scoped("are the same for two replicas that make one at the same time", () =>
      Effect.gen(function* () {
        const [first, second] = [yield* replica(), yield* replica()]
        const { workspace } = yield* aWorkspace()
        const made = Effect.all(
          [first, second, first, second].map(({ hostKeys }) => revealed(hostKeys.of(workspace.id))),
          { concurrency: 4 }
        )
        const [key = "", ...others] = yield* made
        expect(new Set(others)).toStrictEqual(new Set([key]))
        const { public_key } = yield* second.hostKeys.publicOf(workspace.id)
        const read = ssh2.utils.parseKey(key)
        if (read instanceof Error) return yield* Effect.die(read)
        expect(public_key).toBe(`ssh-ed25519 ${read.getPublicSSH().toString("base64")}`)
        const other = yield* aWorkspace()
        expect((yield* second.hostKeys.publicOf(other.workspace.id)).public_key).not.toBe(public_key)
      })
    )

    it.scoped("stay the same when the encryption key is replaced, and are replaced once when it is lost", () =>
      Effect.gen(function* () {
        const [old, present] = [aKey(), aKey()]
        const { workspace } = yield* aWorkspace()
        const before = yield* replica(old)
        const public_key = yield* before.hostKeys.publicOf(workspace.id)
        const both = yield* replica(present, old)
        yield* resealColumn(both.encryption, both.hostKeys.column)
        const after = [yield* replica(present), yield* replica(present)] as const
        expect(yield* after[0].hostKeys.publicOf(workspace.id)).toStrictEqual(public_key)
        const lost = [yield* replica(old), yield* replica(old)] as const
        const replaced = yield* Effect.all(
          lost.map(({ hostKeys }) => hostKeys.publicOf(workspace.id)),
          { concurrency: 2 }
        )
        expect(replaced[0]).not.toStrictEqual(public_key)
        expect(replaced[1]).toStrictEqual(replaced[0])
      })
    )

    it.scoped("of the gateway are the same for replicas, and stay so when the encryption key is replaced", () =>
      Effect.gen(function* () {
        const [old, present] = [aKey(), aKey()]
        const keyOf = ({ gateway }: Effect.Effect.Success<ReturnType<typeof replica>>) => revealed(gateway.key)
        const before = [yield* replica(old), yield* replica(old)]
        const [key, same] = yield* Effect.all(before.map(keyOf), { concurrency: 2 })
        expect(same).toBe(key)
        const both = yield* replica(present, old)
        expect(yield* resealColumn(both.encryption, both.gateway.column)).toStrictEqual({ resealed: 1, unreadable: 0 })
        expect(yield* keyOf(yield* replica(present))).toBe(key)
        const lost = [yield* replica(old), yield* replica(old)]
        const [replaced, again] = yield* Effect.all(lost.map(keyOf), { concurrency: 2 })
        expect(replaced).not.toBe(key)
        expect(again).toBe(replaced)
      })
    )

    it.scoped("of the gateway that no key opens is counted once", () =>
      Effect.gen(function* () {
        yield* (yield* replica(aKey())).gateway.key
        const stranger = yield* replica(aKey())
        expect(yield* resealColumn(stranger.encryption, stranger.gateway.column)).toStrictEqual({ resealed: 0, unreadable: 1 })
      })
    )

    it.scoped("go with their workspaces", () =>
      Effect.gen(function* () {
        const { hostKeys } = yield* replica()
        const repository = yield* HostKeyRepository
        const [{ workspace: gone }, { workspace: kept }] = [yield* aWorkspace(), yield* aWorkspace()]
        yield* Effect.forEach([gone, kept], ({ id }) => hostKeys.of(id))
        yield* (yield* WorkspaceRepository).markDeleted(gone.id, yield* Timestamp.now)
        yield* hostKeys.forgetting.run
        expect(yield* repository.of(gone.id)).toStrictEqual(Option.none())
        expect(Option.isSome(yield* repository.of(kept.id))).toBe(true)
      })
    )
  })
}
