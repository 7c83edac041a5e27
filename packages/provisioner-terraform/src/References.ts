/** The resources that an expression of the configuration refers to, through variables and outputs of modules. terraform.md §1 no. 3. */
import type { ConfiguredModule } from "./Document.js"

interface Scope {
  readonly module: ConfiguredModule
  /** The label of the module, with a dot at its end; empty for the root. */
  readonly prefix: string
  /** The scope of the module that calls this one, and the call; undefined for the root. */
  readonly caller?: { readonly scope: Scope; readonly name: string }
}

/** Modules deep, or references in a row. */
const maximumDepth = 64

const referencesOf = (expression: unknown): ReadonlyArray<string> => {
  if (typeof expression !== "object" || expression === null || !("references" in expression)) return []
  const { references } = expression
  return Array.isArray(references) ? references.filter((reference): reference is string => typeof reference === "string") : []
}

const scopeOf = (root: ConfiguredModule, label: string): { readonly scope: Scope; readonly address: string } | undefined => {
  let scope: Scope = { module: root, prefix: "" }
  let rest = label
  for (let call = /^module\.([^.]+)\.(.*)$/.exec(rest); call !== null; call = /^module\.([^.]+)\.(.*)$/.exec(rest)) {
    const [, name = "", inside = ""] = call
    const module = scope.module.module_calls?.[name]?.module
    if (module === undefined) return undefined
    scope = { module, prefix: `${scope.prefix}module.${name}.`, caller: { scope, name } }
    rest = inside
  }
  return { scope, address: rest }
}

/** Adds the labels of the managed resources that references of this scope lead to. */
const follow = (found: Set<string>, scope: Scope, references: ReadonlyArray<string>, forEach: unknown, depth: number): void => {
  if (depth > maximumDepth) return
  for (const reference of references) {
    // Keys of instances are no part of labels
    const parts = reference.replaceAll(/\[[^\]]*\]/g, "").split(".")
    const [kind = "", name = "", attribute] = parts
    switch (kind) {
      case "var": {
        const { caller } = scope
        const call = caller?.scope.module.module_calls?.[caller.name]
        if (caller !== undefined && call !== undefined) {
          follow(found, caller.scope, referencesOf(call.expressions?.[name]), call.for_each_expression, depth + 1)
        }
        break
      }
      case "module": {
        const module = scope.module.module_calls?.[name]?.module
        const output = attribute === undefined ? undefined : module?.outputs?.[attribute]
        if (module === undefined || output === undefined) break
        const inside = { module, prefix: `${scope.prefix}module.${name}.`, caller: { scope, name } }
        follow(found, inside, referencesOf(output.expression), undefined, depth + 1)
        break
      }
      case "each":
        follow(found, scope, referencesOf(forEach), undefined, depth + 1)
        break
      case "count":
      case "data":
      case "local":
      case "path":
      case "self":
      case "terraform":
        break
      default:
        if (name !== "") found.add(`${scope.prefix}${kind}.${name}`)
    }
  }
}

/** The labels of the managed resources that an attribute refers to; local values are not part of a plan's configuration. */
export const referredBy = (root: ConfiguredModule, label: string, attribute: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const place = scopeOf(root, label)
  const resource = place?.scope.module.resources?.find(({ address }) => address === place.address)
  if (place !== undefined && resource !== undefined) {
    follow(found, place.scope, referencesOf(resource.expressions?.[attribute]), resource.for_each_expression, 0)
  }
  return found
}
