/** Forms and tags of a template in Terraform's language, evaluated without Terraform. templates-and-provisioning.md §4.5, §4.6. */
import { nextTurn, type Validation as Flaw } from "@atelier/core/platform"
import {
  type Diagnostic,
  errorDiagnostic,
  type FormParameter,
  type FormStyling,
  type FormType,
  type FormValue,
  type ParameterForm,
  type PreviewInput,
  ProvisionFailure,
  type RichParameter
} from "@atelier/core/provisioning"
import { formParameter, inFormOrder } from "@atelier/core/templates"
import { Clock, Effect, Either } from "effect"
import { allowedFormTypes } from "../ParameterRules.js"
import { type Attribute, type ConfiguredBlock, type ConfiguredBody, type ModuleSource, readModule } from "./Configuration.js"
import type { Expression } from "./Expressions.js"
import { Work } from "./Scope.js"
import { type Context, type Instance, Module, valueOrNone, variableValue } from "./Modules.js"
import { EvaluationError, plain, settled, toBool, toMap, toNumber, toText, unknown, type Value } from "./Values.js"

const maximumParameters = 1_000

/** Milliseconds for which a form is evaluated before others have their turn. */
const turn = 10

/** What the data sources of the product say of a workspace that does not exist yet. */
const providedFor = ({ metadata }: PreviewInput): Context["provided"] => {
  const entries = (values: Readonly<Record<string, Value>>) => new Map(Object.entries(values))
  return new Map([
    [
      "coder_workspace_owner",
      entries({
        id: metadata.owner_id,
        name: metadata.owner_username,
        full_name: metadata.owner_name,
        email: metadata.owner_email,
        groups: metadata.owner_groups,
        login_type: metadata.owner_login_type,
        rbac_roles: (metadata.owner_rbac_roles ?? []).map(({ name, org_id }) => entries({ name, org_id })),
        ssh_public_key: metadata.owner_ssh_public_key
      })
    ],
    [
      "coder_workspace",
      entries({
        access_url: metadata.access_url,
        transition: metadata.transition,
        start_count: 1,
        prebuild_count: 0,
        is_prebuild: false,
        is_prebuild_claim: false
      })
    ]
  ])
}

/** The modules of a source; folders are read once for all its forms. */
export type Modules = (folder: string) => ModuleSource | undefined

export const makeModules = (files: ReadonlyMap<string, Uint8Array>): Modules => {
  const known = new Map<string, ModuleSource | undefined>()
  return (folder) => {
    if (!known.has(folder)) known.set(folder, readModule(files, folder))
    return known.get(folder)
  }
}

export interface Source {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly modules: Modules
}

/** The root module with the values of an input. Fails with `EvaluationError`, which is thrown. */
export const rootOf = ({ files, modules }: Source, input: PreviewInput): Module => {
  const source = modules(".")
  if (source === undefined) throw new EvaluationError({ cause: "the source has no files of Terraform" })
  const context: Context = {
    work: new Work(),
    files,
    inputs: new Map(input.parameters.map(({ name, value }) => [name, value])),
    provided: providedFor(input),
    source: modules
  }
  const variables = input.variables.flatMap(({ name, value }) => {
    const type = source.blocks.get(`var.${name}`)?.attributes.get("type")
    return value === "" ? [] : [[name, () => variableValue(type?.expression(), value)] as const]
  })
  return new Module(context, source, new Map(variables))
}

/** A block with the module and the names it is evaluated in. */
export class Place {
  constructor(
    readonly module: Module,
    readonly body: ConfiguredBody,
    readonly names: Instance["names"]
  ) {}

  /** Null without the attribute; throws `EvaluationError`. */
  value(name: string): Value {
    const attribute: Attribute | undefined = this.body.attributes.get(name)
    return attribute === undefined ? null : this.module.value(attribute, this.names)
  }

  text(name: string): string {
    return valueOrNone(() => toText(this.value(name))) ?? ""
  }

  /** A text that is known, or undefined. */
  known(name: string): string | undefined {
    return valueOrNone(() => toText(this.value(name)))
  }

