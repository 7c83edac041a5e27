/**
 * Whether the parameters of a source are the same for all values that a user gives. Then the form is what the import's plan had, and no
 * expression has to be evaluated.
 */
import { Either } from "effect"
import { type Block, type Body, literalValue, parseBody } from "./Hcl.js"
import { configurationFiles } from "./Source.js"

/** What a reference begins with, in the source of an expression. A word in a text looks like one too, which only makes a form less fixed. */
const reference = /(?<![\w.-])([A-Za-z_][\w-]*)\.([A-Za-z_][\w-]*)?/g

/** Functions that return something else each time. */
const changing = /\b(?:timestamp|plantimestamp|uuid|bcrypt)\s*\(/

interface Scope {
  readonly locals: ReadonlyMap<string, string>
  /** Iterators of the `dynamic` blocks around; what they iterate over is fixed. */
  readonly iterators: ReadonlySet<string>
  /** Local values on the way here. */
  readonly following: ReadonlySet<string>
}

const isFixed = (source: string, scope: Scope): boolean => {
  if (literalValue(source) !== undefined) return true
  if (changing.test(source)) return false
  return Array.from(source.matchAll(reference)).every(([, kind = "", name = ""]) => {
    if (kind === "var" || kind === "path" || scope.iterators.has(kind)) return true
    const local = kind === "local" ? scope.locals.get(name) : undefined
    if (local === undefined || scope.following.has(name)) return false
    return isFixed(local, { ...scope, following: new Set([...scope.following, name]) })
  })
}

const isFixedBody = ({ attributes, blocks }: Body, scope: Scope): boolean =>
  Array.from(attributes.values()).every((source) => isFixed(source, scope)) && blocks.every((block) => isFixedBlock(block, scope))

const isFixedBlock = ({ body, labels: [label = ""], type }: Block, scope: Scope): boolean => {
  if (type !== "dynamic") return isFixedBody(body, scope)
  const { attributes, blocks } = body
  const iterator = attributes.get("iterator") ?? label
  return (
    isFixed(attributes.get("for_each") ?? "", scope) &&
    blocks.every((block) => isFixedBody(block.body, { ...scope, iterators: new Set([...scope.iterators, iterator]) }))
  )
}

/** A module that others wrote may define parameters too. */
const isRemote = ({ body }: Block): boolean => {
  const source = literalValue(body.attributes.get("source") ?? "")
  return typeof source !== "string" || !/^\.\.?\//.test(source)
}

const word = "coder_parameter"

/** Returns true if it is certain. What a form shows beside the stored parameters, its styling, is not fixed. */
export const hasFixedParameters = (files: ReadonlyMap<string, Uint8Array>): boolean => {
  const root = configurationFiles(files.keys())
  const text = (path: string): string => new TextDecoder().decode(files.get(path))
  const others = [...files.keys()].filter((path) => /\.tf(?:\.json)?$/.test(path) && (!root.includes(path) || path.endsWith(".json")))
  if (others.some((path) => text(path).includes(word))) return false
  const parsed = Either.all(root.filter((path) => path.endsWith(".tf")).map((path) => parseBody(text(path))))
  if (Either.isLeft(parsed)) return false
  const blocks = parsed.right.flatMap((body) => body.blocks)
  if (blocks.some((block) => block.type === "module" && isRemote(block))) return false
  const locals = new Map(blocks.flatMap(({ body, type }) => (type === "locals" ? [...body.attributes] : [])))
  const scope: Scope = { locals, iterators: new Set(), following: new Set() }
  return blocks
    .filter(({ labels, type }) => type === "data" && labels[0] === word)
    .every(({ body }) => !body.attributes.has("styling") && isFixedBody(body, scope))
}
