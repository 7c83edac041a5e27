/** The declarations of a template's source, before Terraform runs. templates-and-provisioning.md §4.1; terraform.md §2. */
import { type ParsedTemplate, ProvisionFailure, type TemplateVariable } from "@atelier/core/provisioning"
import { Effect, Either } from "effect"
import { configurationFiles } from "./ConfigurationFiles.js"
import { type Block, type Body, HclError, literalValue, withoutLastComments } from "./Hcl.js"
import { jsonFault } from "./Json.js"
import { makePace, type Pace } from "./Pace.js"
import { readBody } from "./ReadBody.js"

/** Bytes of all files that Terraform reads in the root module, and of one in JSON, which is read in one piece. */
const maximumConfiguration = 4 * 1024 * 1024
const maximumJson = 1024 * 1024

/** Variables of a template. */
const maximumVariables = 20_000

/** Characters of the expressions of all tags. A job's tags have at most 4096 bytes. */
const maximumTags = 64 * 1024

/** Bytes of a `README.md` that are kept. */
const maximumReadme = 1024 * 1024

/** An attribute as an expression in the native syntax, or as the value that it is in JSON. */
type Value = { readonly source: string } | { readonly value: unknown }

interface Declarations {
  /** The attributes of each variable; those of override files replace single ones. */
  readonly variables: Map<string, Map<string, Value>>
  readonly tags: Array<Value>
}

const attributesOf = ({ attributes }: Body): ReadonlyArray<readonly [string, Value]> =>
  Array.from(attributes, ([name, source]) => [name, { source }])

const declare = (declarations: Declarations, name: string, attributes: Iterable<readonly [string, Value]>): void => {
  const known = declarations.variables.get(name) ?? new Map<string, Value>()
  for (const [key, value] of attributes) known.set(key, value)
  declarations.variables.set(name, known)
}

const declareBlock = (declarations: Declarations, { body, labels, type }: Block): void => {
  const [first, second] = labels
  if (type === "variable" && first !== undefined) declare(declarations, first, attributesOf(body))
  if (type !== "data" || first !== "coder_workspace_tags" || second === undefined) return
  const tags = body.attributes.get("tags")
  if (tags !== undefined) declarations.tags.push({ source: tags })
}

/** Without a schema, which would look at each of the values. */
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The bodies of blocks in JSON syntax: one, or a list of them. */
const bodies = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  (Array.isArray(value) ? value : [value]).filter(isObject)

/** Steps that declare what a file in JSON syntax has. */
function* declareJson(declarations: Declarations, root: unknown): Generator<void, void> {
  for (const file of bodies(root)) {
    for (const variables of bodies(file["variable"])) {
      for (const [name, blocks] of Object.entries(variables)) {
        for (const body of bodies(blocks)) {
          declare(
            declarations,
            name,
            Object.entries(body).map(([key, value]) => [key, { value }])
          )
          yield
        }
      }
    }
    for (const data of bodies(file["data"])) {
      for (const named of bodies(data["coder_workspace_tags"])) {
        for (const blocks of Object.values(named)) {
          for (const body of bodies(blocks)) {
            declarations.tags.push({ value: body["tags"] })
            yield
          }
        }
      }
    }
  }
}

/** Steps that declare what a file in the native syntax has. */
function* declareBlocks(declarations: Declarations, blocks: ReadonlyArray<Block>): Generator<void, void> {
  for (const block of blocks) {
    declareBlock(declarations, block)
    yield
  }
}

const readJson = (text: string): Either.Either<unknown, HclError> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => jsonFault(text) ?? new HclError({ line: 1, cause: error instanceof Error ? error.message : String(error) })
  })

const tooManyVariables = new ProvisionFailure({ message: `the template has more than ${maximumVariables} variables` })

/** Steps between two looks at the pace. */
const stepsOfLook = 200

const declarationsOf = (files: ReadonlyMap<string, Uint8Array>, pace: Pace): Effect.Effect<Declarations, ProvisionFailure> =>
  Effect.gen(function* () {
    const declarations: Declarations = { variables: new Map(), tags: [] }
    const inTurns = (steps: Generator<void, void>) =>
      Effect.gen(function* () {
        for (let count = 1; steps.next().done !== true; count++) {
          if (declarations.variables.size > maximumVariables) return yield* tooManyVariables
          if (count % stepsOfLook === 0) yield* pace
        }
      })
    let size = 0
    for (const path of configurationFiles(files.keys())) {
      yield* pace
      const bytes = files.get(path) ?? new Uint8Array(0)
      size += bytes.byteLength
      if (size > maximumConfiguration) {
        return yield* new ProvisionFailure({ message: `${path}: the configuration has more than ${maximumConfiguration} bytes` })
      }
      if (path.endsWith(".json") && bytes.byteLength > maximumJson) {
        return yield* new ProvisionFailure({ message: `${path}: the file has more than ${maximumJson} bytes` })
      }
      const text = new TextDecoder().decode(bytes)
      if (path.endsWith(".json")) {
        const json = Either.mapLeft(readJson(text), ({ cause, line }) => new ProvisionFailure({ message: `${path}:${line}: ${cause}` }))
        const root = yield* json
        yield* pace
        yield* inTurns(declareJson(declarations, root))
        continue
      }
      const body = yield* Effect.mapError(
        readBody(text, pace),
        ({ cause, line }) => new ProvisionFailure({ message: `${path}:${line}: ${cause}` })
      )
      yield* inTurns(declareBlocks(declarations, body.blocks))
    }
    return declarations
  })

