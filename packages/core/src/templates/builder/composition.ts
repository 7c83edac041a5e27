/** The files of a template that the builder composes. The same request gives the same files. deployment.md §11. */
import { Either } from "effect"
import type { BuilderBase, BuilderCatalog, BuilderModule, BuilderVariable } from "./BuilderCatalog.js"

type Values = Readonly<Record<string, string>>

/** What a template is composed of. */
export interface Composition {
  readonly base_template_id: string
  readonly base_variable_values: Values
  readonly modules: ReadonlyArray<{ readonly id: string; readonly variables: Values }>
}

/** Contents of files by path. */
export type Files = Readonly<Record<string, string>>

/** Why a composition is refused. */
type Reason = string

/** Bytes of a text. */
const maximumText = 4096

const quote = (name: string): string => JSON.stringify(name.slice(0, 64))

/** A text of the language, without expressions in it. */
const literal = (text: string): string =>
  `"${text
    .replace(/[\\"]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replace(/[$%](?=\{)/g, "$&$&")}"`

const expressionOf = ({ name, type }: BuilderVariable, text: string): Either.Either<string, Reason> => {
  if (text === "null") return Either.right(text)
  if (type === "number") {
    return /^-?\d+(\.\d+)?$/.test(text) && text.length <= 64
      ? Either.right(text)
      : Either.left(`The value of ${quote(name)} is not a number.`)
  }
  if (type === "bool") {
    return text === "true" || text === "false" ? Either.right(text) : Either.left(`The value of ${quote(name)} is neither true nor false.`)
  }
  if (new TextEncoder().encode(text).length > maximumText) {
    return Either.left(`The value of ${quote(name)} has more than ${maximumText} bytes.`)
  }
  return /[$%]\{/.test(text) ? Either.left(`The value of ${quote(name)} has an expression in it.`) : Either.right(literal(text))
}

/** The expressions of the values that were given, by the names of their variables. `owner` is the base or module as messages name it. */
const assignments = (
  owner: string,
  variables: ReadonlyArray<BuilderVariable>,
  values: Values
): Either.Either<ReadonlyMap<string, string>, Reason> =>
  Either.gen(function* () {
    const known = new Map(variables.map((variable) => [variable.name, variable]))
    const given = new Map<string, string>()
    for (const [name, value] of Object.entries(values)) {
      const variable = known.get(name)
      if (variable === undefined) return yield* Either.left(`The ${owner} has no variable ${quote(name)}.`)
      if (variable.computed !== undefined || variable.sensitive === true) {
        return yield* Either.left(`The variable ${quote(name)} of the ${owner} cannot be set here.`)
      }
      given.set(name, yield* expressionOf(variable, value))
    }
    const lacking = variables.find(
      ({ computed, default: value, name, sensitive }) =>
        value === undefined && computed === undefined && sensitive !== true && !given.has(name)
    )
    if (lacking !== undefined) return yield* Either.left(`The ${owner} needs a value of ${quote(lacking.name)}.`)
    return given
  })

/** A block of the language, with its equals signs in one column. */
const block = (head: string, attributes: ReadonlyArray<readonly [name: string, expression: string]>): string => {
  const width = Math.max(...attributes.map(([name]) => name.length))
  return [`${head} {`, ...attributes.map(([name, expression]) => `  ${name.padEnd(width)} = ${expression}`), "}", ""].join("\n")
}

const declaration = (
  name: string,
  { default: value, description, sensitive, type }: BuilderVariable,
  given: string | undefined
): string => {
  const own = typeof value === "string" ? literal(value) : String(value)
  return block(`variable "${name}"`, [
    ["description", literal(description)],
    ["type", type],
    ...(given === undefined && value === undefined ? [] : [["default", given ?? own] as const]),
    ...(sensitive === true ? [["sensitive", "true"] as const] : [])
  ])
}

/** The name of the template's variable for a secret that a module needs. */
const secretName = ({ id }: BuilderModule, { name }: BuilderVariable): string => `${id}_${name}`

const secretsOf = ({ variables }: BuilderModule): ReadonlyArray<BuilderVariable> =>
  variables.filter(({ default: value, sensitive }) => sensitive === true && value === undefined)

const call = (module: BuilderModule, given: ReadonlyMap<string, string>, registry: string): string => {
  const { id, source, variables, version } = module
  const from =
    typeof source === "string"
      ? [["source", literal(registry === "" ? source : `${registry}/${source}`)] as const, ["version", literal(version)] as const]
      : [["source", literal(`./modules/${id}`)] as const]
  const secrets = new Set(secretsOf(module))
  return block(`module "${id}"`, [
    ["count", "data.coder_workspace.me.start_count"],
    ...from,
    ...variables.flatMap((variable) => {
      const { computed, name } = variable
      const expression = secrets.has(variable) ? `var.${secretName(module, variable)}` : (computed ?? given.get(name))
      return expression === undefined ? [] : [[name, expression] as const]
    })
  ])
}

interface Chosen {
  readonly module: BuilderModule
  readonly given: ReadonlyMap<string, string>
}

const chosenModules = (
  { modules }: BuilderCatalog["Type"],
  base: BuilderBase,
  wanted: Composition["modules"]
): Either.Either<ReadonlyArray<Chosen>, Reason> =>
  Either.gen(function* () {
    const chosen = new Map<string, Chosen>()
    for (const { id, variables } of wanted) {
      const module = modules.find((one) => one.id === id)
      if (module === undefined) return yield* Either.left(`There is no module ${quote(id)}.`)
      if (chosen.has(id)) return yield* Either.left(`The module ${quote(id)} is named twice.`)
      if (!module.compatible_os.includes(base.os)) return yield* Either.left(`The module ${quote(id)} does not work on ${base.os}.`)
      for (const { module: other } of chosen.values()) {
        if (module.conflicts_with.includes(other.id) || other.conflicts_with.includes(id)) {
          return yield* Either.left(`The modules ${quote(other.id)} and ${quote(id)} exclude each other.`)
        }
      }
      chosen.set(id, { module, given: yield* assignments(`module ${quote(id)}`, module.variables, variables) })
    }
    return [...chosen.values()]
  })

const filesOf = ({ id, source }: BuilderModule): Files =>
  typeof source === "string" ? {} : Object.fromEntries(Object.entries(source).map(([path, text]) => [`modules/${id}/${path}`, text]))

/** Composes the files of a template. `registry` is the host of modules; empty for Terraform's own. Answers why it cannot. */
export const compose = (catalog: BuilderCatalog["Type"], wanted: Composition, registry: string): Either.Either<Files, Reason> =>
  Either.gen(function* () {
    const base = catalog.bases.find(({ id }) => id === wanted.base_template_id)
    if (base === undefined) return yield* Either.left(`There is no base ${quote(wanted.base_template_id)}.`)
    const given = yield* assignments(`base ${quote(base.id)}`, base.variables, wanted.base_variable_values)
    const chosen = yield* chosenModules(catalog, base, wanted.modules)
    const declared = [
      ...base.variables
        .filter(({ computed }) => computed === undefined)
        .map((variable) => ({ name: variable.name, variable, value: given.get(variable.name) })),
      ...chosen.flatMap(({ module }) =>
        secretsOf(module).map((variable) => ({ name: secretName(module, variable), variable, value: undefined }))
      )
    ]
    const twice = declared.find(({ name }, index) => declared.findIndex((other) => other.name === name) < index)
    if (twice !== undefined) return yield* Either.left(`The base and the modules need two variables of the name ${quote(twice.name)}.`)
    const declarations = declared.map(({ name, value, variable }) => declaration(name, variable, value))
    const calls = chosen.map(({ given: values, module }) => call(module, values, registry))
    return {
      ...base.files,
      ...(declarations.length === 0 ? {} : { "variables.tf": declarations.join("\n") }),
      ...(calls.length === 0 ? {} : { "modules.tf": calls.join("\n") }),
      ...Object.fromEntries(chosen.flatMap(({ module }) => Object.entries(filesOf(module))))
    }
  })
