/** Tags that a template in Terraform's language gives its jobs, evaluated without Terraform. templates-and-provisioning.md §4.6. */
import type { Validation } from "@atelier/core/platform"
import { type PreviewInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect } from "effect"
import type { ModuleTree } from "./ModuleTree.js"
import { reading, rootOf, withCalled } from "./Root.js"
import { encodeJson, isNumber, toMap, toText, unknown, type Value } from "./Values.js"
import type { Work } from "./Work.js"

/** The tags that a source gives its jobs, with the values of an input. Fails where one is not known or is no text, naming each. */
export const evaluateTags = (tree: ModuleTree, input: PreviewInput): Effect.Effect<Readonly<Record<string, string>>, ProvisionFailure> =>
  Effect.gen(function* () {
    const tags: Array<readonly [string, string]> = []
    const validations: Array<Validation> = []
    const readTag = (place: string, key: string, tag: Value, work: Work): void => {
      if (tag === null) return
      if (typeof tag === "string" || typeof tag === "boolean" || isNumber(tag)) return void tags.push(work.answer([key, toText(tag)]))
      const cause = tag === unknown ? "is known only after an apply" : `is no text: ${encodeJson(tag, work).slice(0, 100)}`
      validations.push({ field: key.slice(0, 100), detail: `${place}: the tag ${JSON.stringify(key.slice(0, 100))} ${cause}` })
    }
    yield* reading(() => {
      for (const module of withCalled(rootOf(tree, input))) {
        for (const [address, block] of module.source.blocks) {
          if (block.type !== "data" || block.labels[0] !== "coder_workspace_tags") continue
          const attribute = block.attributes.get("tags")
          const place = `${block.file}:${attribute?.line ?? block.line}`
          for (const { names } of module.instances(address, block) ?? []) {
            const value = attribute === undefined ? null : module.value(attribute, names)
            if (value === unknown) validations.push({ field: "tags", detail: `${place}: the tags are known only after an apply` })
            else if (value !== null) for (const [key, tag] of toMap(value)) readTag(place, key, tag, module.context.work)
          }
        }
      }
    })
    const [first] = validations
    if (first !== undefined) return yield* new ProvisionFailure({ message: first.detail, validations })
    return Object.fromEntries(tags)
  })
