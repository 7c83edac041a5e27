/** The blocks of a template's modules, from files in both syntaxes. Override files replace single attributes. terraform.md §2. */
import { Either } from "effect"
import { EvaluationError } from "./EvaluationError.js"
import { parseExpression, parseTemplate, readable } from "./ExpressionParser.js"
import type { Expression } from "./Expressions.js"
import { type Body, HclError, parseBody } from "./Hcl.js"
import { parseJson } from "./Json.js"
import { isList, isMap, isNumber, type MapValue, type Value } from "./Values.js"
import { Work } from "./Work.js"

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
const jsonExpression = (value: Value): Expression => {
  if (typeof value === "string") return parseTemplate(value, 1)
  if (isList(value)) return { kind: "list", items: value.map(jsonExpression) }
  if (isMap(value)) return { kind: "object", items: Array.from(value, ([key, item]) => [parseTemplate(key, 1), jsonExpression(item)]) }
  return { kind: "literal", value: isNumber(value) || typeof value === "boolean" ? value : null }
}

const objects = (value: Value): ReadonlyArray<MapValue> => {
  const values: ReadonlyArray<Value> = isList(value) ? value : [value]
  return values.filter(isMap)
}

/** Nested blocks that forms read; all other keys are attributes. */
const nested = new Set(["option", "validation", "prebuilds", "expiration_policy", "scheduling", "schedule", "content"])

const jsonBody = (file: string, body: MapValue): ConfiguredBody => {
  const entries = [...body].filter(([key]) => key !== "//")
  const blocksIn = (type: string, labels: ReadonlyArray<string>, value: Value): ReadonlyArray<ConfiguredBlock> =>
    objects(value).map((inner) => ({ type, labels, file, line: 1, ...jsonBody(file, inner) }))
  return {
    attributes: new Map(
      entries
        .filter(([key]) => !nested.has(key) && key !== "dynamic")
        .map(([key, value]) => [key, lazily(file, 1, () => jsonExpression(value))])
    ),
    blocks: entries.flatMap(([key, value]) => {
      if (key === "dynamic")
        return objects(value).flatMap((labels) => [...labels].flatMap(([label, bodies]) => blocksIn(key, [label], bodies)))
      return nested.has(key) ? blocksIn(key, [], value) : []
    })
  }
}

const labelled: Readonly<Record<string, number>> = { variable: 1, output: 1, module: 1, data: 2, resource: 2 }

const jsonBlocks = (file: string, root: Value): ReadonlyArray<ConfiguredBlock> =>
  objects(root).flatMap((part) =>
    [...part].flatMap(([type, value]) => {
      const read = (inner: Value, labels: ReadonlyArray<string>): ReadonlyArray<ConfiguredBlock> =>
        labels.length === (labelled[type] ?? 0)
          ? objects(inner).map((body) => ({ type, labels, file, line: 1, ...jsonBody(file, body) }))
          : objects(inner).flatMap((names) => [...names].flatMap(([name, next]) => read(next, [...labels, name])))
      return type === "//" ? [] : read(value, [])
    })
  )

/** The blocks of a file. Throws `SourceError`. */
const blocksOf = (path: string, bytes: Uint8Array): ReadonlyArray<ConfiguredBlock> => {
  try {
    const text = readable(new TextDecoder().decode(bytes))
    if (path.endsWith(".json")) return jsonBlocks(path, parseJson(text, new Work()))
    return nativeBody(
      path,
      Either.getOrThrowWith(parseBody(text), (error) => error)
    ).blocks
  } catch (error) {
    if (error instanceof HclError) throw new SourceError({ cause: `${path}:${error.line}: ${error.cause}` })
    if (error instanceof EvaluationError) throw new SourceError({ cause: `${path}: ${error.cause}` })
    throw error
  }
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

/** Whether Terraform reads a file of this name. */
export const isConfiguration = (name: string): boolean => /^[^.].*\.tf(?:\.json)?$/.test(name)

/** The declarations of a folder's files; `add` takes them in their order, override files last. */
export const makeModuleSource = (folder: string) => {
  const locals = new Map<string, Attribute>()
  const blocks = new Map<string, ConfiguredBlock>()
  return {
    source: { folder, locals, blocks } satisfies ModuleSource,
    /** Throws `SourceError` if the file is broken. */
    add: (path: string, bytes: Uint8Array): void => {
      for (const block of blocksOf(path, bytes)) {
        if (block.type === "locals") for (const [name, attribute] of block.attributes) locals.set(name, attribute)
        const address = addressOf(block)
        if (address === undefined) continue
        const known = blocks.get(address)
        blocks.set(address, known === undefined ? block : overridden(known, block))
      }
    }
  }
}

/** The paths in the order in which Terraform reads them: override files come last. */
export const inReadingOrder = (paths: Iterable<string>): ReadonlyArray<string> => {
  const sorted = [...paths].toSorted()
  return [...sorted.filter((path) => !isOverride(path)), ...sorted.filter(isOverride)]
}
