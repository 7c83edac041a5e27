/** Writes TypeScript from the interface's description: types of its schemas, and a function for each of its operations. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly contentEncoding?: string
  readonly enum?: ReadonlyArray<string | number | boolean | null>
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Schema
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

export interface Response extends Content {
  readonly $ref?: string
}

/** What the description says of a stream's messages. */
export interface StreamForm {
  readonly framing: "events" | "values" | "bytes"
  readonly resume: "snapshot" | "after" | "never"
  readonly schema: Schema
}

export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary?: string
  readonly description?: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Response>>
  readonly "x-stream"?: StreamForm
}

export interface Description {
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Whether a value is given to the service, whose optional fields may be undefined, or got from it. */
type Direction = "input" | "output"

const notice = "// Generated from the contract by `npm run generate`. Changes here are lost.\n"

const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text)

const keyOf = (name: string): string => (isName(name) ? name : JSON.stringify(name))

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const indented = (text: string): string => text.replaceAll("\n", "\n  ")

const comment = (lines: ReadonlyArray<string>): string => {
  const safe = lines.map((line) => line.replaceAll("*/", "*\\/"))
  if (safe.length === 0) return ""
  return safe.length === 1 ? `/** ${safe[0]} */\n` : `/**\n${safe.map((line) => (line === "" ? " *" : ` * ${line}`)).join("\n")}\n */\n`
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Bounds that hold for every text and number of the interface. */
const usualLengths: ReadonlySet<number | undefined> = new Set([undefined, 32_768, 65_536])

/** The units that names of fields end with. */
const units: Readonly<Record<string, string>> = {
  _ms: "Milliseconds.",
  _seconds: "Seconds.",
  _micros: "Millionths of a unit of the currency."
}

/** What parameters of paths denote that are no ids alone: the same in every path. */
const references: Readonly<Record<string, string>> = {
  user: "An id, a username, or `me`.",
  organization: "An id, a name, or `default`."
}

/** The schema of a parameter with what it denotes. */
const parameterSchema = ({ in: place, name, schema }: Parameter): Schema => {
  const meaning = place === "path" && schema.format === undefined ? references[name] : undefined
  return meaning === undefined ? schema : { description: meaning, ...schema }
}

/** What a schema says beyond its type: meaning, unit and bounds. */
const notesOf = (name: string, schema: Schema): ReadonlyArray<string> => {
  const { description, format, maxItems, maxLength, maximum, minimum, type } = schema
  return [
    // The library's own text of a bound
    ...(description === undefined || description.startsWith("an array of at") ? [] : [sentence(description)]),
    ...Object.entries(units).flatMap(([suffix, unit]) => (name.endsWith(suffix) && description !== unit ? [unit] : [])),
    ...(format === "uuid" ? ["A UUID."] : format === "date-time" ? ["A time as RFC 3339 writes it."] : []),
    ...(schema.contentEncoding === "base64" ? ["Base64."] : []),
    ...(usualLengths.has(maxLength) ? [] : [`At most ${maxLength} characters.`]),
    ...(maxItems === undefined ? [] : [`At most ${maxItems} items.`]),
    ...(type === "integer" && minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? [`From ${minimum} to ${maximum}.`]
      : [])
  ]
}

/** The types of a description's schemas. */
const makeTypes = (schemas: Readonly<Record<string, Schema>>) => {
  const declared = new Map(
    Object.entries(schemas).filter(([, schema]) => schema.type === "object" || schema.enum !== undefined || schema.anyOf !== undefined)
  )
  const namesByForm = new Map(
    [...declared].filter(([, { type }]) => type === "object").map(([name, schema]) => [JSON.stringify(schema), name])
  )

  /** The type of a schema; adds the names that it uses to `used`. */
  const typeOf = (schema: Schema, direction: Direction, used: Set<string>): string => {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split("/").at(-1) ?? ""
      const target = schemas[name]
      if (target === undefined) throw new Error(`${schema.$ref} is not described`)
      if (!declared.has(name)) return typeOf(target, direction, used)
      used.add(name)
      return name
    }
    // An annotation of a response makes the library write its schema out
    const known = schema.type === "object" ? namesByForm.get(JSON.stringify(schema)) : undefined
    if (known !== undefined) {
      used.add(known)
      return known
    }
    return structureOf(schema, direction, used)
  }

  const structureOf = (schema: Schema, direction: Direction, used: Set<string>): string => {
    const union = (members: ReadonlyArray<Schema>, separator: string): string =>
      [...new Set(members.map((member) => typeOf(member, direction, used)))].join(separator)
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
    if (schema.anyOf !== undefined) return union(schema.anyOf, " | ")
    if (schema.allOf !== undefined) return union(schema.allOf, " & ")
    switch (schema.type) {
      case "string":
        return schema.format === "binary" ? "Uint8Array" : "string"
      case "integer":
      case "number":
        return "number"
      case "boolean":
        return "boolean"
      case "null":
        return "null"
      case "array":
        return schema.minItems === 1 && direction === "output"
          ? `readonly [${typeOf(schema.items ?? {}, direction, used)}, ...ReadonlyArray<${typeOf(schema.items ?? {}, direction, used)}>]`
          : `ReadonlyArray<${typeOf(schema.items ?? {}, direction, used)}>`
      case "object":
        return objectOf(schema, direction, used)
      default:
        return "unknown"
    }
  }

  const objectOf = ({ additionalProperties, properties, required = [] }: Schema, direction: Direction, used: Set<string>): string => {
    if (properties === undefined) {
      return `Readonly<Record<string, ${additionalProperties === undefined ? "unknown" : typeOf(additionalProperties, direction, used)}>>`
    }
    const fields = Object.entries(properties).map(([name, schema]) => field(name, schema, required.includes(name), direction, used))
    return `{${indented(`\n${fields.join("\n")}`)}\n}`
  }

  const field = (name: string, schema: Schema, isRequired: boolean, direction: Direction, used: Set<string>): string => {
    const notes = notesOf(name, schema)
    const type = typeOf(schema, direction, used)
    const optional = isRequired ? ": " : "?: "
    const orUndefined = isRequired || direction === "output" ? "" : " | undefined"
    return `${comment(notes.length === 0 ? [] : [notes.join(" ")])}readonly ${keyOf(name)}${optional}${type}${orUndefined}`
  }

  /** The names that a request's body may lead to. */
  const reachable = (names: Iterable<string>): ReadonlySet<string> => {
    const reached = new Set<string>()
    const queue = [...names]
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      if (reached.has(name)) continue
      reached.add(name)
      const used = new Set<string>()
      structureOf(declared.get(name) ?? {}, "input", used)
      queue.push(...used)
    }
    return reached
  }

  const declarations = (inputs: Iterable<string>, only?: ReadonlySet<string>): string => {
    const given = reachable(inputs)
    return [...declared]
      .filter(([name]) => only?.has(name) ?? true)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, schema]) => {
        const type = structureOf(schema, given.has(name) ? "input" : "output", new Set())
        const notes = comment(schema.description === undefined ? [] : [sentence(schema.description)])
        return type.startsWith("{") ? `${notes}export interface ${name} ${type}\n` : `${notes}export type ${name} = ${type}\n`
      })
      .join("\n")
  }

  return { typeOf, field, reachable, declarations }
}

