/** Imports, plans and builds of `template.yaml`, whatever engine makes its workspaces. templates-and-provisioning.md §9. */
import { type Engine, type Plan, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { type ArchiveFile, readFiles } from "../engine/Archive.js"
import { madeOnce } from "../engine/madeOnce.js"
import { preview } from "../template/Evaluation.js"
import { templateVariables } from "../template/ParameterEvaluation.js"
import { readTemplate } from "../template/TemplateSource.js"
import { formatProblem } from "../template/YamlSource.js"
import { handOvers } from "./HandOver.js"
import { evaluationFailure, refusal, type TemplateEngine, type TemplateState } from "./TemplateEngine.js"
import { previousState, say, transitions } from "./Transitions.js"

/** Bytes of a `README.md` that are kept. */
const maximumReadme = 1024 * 1024

const readmeOf = (files: ReadonlyMap<string, ArchiveFile>): Effect.Effect<string, ProvisionFailure> => {
  const bytes = files.get("README.md")?.bytes ?? new Uint8Array(0)
  if (bytes.byteLength > maximumReadme) return new ProvisionFailure({ message: `README.md is larger than ${maximumReadme} bytes` })
  const readme = new TextDecoder().decode(bytes)
  const nul = readme.indexOf("\0")
  if (nul < 0) return Effect.succeed(readme)
  const before = readme.slice(0, nul).split("\n")
  const place = { file: "README.md", line: before.length, column: (before.at(-1) ?? "").length + 1 }
  return refusal([{ ...place, cause: "must not contain the character U+0000" }])
}

const nothing: Plan = { resources: [], parameters: [], presets: [], daily_cost: 0, has_ai_task: false, has_external_agent: false }

/** How sources of `template.yaml` are opened for an engine. */
export const openTemplates = <State extends TemplateState>(engine: TemplateEngine<State>): Engine["open"] => {
  const { evaluated, rules } = engine
  const handOver = handOvers(engine)
  const transition = transitions(engine)

  return (source, log) =>
    Effect.gen(function* () {
      const files = yield* Effect.mapError(
        readFiles(source),
        ({ message }) => new ProvisionFailure({ message: `the template's ${message}` })
      )
      yield* say(log, "Setting up", `The template's source has ${files.size === 1 ? "1 file" : `${files.size} files`}.`)
      const template = yield* madeOnce(Effect.mapError(readTemplate(files, rules), refusal))

      return {
        parse: Effect.gen(function* () {
          const read = yield* template
          const variables = templateVariables(read)
          yield* say(
            log,
            "Parsing template parameters",
            `Variables: ${variables.length}, parameters: ${read.definition.parameters.length}, agents: ${read.definition.agents.length}.`
          )
          return {
            variables,
            readme: yield* readmeOf(files),
            workspace_tags: Object.fromEntries(Object.entries(read.definition.tags).map(([key, text]) => [key, text.source]))
          }
        }),

        preview: (input) => Effect.flatMap(template, (read) => Effect.mapError(preview(read, input), evaluationFailure)),

        workspaceTags: (input) =>
          Effect.gen(function* () {
            const { plan } = yield* evaluated(yield* template, { ...input, previous_parameters: [], state: new Uint8Array(0) })
            return plan.workspace_tags ?? {}
          }),

        handOver: (input) =>
          Effect.gen(function* () {
            const previous = yield* previousState(engine, input)
            return yield* handOver(yield* template, input, previous)
          }),

        plan: (input) =>
          Effect.gen(function* () {
            const stage = "Planning Infrastructure"
            yield* previousState(engine, input)
            if (input.metadata.transition === "delete") return nothing
            const read = yield* template
            for (const warning of read.warnings) yield* say(log, stage, formatProblem(warning), "warn")
            const { plan } = yield* evaluated(read, input)
            for (const { agents, name, type } of plan.resources)
              yield* say(log, stage, `${type}.${name}, agents: ${agents.map((agent) => agent.name).join(", ") || "none"}`)
            return plan
          }),

        apply: (input) => transition(template, input, log)
      }
    })
}
