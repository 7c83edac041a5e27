import { Deployment, DeploymentValues } from "@atelier/core/deployment"
import { Uuid } from "@atelier/core/platform"
import { layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { expect } from "vitest"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`deployment values on ${name}`, (it) => {
    it.effect("keep the first stored value of concurrent writers", () =>
      Effect.gen(function* () {
        const values = yield* DeploymentValues
        expect(yield* values.get("answer")).toStrictEqual(Option.none())
        const answers = yield* Effect.forEach(Array.from("abcdef"), (value) => values.getOrInsert("answer", value), {
          concurrency: "unbounded"
        })
        expect(new Set(answers).size).toBe(1)
        expect(yield* values.get("answer")).toStrictEqual(Option.some(answers[0]))
      })
    )

    it.effect("give every process of the deployment one id", () =>
      Effect.gen(function* () {
        const start = Effect.map(Layer.build(Layer.fresh(Deployment.layer)), Context.get(Deployment))
        const [first, second] = yield* Effect.scoped(Effect.all([start, start], { concurrency: "unbounded" }))
        expect(Uuid.isUuid(first.id)).toBe(true)
        expect(second.id).toBe(first.id)
      })
    )
  })
}