const literalOf = (value: Value | undefined): unknown => {
  if (value === undefined) return undefined
  return "source" in value ? literalValue(value.source) : value.value
}

const textOf = (value: Value | undefined): string => {
  const literal = literalOf(value)
  return typeof literal === "string" ? literal : ""
}

/** The type as it is written, without a comment behind it; empty without a type. */
const typeOf = (value: Value | undefined): string => {
  if (value === undefined) return ""
  const source = "source" in value ? value.source : String(value.value)
  return withoutLastComments(source).trim()
}

/** A default as a value is given to Terraform: texts as they are, all else as an expression. */
const defaultOf = (literal: unknown): string => {
  if (literal === undefined || literal === null) return ""
  return typeof literal === "object" ? JSON.stringify(literal) : String(literal)
}

const variablesOf = (declared: Declarations["variables"], pace: Pace): Effect.Effect<ReadonlyArray<TemplateVariable>> =>
  Effect.gen(function* () {
    const variables: Array<TemplateVariable> = []
    for (const [name, attributes] of declared) {
      const fallback = literalOf(attributes.get("default"))
      yield* pace
      const description = textOf(attributes.get("description"))
      yield* pace
      variables.push({
        name,
        description,
        type: typeOf(attributes.get("type")),
        default_value: defaultOf(fallback),
        // A default of null is as good as none
        required: !attributes.has("default") || fallback === null,
        sensitive: literalOf(attributes.get("sensitive")) === true
      })
      yield* pace
    }
    return variables.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  })

type Tags = ReadonlyArray<readonly [key: string, value: string]>

/** The tags if they are literals. */
const literalTagsOf = (value: Value): Tags | undefined => {
  const literal = literalOf(value)
  if (!isObject(literal)) return undefined
  return Object.entries(literal).flatMap(([key, tag]) => (tag === null || typeof tag === "object" ? [] : [[key, String(tag)]]))
}

/** The tags if they are literals, else the expression of all of them under one name: only an evaluation tells their keys. */
const tagsOf = (value: Value): Tags => literalTagsOf(value) ?? ("source" in value ? [["tags", value.source]] : [])

const sizeOf = (value: Value): number => ("source" in value ? value.source : JSON.stringify(value.value ?? null)).length

/** Reads variables, tags and the readme. Fails with the file and line of what is not HCL or JSON. */
export const parseSource = (files: ReadonlyMap<string, Uint8Array>): Effect.Effect<ParsedTemplate, ProvisionFailure> =>
  Effect.gen(function* () {
    const pace = yield* makePace
    const { tags, variables } = yield* declarationsOf(files, pace)
    const readme = files.get("README.md") ?? new Uint8Array(0)
    if (readme.byteLength > maximumReadme) {
      return yield* new ProvisionFailure({ message: `README.md is larger than ${maximumReadme} bytes` })
    }
    if (variables.size > maximumVariables) return yield* tooManyVariables
    const size = tags.reduce((sum, value) => sum + sizeOf(value), 0)
    if (size > maximumTags) {
      return yield* new ProvisionFailure({ message: `coder_workspace_tags: the tags have more than ${maximumTags} characters` })
    }
    return {
      variables: yield* variablesOf(variables, pace),
      readme: new TextDecoder().decode(readme),
      workspace_tags: Object.fromEntries(tags.flatMap(tagsOf)),
      literal_tags: Object.fromEntries(tags.flatMap((value) => literalTagsOf(value) ?? []))
    }
  })

/**
 * The lines of a `.tfvars` file for values given as texts: primitive types, and none, take the text, others an expression. The file is for one command
 * alone; options of a command would show the values to other users of the machine.
 */
export const variableFile = (
  declared: ReadonlyArray<Pick<TemplateVariable, "name" | "type">>,
  values: ReadonlyMap<string, string>
): string =>
  declared
    .flatMap(({ name, type }) => {
      const value = values.get(name)
      if (value === undefined) return []
      return [["", "string", "number", "bool"].includes(type) ? `${name} = ${quote(value)}` : `${name} = (\n${value}\n)`]
    })
    .join("\n")

/** A text as a quoted literal without templates. */
const quote = (text: string): string => {
  const escaped = text.replaceAll(/["\\\p{Cc}]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
  return `"${escaped.replaceAll(/[$%](?=\{)/g, (sign) => sign + sign)}"`
}
