/** The blocks of a template's modules, from files in both syntaxes. Override files replace single attributes. terraform.md §2. */
import { Either } from "effect"
import { posix } from "node:path"
import { type Expression, parseExpression, parseTemplate, readable } from "./Expressions.js"
import { type Body, HclError, parseBody } from "./Hcl.js"
import { EvaluationError } from "./Values.js"

export interface Attribute {
  readonly line: number
  /** Throws `EvaluationError` if the source is no expression. */
  readonly expression: () => Expression
}

export interface ConfiguredBody {
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly blocks: ReadonlyArray<ConfiguredBlock>
}

export interface ConfiguredBlock extends ConfiguredBody {
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly file: string
  readonly line: number
}

/** The declarations of the files in one folder, by their addresses. */
export interface ModuleSource {
  readonly folder: string
  readonly locals: ReadonlyMap<string, Attribute>
  /** `data.TYPE.NAME`, `TYPE.NAME`, `var.NAME`, `module.NAME`, `output.NAME`. */
  readonly blocks: ReadonlyMap<string, ConfiguredBlock>
}

/** A file is broken; `message` names file and line. */
export class SourceError extends EvaluationError {}

const lazily = (file: string, line: number, read: () => Expression): Attribute => {
  let known: Expression | undefined
  const expression = (): Expression => {
    try {
      return (known ??= read())
    } catch (error) {
      if (error instanceof HclError) throw new EvaluationError({ cause: `${file}:${error.line}: ${error.cause}` })
      throw error
    }
  }
  return { line, expression }
}

const nativeBody = (file: string, { attributes, blocks, lines }: Body): ConfiguredBody => ({
  attributes: new Map(
    Array.from(attributes, ([name, source]) => {
      const line = lines.get(name) ?? 1
      return [name, lazily(file, line, () => parseExpression(source, line))]
    })
  ),
  blocks: blocks.map(({ body, labels, line, type }) => ({ type, labels, file, line, ...nativeBody(file, body) }))
})

/** Texts of the JSON syntax are templates. */
const jsonExpression = (value: unknown): Expression => {
  if (typeof value === "string") return parseTemplate(value, 1)
  if (Array.isArray(value)) return { kind: "list", items: value.map(jsonExpression) }
  if (typeof value === "object" && value !== null)
    return { kind: "object", items: Object.entries(value).map(([key, item]) => [parseTemplate(key, 1), jsonExpression(item)]) }
  return { kind: "literal", value: typeof value === "number" || typeof value === "boolean" ? value : null }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const objects = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  (Array.isArray(value) ? value : [value]).filter(isObject)

/** Nested blocks that forms read; all other keys are attributes. */
const nested = new Set(["option", "validation", "prebuilds", "expiration_policy", "scheduling", "schedule", "content"])

const jsonBody = (file: string, body: Readonly<Record<string, unknown>>): ConfiguredBody => {
  const entries = Object.entries(body).filter(([key]) => key !== "//")
  return {
    attributes: new Map(
      entries
        .filter(([key]) => !nested.has(key) && key !== "dynamic")
        .map(([key, value]) => [key, lazily(file, 1, () => jsonExpression(value))])
    ),
    blocks: entries.flatMap(([key, value]) => {
      if (key === "dynamic")
        return objects(value).flatMap((labels) =>
          Object.entries(labels).flatMap(([label, bodies]) =>
            objects(bodies).map((inner) => ({ type: key, labels: [label], file, line: 1, ...jsonBody(file, inner) }))
          )
        )
      return nested.has(key) ? objects(value).map((inner) => ({ type: key, labels: [], file, line: 1, ...jsonBody(file, inner) })) : []
    })
  }
}

const labelled: Readonly<Record<string, number>> = { variable: 1, output: 1, module: 1, data: 2, resource: 2 }

const jsonBlocks = (file: string, root: unknown): ReadonlyArray<ConfiguredBlock> =>
  objects(root).flatMap((part) =>
    Object.entries(part).flatMap(([type, value]) => {
      const read = (inner: unknown, labels: ReadonlyArray<string>): ReadonlyArray<ConfiguredBlock> =>
        labels.length === (labelled[type] ?? 0)
          ? objects(inner).map((body) => ({ type, labels, file, line: 1, ...jsonBody(file, body) }))
          : objects(inner).flatMap((names) => Object.entries(names).flatMap(([name, next]) => read(next, [...labels, name])))
      return type === "//" ? [] : read(value, [])
    })
  )

const blocksOf = (path: string, bytes: Uint8Array): ReadonlyArray<ConfiguredBlock> => {
  const text = new TextDecoder().decode(bytes)
  if (path.endsWith(".json")) {
    try {
      return jsonBlocks(path, JSON.parse(text))
    } catch (error) {
      throw new SourceError({ cause: `${path} is not JSON: ${error instanceof Error ? error.message : String(error)}` })
    }
  }
  return Either.match(parseBody(readable(text)), {
    onLeft: ({ cause, line }) => {
      throw new SourceError({ cause: `${path}:${line}: ${cause}` })
    },
    onRight: (body) => nativeBody(path, body).blocks
  })
}

const addressOf = ({ labels: [first = "", second = ""], type }: ConfiguredBlock): string | undefined => {
  switch (type) {
    case "data":
      return `data.${first}.${second}`
    case "resource":
      return `${first}.${second}`
    case "variable":
      return `var.${first}`
    case "module":
    case "output":
      return `${type}.${first}`
    default:
      return undefined
  }
}

/** Attributes replace those before; blocks of a type replace all of that type. */
const overridden = (block: ConfiguredBlock, by: ConfiguredBlock): ConfiguredBlock => {
  const types = new Set(by.blocks.map(({ labels, type }) => (type === "dynamic" ? labels[0] : type)))
  const kept = block.blocks.filter(({ labels, type }) => !types.has(type === "dynamic" ? labels[0] : type))
  return { ...block, attributes: new Map([...block.attributes, ...by.attributes]), blocks: [...kept, ...by.blocks] }
}

const isOverride = (path: string): boolean => /(?:^|[/_])override\.tf(?:\.json)?$/.test(path)

/** Reads the files directly in a folder; `.` is the root. Undefined for a folder without such files. Throws `EvaluationError`. */
export const readModule = (files: ReadonlyMap<string, Uint8Array>, folder: string): ModuleSource | undefined => {
  const paths = [...files.keys()]
    .filter((path) => posix.dirname(path) === folder && /^[^.].*\.tf(?:\.json)?$/.test(posix.basename(path)))
    .toSorted()
  if (paths.length === 0) return undefined
  const locals = new Map<string, Attribute>()
  const blocks = new Map<string, ConfiguredBlock>()
  for (const path of [...paths.filter((name) => !isOverride(name)), ...paths.filter(isOverride)]) {
    for (const block of blocksOf(path, files.get(path) ?? new Uint8Array(0))) {
      if (block.type === "locals") for (const [name, attribute] of block.attributes) locals.set(name, attribute)
      const address = addressOf(block)
      if (address === undefined) continue
      const known = blocks.get(address)
      blocks.set(address, known === undefined ? block : overridden(known, block))
    }
  }
  return { folder, locals, blocks }
}