type Types = ReturnType<typeof makeTypes>

/** One operation of the description, with what it is called. */
interface Call {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** The media types of bodies that are sent as they are. */
const uploadTypes = ({ requestBody }: Operation): ReadonlyArray<string> =>
  Object.keys(requestBody?.content ?? {}).filter((type) => !/[/+]json$/.test(type))

/** What an operation is given, as the fields of an object. */
const inputFields = ({ operation, path }: Call, types: Types, used: Set<string>, omitted: ReadonlySet<string>) => {
  const parameters = operation.parameters.filter(({ name }) => !omitted.has(name))
  const fields = new Map<string, { readonly text: string; readonly isRequired: boolean }>()
  const add = (name: string, text: string, isRequired: boolean): void => {
    if (fields.has(name)) throw new Error(`${operation.operationId}: two inputs are called ${name}`)
    fields.set(name, { text, isRequired })
  }
  for (const parameter of parameters) {
    const { name, required } = parameter
    if (!isName(name)) throw new Error(`${path}: the parameter ${name} cannot be a field`)
    add(name, types.field(name, parameterSchema(parameter), required, "input", used), required)
  }
  const body = operation.requestBody?.content?.["application/json"]
  const uploads = uploadTypes(operation)
  if (body !== undefined) {
    add("body", types.field("body", body.schema, true, "input", used), true)
  } else if (uploads.length > 0) {
    used.add("Bytes")
    add("contentType", `readonly contentType: ${uploads.map((type) => JSON.stringify(type)).join(" | ")}`, true)
    add("body", "readonly body: Bytes", true)
  }
  return fields
}

/** The successes that have a body or end the call, by media type. */
const successesOf = ({ responses }: Operation): ReadonlyMap<string, ReadonlyArray<Schema>> => {
  const found = new Map<string, Array<Schema>>()
  for (const [status, { content }] of Object.entries(responses)) {
    if (!status.startsWith("2")) continue
    for (const [type, { schema }] of Object.entries(content ?? {})) found.set(type, [...(found.get(type) ?? []), schema])
  }
  return found
}

const meaningful = new Set(["400", "408", "413", "428", "429", "500", "503", "507"])

/** The refusals of an operation that say more than those that every operation may answer. */
const refusalsOf = ({ responses }: Operation): ReadonlyArray<string> =>
  Object.entries(responses)
    .filter(([status, { $ref }]) => status >= "400" && $ref !== undefined && !meaningful.has(status))
    .map(([status, { $ref = "" }]) => `${status} ${($ref.split("/").at(-1) ?? "").replace(/^Scim/, "")}`)

const docs = ({ method, operation, path }: Call, before: ReadonlyArray<string> = []): string => {
  const refusals = refusalsOf(operation)
  return comment([
    ...(operation.summary === undefined ? [] : [`${sentence(operation.summary)} ${operation.description ?? ""}`.trim(), ""]),
    ...before.flatMap((line) => [line, ""]),
    `\`${method} ${path}\``,
    ...(refusals.length === 0 ? [] : ["", `@throws AtelierError ${refusals.join(", ")}`])
  ])
}

/** What the functions of one area use of other modules. */
interface Uses {
  readonly types: Set<string>
  readonly functions: Set<string>
}

/** A function of an area, and the type of its input. */
const emitFunction = (
  call: Call,
  types: Types,
  uses: Uses,
  how: {
    readonly name: string
    readonly omitted?: ReadonlyArray<string>
    readonly before?: ReadonlyArray<string>
    readonly options: string
    readonly result: string
    readonly body: (template: string, input: string, options: string) => string
  }
): string => {
  const fields = inputFields(call, types, uses.types, new Set(how.omitted))
  const inputType = `${capitalized(how.name)}Input`
  const declaration =
    fields.size === 0
      ? ""
      : `export interface ${inputType} {${indented(`\n${[...fields.values()].map(({ text }) => text).join("\n")}`)}\n}\n\n`
  const isOptional = [...fields.values()].every(({ isRequired }) => !isRequired)
  const input = fields.size === 0 ? "" : `, input: ${inputType}${isOptional ? " = {}" : ""}`
  const body = how.body(JSON.stringify(call.path), fields.size === 0 ? "{}" : "input", "options")
  const signature = `(client: Client${input}${how.options === "" ? "" : `, options?: ${how.options}`}): ${how.result}`
  return `${declaration}${docs(call, how.before)}export const ${how.name} = ${signature} =>\n  ${body}\n`
}

const emitCall = (
  call: Call,
  types: Types,
  uses: Uses,
  {
    name,
    omitted,
    reader,
    result
  }: { readonly name: string; readonly omitted?: ReadonlyArray<string>; readonly reader: string; readonly result: string }
): string => {
  uses.functions.add("call").add(reader)
  const isAnonymous = result.startsWith("{")
  const declaration = isAnonymous ? `export interface ${capitalized(name)}Result ${result}\n\n` : ""
  const text = emitFunction(call, types, uses, {
    name,
    ...(omitted === undefined ? {} : { omitted }),
    options: "CallOptions",
    result: `Promise<${isAnonymous ? `${capitalized(name)}Result` : result}>`,
    body: (template, input, options) => `call(client, ${JSON.stringify(call.method)}, ${template}, ${reader}, ${input}, ${options})`
  })
  return declaration + text
}

const resumptions: Readonly<Record<StreamForm["resume"], string>> = {
  snapshot: "Reconnects after an interruption; the first value is then the whole again.",
  after: "Reconnects after an interruption and goes on behind the last value.",
  never: "Does not reconnect: the caller does, if that is right."
}

const unknownStream: StreamForm = { framing: "bytes", resume: "never", schema: {} }

/** A function that listens: to server-sent events, or to a WebSocket. */
const emitStream = (
  call: Call,
  types: Types,
  uses: Uses,
  name: string,
  omitted: ReadonlyArray<string>,
  transport: "events" | "socket"
): string => {
  const form = call.operation["x-stream"] ?? unknownStream
  if (form.framing === "bytes") {
    uses.functions.add("openSocket")
    uses.types.add("Socket").add("CallOptions")
    return emitFunction(call, types, uses, {
      name,
      omitted,
      before: ["Opens a WebSocket for both directions. " + resumptions.never],
      options: "CallOptions",
      result: "Promise<Socket>",
      body: (template, input, options) => `openSocket(client, ${template}, ${input}, ${options})`
    })
  }
  const value = types.typeOf(form.schema, "output", uses.types)
  const source = transport === "events" ? "serverSentEvents" : form.framing === "events" ? "socketEvents" : "socketValues"
  const following = form.resume === "after" ? "behind" : "again"
  uses.functions.add(source).add(following)
  uses.types.add("StreamOptions")
  return emitFunction(call, types, uses, {
    name,
    omitted,
    before: [resumptions[form.resume]],
    options: "StreamOptions",
    result: `AsyncGenerator<${value}, void, undefined>`,
    body: (template, input, options) =>
      `${source}(client, ${template}, ${omitted.includes("follow") ? `{ ...${input}, follow: "" }` : input}, ${following}, ${options})`
  })
}

/** Parameters that select the form of a log, and those that change nothing. */
const forms = ["follow", "format", "no_compression", "before"]

const isFollowed = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === "follow")

