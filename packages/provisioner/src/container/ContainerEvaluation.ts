/** Evaluations of templates whose agents run in containers. */
import type { Ids, Uuid } from "@atelier/core/platform"
import type { PlanInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect, Either } from "effect"
import { evaluationFailure, type PlacedEvaluation } from "../session/TemplateEngine.js"
import type { Platform } from "../template/AgentEvaluation.js"
import { evaluate } from "../template/Evaluation.js"
import type { Template } from "../template/TemplateSource.js"

/** The port for a program of the workspace where its containers have ports of their own. */
const containerPort = 13_000

/** The home directory, at its place in the image. */
const home = "~"

interface Needs {
  readonly ids: Ids["Type"]
  readonly platform: Platform
  readonly resourceType: string
}

/** Evaluates templates for containers of this platform. A workspace that shares its ports with others is given one. */
export const containerEvaluations =
  ({ ids, platform, resourceType }: Needs) =>
  (template: Template, input: PlanInput, port = containerPort): Effect.Effect<PlacedEvaluation, ProvisionFailure> =>
    Effect.gen(function* () {
      const tokens = new Map<string, Uuid.Uuid>()
      const spare = yield* ids.secret
      for (const { name } of template.definition.agents) tokens.set(name, yield* ids.secret)
      const evaluation = yield* Either.mapLeft(
        evaluate(template, input, {
          kind: "container",
          directory: home,
          resourceType,
          platform,
          port,
          token: (agent) => tokens.get(agent) ?? spare
        }),
        evaluationFailure
      )
      return { ...evaluation, port }
    })
