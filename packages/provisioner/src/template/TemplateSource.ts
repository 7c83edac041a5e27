/**
 * Finds the template in a source, and everything that is wrong with it, each with its place in the file.
 */
import { nextTurn } from "@atelier/core/platform"
import { Effect, Either, Schema } from "effect"
import type { ArchiveFile } from "../engine/Archive.js"
import { templatePath } from "../engine/TemplatePath.js"
import { engineProblems, type EngineRules } from "./EngineRules.js"
import type { ExpressionProblem } from "./Expression.js"
import { excessiveExpression, maximumExpressionTokens } from "./ExpressionLimit.js"
import { type Placed, within } from "./Placed.js"
import { referenceProblems, unquotedValues } from "./ReferenceRules.js"
import { decodeProblems } from "./SchemaFindings.js"
import { fileProblems } from "./SourceFiles.js"
import { TemplateFile } from "./TemplateFile.js"
import { addressProblems, nameProblems, parameterProblems, rewrittenValues, undefinedPresetParameters } from "./TemplateRules.js"
import { maximumProblems, type Problem, readYaml, type YamlSource } from "./YamlSource.js"

/** A template that is sound as far as it can be known without any value. */
export interface Template {
  readonly definition: TemplateFile
  readonly yaml: YamlSource
  /** Advice for the template's author; no rule is broken. */
  readonly warnings: ReadonlyArray<Problem>
  /** The source's files by path. */
  readonly files: ReadonlyMap<string, ArchiveFile>
}

/** Reads and checks the template of a source, in pieces between which others have their turn. `rules` are those of the engine that is to run it. */
export const readTemplate = (
  files: ReadonlyMap<string, ArchiveFile>,
  rules?: EngineRules
): Effect.Effect<Template, ReadonlyArray<Problem>> =>
  Effect.gen(function* () {
    const file = templatePath(files.keys()) ?? "template.yaml"
    const yaml = yield* readYaml(file, files.get(file)?.bytes ?? new Uint8Array(0))
    const excessive = excessiveExpression(yaml.value)
    if (excessive !== undefined) {
      return yield* Effect.fail([yaml.problem(excessive, `the template's expressions have more than ${maximumExpressionTokens} parts`)])
    }
    yield* nextTurn
    const definition = yield* Either.mapLeft(
      Schema.decodeUnknownEither(TemplateFile, { onExcessProperty: "error", errors: "all" })(yaml.value),
      (error) => decodeProblems(yaml, error)
    )
    yield* nextTurn
    const place = (findings: ReadonlyArray<Placed<string | ExpressionProblem>>): ReadonlyArray<Problem> =>
      findings
        .slice(0, maximumProblems)
        .map(({ path, value }) =>
          typeof value === "string"
            ? yaml.problem(path, `${within(path)}${value}`)
            : yaml.problem(path, `${within(path)}${value.message}`, value.offset)
        )
    const refusals = rules === undefined ? [] : place(engineProblems(definition, new TextDecoder().decode(files.get(file)?.bytes), rules))
    if (refusals.length > 0) return yield* Effect.fail(refusals)
    const problems = place([
      ...nameProblems(definition),
      ...definition.parameters.flatMap((parameter, index) => parameterProblems(parameter, ["parameters", index])),
      ...rewrittenValues(definition, yaml),
      ...addressProblems(definition),
      ...fileProblems(definition, files),
      ...referenceProblems(definition)
    ])
    if (problems.length > 0) return yield* Effect.fail(problems)
    const withoutAgents = { path: [], value: "the template has no agents, so its workspaces have nothing to connect to" }
    const warnings = place([
      ...(definition.agents.length === 0 ? [withoutAgents] : []),
      ...unquotedValues(definition),
      ...undefinedPresetParameters(definition)
    ])
    return { definition, yaml, warnings, files }
  })
