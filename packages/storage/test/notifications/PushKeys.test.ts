import { DeploymentValues } from "@atelier/core/deployment"
import { PasswordHasher } from "@atelier/core/identity"
import { PushSenders, WebPush } from "@atelier/core/notifications"
import { EventBus, Uuid } from "@atelier/core/platform"
import { GatewayKey } from "@atelier/core/workspaces"
import { NodeEncryption, NodePushSender, NodeSshKeyGenerator } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

const key = "webpush_keys"

for (const [name, database] of databases) {
  /** Runs once, after a value was read. */
  let afterReading: Effect.Effect<unknown> = Effect.void
  const hooked = Layer.map(database, (context) => {
    const values = Context.get(context, DeploymentValues)
    const get: typeof values.get = (value) =>
      Effect.tap(values.get(value), () => {
        const run = afterReading
        afterReading = Effect.void
        return run
      })
    return Context.add(context, DeploymentValues, { ...values, get })
  })
  const services = Layer.merge(WebPush.layer, GatewayKey.layer).pipe(
    Layer.provide(Layer.succeed(PushSenders, NodePushSender.make())),
    Layer.provideMerge(Layer.merge(PasswordHasher.layerPbkdf2(1_000), NodeSshKeyGenerator.layer)),
    Layer.provideMerge(NodeEncryption.layer()),
    Layer.provideMerge(Layer.mergeAll(hooked, runtime, EventBus.layerMemory))
  )
  layer(services)(`the keys of web push on ${name}`, (it) => {
    it.effect("that cannot be read are replaced once by two processes", () =>
      Effect.gen(function* () {
        const { publicKey } = yield* WebPush
        yield* (yield* DeploymentValues).put(key, "unreadable")
        let others = ""
        afterReading = Effect.tap(publicKey, (made) => Effect.sync(() => void (others = made)))
        const own = yield* publicKey
        expect(others).not.toBe("")
        expect([own, yield* publicKey]).toStrictEqual([others, others])
      })
    )
  })

  layer(services)(`a value of the deployment that is encrypted anew on ${name}`, (it) => {
    it.effect("is not put in place of a newer one", () =>
      Effect.gen(function* () {
        const values = yield* DeploymentValues
        const { column, key: hostKey } = yield* GatewayKey
        yield* hostKey
        const [row] = yield* column.sealedOtherwise("another key", Uuid.nil, 1)
        if (row === undefined) return yield* Effect.dieMessage("there is no host key")
        const place = "ssh_gateway_host_key"
        afterReading = values.put(place, "newer")
        expect(yield* column.reseal(row.id, row.value, { ...row.value, key_id: "another key" })).toBe(false)
        expect(yield* values.get(place)).toStrictEqual(Option.some("newer"))
      })
    )
  })
}
