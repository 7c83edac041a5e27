import { Access, SystemActor } from "@atelier/core/access"
import { CryptoKeys } from "@atelier/core/deployment"
import { NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, TestClock } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const asRotator = Access.actingAs(SystemActor.cryptoKeyRotator)

const rotate = Effect.flatMap(CryptoKeys, (keys) => asRotator(keys.rotate))

const verifying = Effect.flatMap(CryptoKeys, (keys) => asRotator(keys.verifying("workspace_apps_token")))

for (const [name, database] of databases) {
  const services = CryptoKeys.layer.pipe(Layer.provide(NodeEncryption.layer()), Layer.provideMerge(Layer.merge(database, runtime)))
  layer(services)(`signing keys on ${name}`, (it) => {
    it.effect("have a successor before their end, verify for an hour after it, and are wiped", () =>
      Effect.gen(function* () {
        const [first] = yield* verifying
        expect([first?.sequence, first?.deletes_at]).toStrictEqual([1, null])
        expect(first === undefined ? 0 : Redacted.value(first.secret).length).toBe(64)
        yield* TestClock.adjust("29 days")
        yield* rotate
        expect(yield* verifying).toHaveLength(1)
        yield* TestClock.adjust("23 hours")
        yield* Effect.all([rotate, rotate, rotate], { concurrency: 3 })
        const both = yield* verifying
        expect(both.map(({ sequence }) => sequence)).toStrictEqual([2, 1])
        const [second, old] = both
        const millis = (text: string | null | undefined) => Date.parse(text ?? "")
        const day = 86_400_000
        expect(millis(second?.starts_at) - millis(old?.starts_at)).toBe(30 * day)
        expect(millis(old?.deletes_at) - millis(second?.starts_at)).toBe(61 * 60_000)
        yield* TestClock.adjust("2 hours")
        expect(yield* verifying).toHaveLength(2)
        yield* TestClock.adjust("1 minutes")
        yield* rotate
        expect((yield* verifying).map(({ sequence }) => sequence)).toStrictEqual([2])
        const sql = yield* Statements
        expect(yield* sql`SELECT sequence FROM crypto_keys WHERE feature = 'workspace_apps_token' AND secret IS NULL`).toStrictEqual([
          { sequence: 1 }
        ])
      })
    )

    it.effect("are stored encrypted", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const found = yield* Effect.flatMap(CryptoKeys, (keys) => asRotator(keys.verifying("workspace_apps_api_key")))
        const secret = found[0] === undefined ? new Uint8Array() : Redacted.value(found[0].secret)
        expect(secret.length).toBe(32)
        const [row] = yield* sql<{
          readonly secret: Uint8Array
        }>`SELECT secret FROM crypto_keys WHERE feature = 'workspace_apps_api_key' ORDER BY sequence DESC`
        expect(Buffer.from(row?.secret ?? []).includes(Buffer.from(secret))).toBe(false)
      })
    )
  })
}