  flag(name: string): boolean {
    return valueOrNone(() => toBool(this.value(name))) ?? false
  }

  number(name: string): number | null {
    const value = valueOrNone(() => toNumber(this.value(name)))
    return value === undefined || !Number.isSafeInteger(Math.trunc(value)) ? null : Math.trunc(value)
  }
}

const sourced = "The value of a parameter is required to be sourced (default or input) for the parameter to function."

const types = ["string", "number", "bool", "list(string)"] as const
const formTypes = ["radio", "slider", "input", "dropdown", "checkbox", "switch", "multi-select", "tag-select", "textarea", "error"] as const

const oneOf = <A extends string>(words: ReadonlyArray<A>, text: string): A | undefined => words.find((word) => word === text)

const stylingOf = (place: Place): FormStyling => {
  const json = place.text("styling")
  if (json === "") return {}
  const value = valueOrNone((): unknown => {
    try {
      return JSON.parse(json)
    } catch {
      throw new EvaluationError({ cause: "the styling is not JSON" })
    }
  })
  if (typeof value !== "object" || value === null) return {}
  const given = new Map(Object.entries(value))
  const text = (name: "placeholder" | "label") => {
    const found: unknown = given.get(name)
    return typeof found === "string" ? { [name]: found } : {}
  }
  const flag = (name: "disabled" | "mask_input") => {
    const found: unknown = given.get(name)
    return typeof found === "boolean" ? { [name]: found } : {}
  }
  return { ...text("placeholder"), ...flag("disabled"), ...text("label"), ...flag("mask_input") }
}

interface Option {
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly value: FormValue
}

const optionsOf = (place: Place): ReadonlyArray<Option> =>
  place.module.nested(place.body, "option", place.names).map(({ body, names }) => {
    const option = new Place(place.module, body, names)
    const value = option.known("value")
    return {
      name: option.text("name"),
      description: option.text("description"),
      icon: option.text("icon"),
      value: { value: value ?? "", valid: value !== undefined }
    }
  })

type Validation = Pick<
  RichParameter,
  "validation_regex" | "validation_error" | "validation_min" | "validation_max" | "validation_monotonic"
>

const validationOf = (place: Place): Validation => {
  const [block] = place.module.nested(place.body, "validation", place.names)
  const rule = block === undefined ? undefined : new Place(place.module, block.body, block.names)
  return {
    validation_regex: rule?.text("regex") ?? "",
    validation_error: rule?.text("error") ?? "",
    validation_min: rule?.number("min") ?? null,
    validation_max: rule?.number("max") ?? null,
    validation_monotonic: oneOf(["increasing", "decreasing"], rule?.text("monotonic") ?? "") ?? ""
  }
}

/** What a parameter adds to the form: itself, or what keeps it out. */
type Shown = Either.Either<FormParameter, Diagnostic>

const refused = (summary: string, detail: string): Shown => Either.left(errorDiagnostic(summary, detail))

/** What is wrong with a form type, in the words that clients know. */
const formTypeProblem = (type: RichParameter["type"], form: FormType, hasOptions: boolean): Diagnostic | undefined => {
  const allowed = [...new Set(allowedFormTypes(type, hasOptions))]
  if (allowed.includes(form)) return undefined
  const isForOptions = new Set(allowedFormTypes(type, !hasOptions)).has(form)
  const when = isForOptions ? ` when options ${hasOptions ? "exist" : "do not exist"}` : ""
  return errorDiagnostic(
    `Invalid parameter \`type="${type}"\` and \`form_type="${form}"\``,
    `"form_type" attribute="${form}" is not supported for "type"="${type}"${when}, choose one of [${allowed.join(" ")}]`
  )
}

/** Functions whose result may be of any type. */
const ofAnyType = new Set(["try", "element", "index", "lookup", "contains", "jsondecode", "yamldecode", "one", "coalesce"])

/** Whether an expression has the same type for all values in it. */
const hasType = (expression: Expression): boolean =>
  expression.kind === "call" ? !ofAnyType.has(expression.name) : !["attribute", "index", "reference"].includes(expression.kind)

