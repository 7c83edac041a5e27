/** Forms of a template in Terraform's language, evaluated without Terraform. templates-and-provisioning.md §4.5, §4.6. */
import { nextTurn } from "@atelier/core/platform"
import {
  type Diagnostic,
  errorDiagnostic,
  type FormParameter,
  type ParameterForm,
  type PreviewInput,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { inFormOrder } from "@atelier/core/templates"
import { Clock, Effect, Either } from "effect"
import { type ConfiguredBlock, SourceError } from "./Configuration.js"
import type { Module } from "./Modules.js"
import { parameterOf } from "./Parameters.js"
import type { ModuleTree } from "./ModuleTree.js"
import { Place, reading, rootOf } from "./Root.js"
import { EvaluationError } from "./EvaluationError.js"

const maximumParameters = 1_000

/** Milliseconds for which a form is evaluated before others have their turn. */
const turn = 10

const notLoaded = (name: string, { file, line }: ConfiguredBlock): Diagnostic => ({
  severity: "warning",
  summary: "Module not loaded. Did you run `terraform init`?",
  detail: `Module 'module "${name}"' in file "${file}:${line}" cannot be resolved. This module will be ignored.`,
  extra: { code: "module_not_loaded" }
})

/** A parameter's block in a module. */
interface Found {
  readonly place: Place
  readonly label: string
  readonly address: string
  readonly block: ConfiguredBlock
}

/** A part of the form that has no value. */
const brokenPart = ({ file, labels, line, type }: ConfiguredBlock, { cause }: EvaluationError): Diagnostic => {
  const summary =
    type === "module"
      ? `The module ${labels[0] ?? ""} cannot be evaluated`
      : `Invalid "name" attribute for block coder_parameter.${labels[1] ?? ""}`
  return errorDiagnostic(summary, `${file}:${line}: ${cause}`)
}

/** Goes through the blocks of a module and those it calls, and gives nothing for a block that is no parameter. */
function* findParameters(module: Module, diagnostics: Array<Diagnostic>): Generator<Found | undefined> {
  for (const [address, block] of module.source.blocks) {
    yield undefined
    try {
      if (block.type === "data" && block.labels[0] === "coder_parameter") {
        const label = block.labels[1] ?? ""
        for (const { key, names } of module.instances(address, block) ?? []) {
          const index = key === undefined ? "" : `[${JSON.stringify(key)}]`
          yield { place: new Place(module, block, names), label, address: address + index, block }
        }
      } else if (block.type === "module") {
        const name = block.labels[0] ?? ""
        if (!module.isLoaded(name)) diagnostics.push(notLoaded(name, block))
        for (const [, inner] of module.modules(name) ?? []) yield* findParameters(inner, diagnostics)
      }
    } catch (error) {
      // A module that is not HCL is for the import to tell, as the root is
      if (!(error instanceof EvaluationError) || error.isLimit === true || error instanceof SourceError) throw error
      diagnostics.push(brokenPart(block, error))
    }
  }
}

/** Parameters with one name, each with its place. */
const duplicates = (found: ReadonlyArray<readonly [string, Found]>): ReadonlyArray<Diagnostic> => {
  const byName = new Map<string, Array<readonly [string, Found]>>()
  for (const each of found) byName.set(each[0], [...(byName.get(each[0]) ?? []), each])
  return [...byName].flatMap(([name, places]) => {
    if (places.length < 2) return []
    const lines = places.map(
      ([, { address, block }]) => `block ${JSON.stringify(address.replaceAll('"', ""))} at ${block.file}:${block.line},1-5\n`
    )
    return [
      errorDiagnostic(`Found ${places.length} duplicate parameters with name ${JSON.stringify(name)}, this is not allowed`, lines.join(""))
    ]
  })
}

/** Evaluates the form. Fails where the source is broken or needs too much work. Faults of one parameter are its diagnostics. */
export const evaluateForm = (tree: ModuleTree, input: PreviewInput): Effect.Effect<ParameterForm, ProvisionFailure> =>
  Effect.gen(function* () {
    const given = new Map(input.parameters.map(({ name, value }) => [name, value]))
    const diagnostics: Array<Diagnostic> = []
    const root = yield* reading(() => rootOf(tree, input))
    const { work } = root.context
    let begunAt = yield* Clock.currentTimeMillis
    const giveTurn = Effect.gen(function* () {
      if ((yield* Clock.currentTimeMillis) - begunAt <= turn) return
      yield* nextTurn
      begunAt = yield* Clock.currentTimeMillis
    })
    const found: Array<Found> = []
    const search = findParameters(root, diagnostics)
    for (;;) {
      yield* giveTurn
      const next = yield* reading(() => search.next())
      if (next.done === true) break
      if (next.value !== undefined) found.push(next.value)
      // Not after the search: the instances of all blocks together have no bound but memory
      if (found.length > maximumParameters) {
        return yield* new ProvisionFailure({ message: `The template has more than ${maximumParameters} parameters.` })
      }
    }
    const parameters: Array<FormParameter> = []
    const named: Array<readonly [string, Found]> = []
    for (const parameter of found) {
      yield* giveTurn
      work.nextPart()
      const shown = yield* reading(() => work.answer(parameterOf(parameter.place, parameter.label, given)))
      if (Either.isLeft(shown)) diagnostics.push(shown.left)
      else {
        parameters.push(shown.right)
        named.push([shown.right.name, parameter])
      }
    }
    return { diagnostics: [...diagnostics, ...duplicates(named)], parameters: inFormOrder(parameters) }
  })