const followed = (name: string): string => `follow${name.replace(/^get/, "")}`

const emitOperation = (call: Call, types: Types, uses: Uses): ReadonlyArray<string> => {
  const { name, operation } = call
  const upgrades = "101" in operation.responses
  // The messages of a WebSocket may come as events too, and a client needs one form
  const successes = new Map([...successesOf(operation)].filter(([media]) => !upgrades || media !== "text/event-stream"))
  const type = (media: string): string =>
    [...new Set((successes.get(media) ?? []).map((schema) => types.typeOf(schema, "output", uses.types)))].join(" | ")
  const json = [...successes.keys()].find((media) => /[/+]json$/.test(media))
  const texts = [...successes.keys()].some((media) => media.startsWith("text/"))
  const redirects = Object.keys(operation.responses).some((status) => status.startsWith("3") && status !== "304")
  if (successes.has("text/event-stream")) return [emitStream(call, types, uses, name, [], "events")]
  const functions: Array<string> = []
  const omitted = isFollowed(operation) ? forms : []
  if (json !== undefined) {
    const value = type(json)
    // JSON of no schema is what a program wrote, byte for byte
    const raw = value === "unknown"
    const result = "204" in operation.responses ? `${value} | undefined` : value
    functions.push(
      emitCall(call, types, uses, { name, omitted, ...(raw ? { reader: "bytes", result: "Uint8Array" } : { reader: "json", result }) })
    )
    if (isFollowed(operation) && texts) functions.push(emitText(call, types, uses))
  } else if (texts) {
    functions.push(emitCall(call, types, uses, { name, reader: "text", result: "string" }))
  } else if (successes.size > 0) {
    functions.push(emitCall(call, types, uses, { name, reader: "bytes", result: "Uint8Array" }))
  } else if (!upgrades && Object.keys(operation.responses).some((status) => status.startsWith("2"))) {
    functions.push(emitCall(call, types, uses, { name, reader: "nothing", result: "void" }))
  }
  if (upgrades) functions.push(emitStream(call, types, uses, functions.length === 0 ? name : followed(name), omitted, "socket"))
  if (redirects) {
    uses.functions.add("addressOf")
    functions.push(
      emitFunction(call, types, uses, {
        name: `${name}Address`,
        before: ["Returns the address without a request: a browser is to go there."],
        options: "",
        result: "string",
        body: (template, input) => `addressOf(client, ${template}, ${input})`
      })
    )
  }
  return functions
}