/** The default as a text; `problem` says why there is none. */
const defaultOf = (place: Place): { readonly text: string | undefined; readonly problem: Diagnostic | undefined } => {
  const unsourced = "Parameter value is unknown, it likely includes a reference without a value"
  const none = (problem: string) => ({ text: undefined, problem: errorDiagnostic(problem, sourced) })
  try {
    const value = settled(place.value("default"))
    if (value === unknown) return none(unsourced)
    if (value === null) return none("Parameter value is not valid")
    return { text: toText(value), problem: undefined }
  } catch (error) {
    if (!(error instanceof EvaluationError) || error.isLimit === true) throw error
    const expression = valueOrNone(() => place.body.attributes.get("default")?.expression())
    return none(expression !== undefined && hasType(expression) ? unsourced : "Parameter value is not valid")
  }
}

const parameterOf = (place: Place, label: string, given: ReadonlyMap<string, string>): Shown => {
  if (!place.body.attributes.has("name")) {
    return refused(`Missing required attribute "name" for block coder_parameter.${label}`, "The parameter needs a name.")
  }
  const name = valueOrNone(() => place.value("name"))
  if (typeof name !== "string") {
    return refused(`Invalid "name" attribute for block coder_parameter.${label}`, "Expected a string, got an unknown or null value")
  }
  const typeText = place.body.attributes.has("type") ? place.text("type") : "string"
  const type = oneOf(types, typeText)
  if (type === undefined) {
    return refused(
      `Invalid "type" attribute for block coder_parameter.${label}`,
      `invalid parameter type "${typeText.slice(0, 100)}", expected one of [${types.join(", ")}]`
    )
  }
  const options = optionsOf(place)
  const formText = place.text("form_type")
  const wanted = formText === "" ? allowedFormTypes(type, options.length > 0)[0] : oneOf(formTypes, formText)
  if (wanted === undefined) {
    return refused(
      `Invalid "form_type" attribute for block coder_parameter.${label}`,
      `invalid form type "${formText.slice(0, 100)}", expected one of [${formTypes.join(", ")}]`
    )
  }
  const wrongForm = formTypeProblem(type, wanted, options.length > 0)
  const required = !place.body.attributes.has("default")
  const fallback = required ? { text: undefined, problem: undefined } : defaultOf(place)
  const value = given.get(name)
  const definition: RichParameter = {
    name,
    display_name: place.text("display_name"),
    description: place.text("description"),
    type,
    form_type: wrongForm === undefined ? wanted : "error",
    mutable: place.flag("mutable"),
    ephemeral: place.flag("ephemeral"),
    // Only for now: a default without a value is none
    required: fallback.text === undefined,
    default_value: fallback.text ?? "",
    icon: place.text("icon"),
    options: options.filter((option) => option.value.valid).map((option) => ({ ...option, value: option.value.value })),
    ...validationOf(place),
    order: place.number("order") ?? 0
  }
  const shown = formParameter(definition, value, { styling: stylingOf(place), diagnostics: wrongForm === undefined ? [] : [wrongForm] })
  const isMissing = value === undefined && fallback.text === undefined
  const broken = options.filter((option) => !option.value.valid).length
  return Either.right({
    ...shown,
    required,
    options,
    default_value: { value: fallback.text ?? "", valid: fallback.text !== undefined },
    value: isMissing ? { value: `data.coder_parameter.${label}.value`, valid: false } : shown.value,
    diagnostics: [
      ...(broken === 0 ? [] : [errorDiagnostic(`Parameter contains ${broken} invalid options`, sourced)]),
      ...(isMissing && !required
        ? [
            ...shown.diagnostics.filter(({ extra }) => extra.code !== "required"),
            ...(fallback.problem === undefined ? [] : [fallback.problem])
          ]
        : shown.diagnostics)
    ]
  })
}

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

