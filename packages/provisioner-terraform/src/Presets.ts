/** What no version can be made with, in a template's presets, found without Terraform. templates-and-provisioning.md §3.2. */
import type { Validation } from "@atelier/core/platform"
import type { PreviewInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { evaluateForm } from "./Form.js"
import { valueOrNone } from "./Modules.js"
import type { ModuleTree } from "./ModuleTree.js"
import { Place, reading, rootOf, withCalled } from "./Root.js"
import { toMap, toText, type Value } from "./Values.js"

/** Parameters that are evaluated with the values of presets, those of all presets together. The import checks the presets after these. */
const maximumEvaluations = 10_000

interface Preset {
  /** Undefined where it is not known, or no text. */
  readonly name: string | undefined
  readonly isDefault: boolean
  /** The values of one whose workspaces are made beforehand, and so have to be complete; those of others may be completed by users. */
  readonly values: ReadonlyMap<string, Value> | undefined
}

const valuesOf = (place: Place): ReadonlyMap<string, Value> => {
  const values = place.value("parameters")
  return values === null ? new Map() : toMap(values)
}

const presetsOf = (tree: ModuleTree, input: PreviewInput): ReadonlyArray<Preset> => {
  return [...withCalled(rootOf(tree, input))].flatMap((module) =>
    [...module.source.blocks].flatMap(([address, block]) => {
      if (block.type !== "data" || block.labels[0] !== "coder_workspace_preset") return []
      return (module.instances(address, block) ?? []).map(({ names }): Preset => {
        const place = new Place(module, block, names)
        const name = valueOrNone(() => place.value("name"))
        const isPrebuilt = block.blocks.some(
          (part) => part.type === "prebuilds" && (new Place(module, part, names).number("instances") ?? 0) > 0
        )
        return {
          name: typeof name === "string" ? name : undefined,
          isDefault: place.flag("default"),
          values: isPrebuilt ? valueOrNone(() => valuesOf(place)) : undefined
        }
      })
    })
  )
}

const nameless: Validation = { field: "", detail: "The name of a preset has to be a text that is known before an apply." }

/** The violations of presets, each under the preset's name. */
export const presetViolations = (tree: ModuleTree, input: PreviewInput): Effect.Effect<ReadonlyArray<Validation>, ProvisionFailure> =>
  Effect.gen(function* () {
    const presets = yield* reading(() => presetsOf(tree, input))
    const violations: Array<Validation> = []
    let hasDefault = false
    let evaluations = 0
    for (const { isDefault, name, values } of presets) {
      if (name === undefined) {
        violations.push(nameless)
        continue
      }
      if (isDefault && hasDefault) violations.push({ field: name, detail: "Another preset is the default." })
      hasDefault ||= isDefault
      if (values === undefined || evaluations >= maximumEvaluations) continue
      const given = Array.from(values, ([key, value]) => ({ name: key, value: valueOrNone(() => toText(value)) ?? "" }))
      const { diagnostics: faults, parameters } = yield* evaluateForm(tree, { ...input, parameters: given })
      evaluations += parameters.length
      const known = new Set(parameters.map((parameter) => parameter.name))
      // A module that the import has to download may have the parameter
      const isWhole = !faults.some(({ extra }) => extra.code === "module_not_loaded")
      const foreign = isWhole ? given.find((one) => !known.has(one.name)) : undefined
      const wrong = parameters.find(({ diagnostics }) => diagnostics.some(({ severity }) => severity === "error"))
      if (foreign !== undefined) {
        violations.push({ field: name, detail: `The template has no parameter ${JSON.stringify(foreign.name.slice(0, 100))}.` })
      } else if (wrong !== undefined) {
        const why = wrong.diagnostics.map(({ detail, summary }) => `${summary}: ${detail}`).join("; ")
        violations.push({ field: name, detail: `The parameter ${JSON.stringify(wrong.name.slice(0, 100))}: ${why}` })
      }
    }
    return violations
  })
