/** The engine's options in a provisioner daemon. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { engine } from "../src/daemon.js"

const none = Object.fromEntries(Object.keys(engine.options).map((name) => [name, undefined])) as Record<
  keyof typeof engine.options,
  undefined
>

it.scoped("a daemon refuses namespaces of organizations, which its jobs do not tell", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-kubernetes-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
    )
    const start = (text: string) =>
      Effect.gen(function* () {
        const file = join(directory, "options.yaml")
        yield* Effect.promise(() => writeFile(file, text))
        const options = { ...none, "options-file": file }
        return yield* Effect.either(Layer.build(engine.layer({ directory, environmentPrefix: "SERVICE", environment: {}, options })))
      })
    expect(yield* start("runtimeImage: agent:1\n")).toMatchObject({ _tag: "Right" })
    expect(yield* start('runtimeImage: agent:1\nnamespaces: { "0195": team-a }\n')).toMatchObject({
      left: { option: "kubernetes.namespaces" }
    })
  })
)
