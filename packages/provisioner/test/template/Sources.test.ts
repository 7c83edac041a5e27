import { describe, expect, it } from "@effect/vitest"
import { nextTurn } from "@atelier/core/platform"
import { type ProvisionerSession, ProvisionerEngines } from "@atelier/core/provisioning"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import { LocalProvisioner } from "../../src/index.js"
import { agentCommand } from "../agents.js"
import { aLog, aPlanInput, tarOf } from "../builders.js"
import { aDirectory, anEngine } from "../../../provisioner-terraform/test/engine.js"

const aLocalEngine = Effect.gen(function* () {
  const context = yield* Layer.build(LocalProvisioner.layer({ directory: yield* aDirectory, agent: { command: agentCommand() } }))
  const [engine] = Context.get(context, ProvisionerEngines)
  return engine === undefined ? yield* Effect.dieMessage("there is no engine") : engine
})

const parameter = (index: number): string => `data "coder_parameter" "p${index}" {\n  name = "p${index}"\n  default = "x"\n}\n`

const engines = [
  ["the local engine", aLocalEngine, { "template.yaml": "parameters: [{name: p0, default: x}]\n" }],
  [
    "Terraform",
    Effect.map(anEngine(), ({ engine }) => engine),
    // Large enough that others have their turn between the files
    { "a.tf": Array.from({ length: 3_000 }, (_, index) => `locals {\n  l${index} = [1, 2, 3]\n}\n`).join(""), "main.tf": parameter(0) }
  ]
] as const

describe.each(engines)("an open source of %s", (_, made, files) => {
  it.scopedLive("has a form for others after a caller has gone while it was read", () =>
    Effect.gen(function* () {
      const engine = yield* made
      const source: ProvisionerSession = yield* engine.open(yield* Effect.promise(() => tarOf(Object.entries(files))), aLog().sink)
      const { preview = () => Effect.dieMessage("there are no forms") } = source
      const form = preview(aPlanInput())
      const leaving = yield* Effect.fork(form)
      const staying = yield* Effect.fork(form)
      yield* nextTurn
      expect(Exit.isInterrupted(yield* Fiber.interrupt(leaving))).toBe(true)
      const forms = [yield* Fiber.join(staying), yield* form]
      expect(forms.map(({ parameters }) => parameters.map(({ name }) => name))).toStrictEqual([["p0"], ["p0"]])
    })
  )
})