/** A log as lines of text. */
const emitText = (call: Call, types: Types, uses: Uses): string => {
  uses.functions.add("call").add("text")
  uses.types.add("CallOptions")
  return emitFunction(call, types, uses, {
    name: `${call.name}Text`,
    omitted: forms,
    before: ["Returns lines of text."],
    options: "CallOptions",
    result: "Promise<string>",
    body: (template, input, options) =>
      `call(client, ${JSON.stringify(call.method)}, ${template}, text, { ...${input}, format: "text" }, ${options})`
  })
}

/** The modules that functions and types come from. */
const origins: Readonly<Record<string, string>> = {
  call: "../call.js",
  json: "../call.js",
  text: "../call.js",
  bytes: "../call.js",
  nothing: "../call.js",
  addressOf: "../call.js",
  serverSentEvents: "../events.js",
  socketEvents: "../sockets.js",
  socketValues: "../sockets.js",
  openSocket: "../sockets.js",
  again: "../stream.js",
  behind: "../stream.js",
  Bytes: "../call.js",
  CallOptions: "../call.js",
  StreamOptions: "../stream.js",
  Socket: "../sockets.js",
  Client: "../Client.js"
}

const importsOf = ({ functions, types }: Uses): string => {
  const byModule = new Map<string, Array<string>>()
  const add = (name: string, text: string): void => {
    const module = origins[name] ?? "./types.js"
    byModule.set(module, [...(byModule.get(module) ?? []), text])
  }
  for (const name of [...functions].toSorted()) add(name, name)
  for (const name of [...types].toSorted()) add(name, `type ${name}`)
  return [...byModule]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([module, names]) =>
      names.every((name) => name.startsWith("type "))
        ? `import type { ${names.map((name) => name.slice(5)).join(", ")} } from "${module}"\n`
        : `import { ${names.join(", ")} } from "${module}"\n`
    )
    .join("")
}

