/** An engine that makes nothing: a build succeeds at once, and costs what its template says. */
import { type Engine, type Plan, type PlanInput, ProvisionerEngines, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect, Layer } from "effect"

/** The file of a template, which holds the daily cost of a workspace. */
export const templateFile = "cost.txt"

const planOf = (cost: number, { metadata: { transition } }: PlanInput): Plan => ({
  resources: [],
  parameters: [],
  presets: [],
  daily_cost: transition === "start" ? cost : 0,
  has_ai_task: false,
  has_external_agent: false
})

const engine: Engine = {
  name: "nothing",
  repeatable: new Set(["parse", "plan", "apply"]),
  understands: ({ paths }) => paths.includes(templateFile),
  open: (source) =>
    Effect.gen(function* () {
      const cost = Number(/\d+/.exec(new TextDecoder().decode(source.subarray(512)))?.[0])
      if (Number.isNaN(cost)) return yield* new ProvisionFailure({ message: `${templateFile} must hold a number` })
      return {
        parse: Effect.succeed({ variables: [], readme: "", workspace_tags: {} }),
        plan: (input) => Effect.succeed(planOf(cost, input)),
        apply: () => Effect.succeed({ resources: [], state: new Uint8Array() })
      }
    })
}

export const layer = Layer.succeed(ProvisionerEngines, [engine])