/** Goes through the blocks of a module and those it calls. */
const findParameters = (module: Module, diagnostics: Array<Diagnostic>): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  for (const [address, block] of module.source.blocks) {
    try {
      if (block.type === "data" && block.labels[0] === "coder_parameter") {
        const label = block.labels[1] ?? ""
        for (const { key, names } of module.instances(address, block) ?? []) {
          const index = key === undefined ? "" : `[${JSON.stringify(key)}]`
          found.push({ place: new Place(module, block, names), label, address: address + index, block })
        }
      } else if (block.type === "module") {
        const name = block.labels[0] ?? ""
        if (!module.isLoaded(name)) diagnostics.push(notLoaded(name, block))
        for (const [, inner] of module.modules(name) ?? []) found.push(...findParameters(inner, diagnostics))
      }
    } catch (error) {
      if (!(error instanceof EvaluationError) || error.isLimit === true) throw error
      diagnostics.push(brokenPart(block, error))
    }
  }
  return found
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

const failure = (error: unknown): ProvisionFailure => {
  if (error instanceof EvaluationError) return new ProvisionFailure({ message: error.cause })
  throw error
}

export const reading = <A>(read: () => A): Effect.Effect<A, ProvisionFailure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      return failure(error)
    }
  })

/** Evaluates the form. Fails where the source is broken or needs too much work; what is wrong with one parameter is its diagnostic. */
export const evaluateForm = (source: Source, input: PreviewInput): Effect.Effect<ParameterForm, ProvisionFailure> =>
  Effect.gen(function* () {
    const given = new Map(input.parameters.map(({ name, value }) => [name, value]))
    const diagnostics: Array<Diagnostic> = []
    const found = yield* reading(() => findParameters(rootOf(source, input), diagnostics))
    if (found.length > maximumParameters) {
      return yield* new ProvisionFailure({ message: `The template has more than ${maximumParameters} parameters.` })
    }
    const parameters: Array<FormParameter> = []
    const named: Array<readonly [string, Found]> = []
    let begunAt = yield* Clock.currentTimeMillis
    for (const parameter of found) {
      if ((yield* Clock.currentTimeMillis) - begunAt > turn) {
        yield* nextTurn
        begunAt = yield* Clock.currentTimeMillis
      }
      const shown = yield* reading(() => parameterOf(parameter.place, parameter.label, given))
      if (Either.isLeft(shown)) diagnostics.push(shown.left)
      else {
        parameters.push(shown.right)
        named.push([shown.right.name, parameter])
      }
    }
    return { diagnostics: [...diagnostics, ...duplicates(named)], parameters: inFormOrder(parameters) }
  })

/** The tags that a source gives its jobs, with the values of an input. Fails where one is not known or is no text, naming each. */
export const evaluateTags = (source: Source, input: PreviewInput): Effect.Effect<Readonly<Record<string, string>>, ProvisionFailure> =>
  Effect.gen(function* () {
    const tags: Array<readonly [string, string]> = []
    const validations: Array<Flaw> = []
    const readTag = (place: string, key: string, tag: Value): void => {
      if (tag === null) return
      if (["string", "number", "boolean"].includes(typeof tag)) return void tags.push([key, toText(tag)])
      const cause = tag === unknown ? "is known only after an apply" : `is no text: ${JSON.stringify(plain(tag)).slice(0, 100)}`
      validations.push({ field: key.slice(0, 100), detail: `${place}: the tag ${JSON.stringify(key.slice(0, 100))} ${cause}` })
    }
    yield* reading(() => {
      const root = rootOf(source, input)
      for (const [address, block] of root.source.blocks) {
        if (block.type !== "data" || block.labels[0] !== "coder_workspace_tags") continue
        const attribute = block.attributes.get("tags")
        const place = `${block.file}:${attribute?.line ?? block.line}`
        for (const { names } of root.instances(address, block) ?? []) {
          const value = attribute === undefined ? null : root.value(attribute, names)
          if (value === unknown) validations.push({ field: "tags", detail: `${place}: the tags are known only after an apply` })
          else if (value !== null) for (const [key, tag] of toMap(value)) readTag(place, key, tag)
        }
      }
    })
    const [first] = validations
    if (first !== undefined) return yield* new ProvisionFailure({ message: first.detail, validations })
    return Object.fromEntries(tags)
  })