/** The operations of a description by area, in its order. */
const callsOf = ({ paths }: Description): ReadonlyMap<string, ReadonlyArray<Call>> => {
  const areas = new Map<string, Array<Call>>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [area = "", name = ""] = operation.operationId.split(".")
      areas.set(area, [...(areas.get(area) ?? []), { name, method: method.toUpperCase(), path, operation }])
    }
  }
  return new Map([...areas].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Names that requests lead to. */
const inputNames = (description: Description, types: Types): ReadonlySet<string> => {
  const used = new Set<string>()
  for (const calls of callsOf(description).values()) for (const call of calls) inputFields(call, types, used, new Set())
  used.delete("Bytes")
  return used
}

/** The client's generated modules, by file name. */
export const emitClient = (description: Description): ReadonlyMap<string, string> => {
  const types = makeTypes(description.components.schemas)
  const areas = callsOf(description)
  const files = new Map<string, string>()
  files.set(
    "types.ts",
    `${notice}/** What the service answers, and parts of what it is given. */\n${types.declarations(inputNames(description, types))}`
  )
  for (const [area, calls] of areas) {
    const uses: Uses = { types: new Set(["Client"]), functions: new Set() }
    const functions = calls.flatMap((call) => emitOperation(call, types, uses))
    if (functions.some((text) => text.includes("CallOptions"))) uses.types.add("CallOptions")
    const about = description.tags.find(({ name }) => name === area)?.description
    files.set(`${area}.ts`, `${notice}${about === undefined ? "" : `/** ${about} */\n`}${importsOf(uses)}\n${functions.join("\n")}`)
  }
  files.set(
    "index.ts",
    `${notice}${[...areas.keys()].map((area) => `export * as ${area} from "./${area}.js"\n`).join("")}export type * from "./types.js"\n`
  )
  return files
}

/** An object type of fields; empty without fields. */
const part = (name: string, fields: ReadonlyArray<{ readonly text: string; readonly isRequired: boolean }>): ReadonlyArray<string> => {
  if (fields.length === 0) return []
  const optional = fields.some(({ isRequired }) => isRequired) ? ": " : "?: "
  const orUndefined = optional === ": " ? "" : " | undefined"
  return [`readonly ${name}${optional}{${indented(`\n${fields.map(({ text }) => text).join("\n")}`)}\n}${orUndefined}`]
}

/** The routes of the endpoints, which the server finds a request's implementation by. */
export const emitRoutes = (routes: ReadonlyArray<object>): string =>
  [
    "// Generated from the contract by `npm run generate`. Changes here are lost.",
    'import type { Route } from "../Route.js"',
    "",
    "/** The facts of each endpoint that the server needs before it loads the implementation: method, path, pattern. */",
    "export const routes: ReadonlyArray<Route> = [",
    routes.map((route) => `  ${JSON.stringify(route)}`).join(",\n"),
    "]",
    ""
  ].join("\n")

/** The inputs of every operation, in the form of the client for Effect applications. */
export const emitInputs = (description: Description): string => {
  const types = makeTypes(description.components.schemas)
  const used = new Set<string>()
  const groups = [...callsOf(description)].map(([area, calls]) => {
    const operations = calls.map(({ name, operation }) => {
      const fieldsIn = (place: string) =>
        operation.parameters
          .filter((parameter) => parameter.in === place)
          .map((parameter) => ({
            text: types.field(parameter.name, parameterSchema(parameter), parameter.required, "input", used),
            isRequired: parameter.required
          }))
      const payload = operation.requestBody?.content?.["application/json"]
      const parts = [
        ...part("path", fieldsIn("path")),
        ...part("urlParams", fieldsIn("query")),
        ...(payload === undefined ? [] : [types.field("payload", payload.schema, true, "input", used)])
      ]
      return parts.length === 0 ? `readonly ${name}: {}` : `readonly ${name}: {${indented(`\n${parts.join("\n")}`)}\n}`
    })
    return `readonly ${area}: {${indented(`\n${operations.join("\n")}`)}\n}`
  })
  const declarations = types.declarations(used, types.reachable(used))
  return `${notice}/** What each operation is given, by group and name. */\nexport interface Inputs {${indented(`\n${groups.join("\n")}`)}\n}\n\n${declarations}`
}
