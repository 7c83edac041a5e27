/**
 * Reads the inputs that an endpoint declares (`input.ts`). Each reader is compiled from its schema once and answers the value or the
 * refusal. identity.md §1.4, §1.5.
 */
import { Invalid, Uuid, type Validation } from "@atelier/core/platform"
import { Either, Option, ParseResult, Schema, SchemaAST as AST } from "effect"
import { acceptsNul, isStrict } from "../input.js"
import { parseFirst, Unreadable } from "./json.js"

/** Reads an input of one kind. */
export type Reader<Input> = (input: Input) => Either.Either<unknown, Invalid>

const decoderOf = (ast: AST.AST, errors: "first" | "all") =>
  ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast), { errors, onExcessProperty: "ignore" })

/** Characters of a body up to which every error is looked for: a large one may hold a million. */
const thoroughLength = 64 * 1024

/** Entries of `validations`. */
const maximumValidations = 100

/** Reads a JSON body: the first value of the text. */
export const bodyReader = (ast: AST.AST): Reader<string> => {
  const normalize = normalizerOf(ast) ?? ((value: unknown) => value)
  const decode = decoderOf(ast, "first")
  const decodeThoroughly = decoderOf(ast, "all")
  const refusesNul = !acceptsNul(ast)
  const isObject = propertiesOf(ast) !== undefined
  return (text) => {
    const parsed = parseFirst(text)
    if (parsed instanceof Unreadable) return Either.left(unreadable(parsed.reason))
    const body = normalize(parsed === null && isObject ? {} : parsed)
    if (refusesNul && /\\u0000/.test(text)) {
      const field = fieldWithNul(body, "")
      if (field !== undefined) return Either.left(Invalid.field(field, "must not contain the character U+0000"))
    }
    const decoded = decode(body)
    return Either.isRight(decoded) || text.length > thoroughLength
      ? Either.mapLeft(decoded, refuseBody)
      : Either.mapLeft(decodeThoroughly(body), refuseBody)
  }
}

/** Reads the parameters of a path, which the router has decoded. */
export const pathReader = (ast: AST.AST): Reader<Readonly<Record<string, string | undefined>>> => {
  const decode = decoderOf(ast, "all")
  return (params) => {
    for (const name in params) {
      if (params[name]?.includes("\0")) return Either.left(new Invalid({ message: `Invalid path parameter "${name}".` }))
    }
    return Either.mapLeft(decode(params), (issue) => {
      const [first] = findingsIn(issue)
      return new Invalid({ message: `Invalid path parameter "${first?.field}".`, detail: first?.detail })
    })
  }
}

/** Reads query parameters. Those of `elsewhere` are read by somebody else. */
export const queryReader = (
  ast: AST.AST,
  elsewhere: ReadonlyArray<string>
): Reader<Readonly<Record<string, string | ReadonlyArray<string>>>> => {
  const decode = decoderOf(ast, "all")
  const parameters = [...(propertiesOf(ast) ?? [])].map(([, { name, type }]) => ({ name, isList: isList(type) }))
  const known = new Set([...elsewhere, ...parameters.map(({ name }) => name)])
  const strict = isStrict(ast)
  return (query) => {
    const values: Record<string, string | ReadonlyArray<string>> = {}
    const findings: Array<Validation> = []
    if (strict) {
      const unknown = Object.keys(query).filter((name) => !known.has(name))
      findings.push(...unknown.map((field) => ({ field, detail: "is not a parameter of this operation" })))
    }
    for (const { isList, name } of parameters) {
      const given = Object.hasOwn(query, name) ? query[name] : undefined
      if (given === undefined) continue
      const occurrences = typeof given === "string" ? [given] : given
      if (occurrences.some((value) => value.includes("\0"))) {
        findings.push({ field: name, detail: "must not contain the character U+0000" })
      } else if (isList) {
        values[name] = occurrences.flatMap((value) => value.split(",")).flatMap((value) => value.trim() || [])
      } else if (occurrences.length > 1) {
        findings.push({ field: name, detail: "must be given once" })
      } else if (occurrences[0]) {
        values[name] = occurrences[0]
      }
    }
    const decoded = decode(values)
    if (Either.isLeft(decoded)) findings.push(...findingsIn(decoded.left).map(({ detail, field }) => ({ field, detail })))
    return findings.length === 0 && Either.isRight(decoded)
      ? Either.right(decoded.right)
      : Either.left(new Invalid({ message: "Query parameters have invalid values.", validations: distinct(findings) }))
  }
}

const unreadable = (cause: string): Invalid => new Invalid({ message: "Request body must be valid JSON.", detail: cause })

const refuseBody = (issue: ParseResult.ParseIssue): Invalid => {
  const findings = findingsIn(issue)
  const shape = findings.find(({ kind }) => kind === "shape")
  return shape === undefined
    ? new Invalid({ message: "Validation failed.", validations: distinct(findings.map(({ detail, field }) => ({ field, detail }))) })
    : unreadable(shape.field === "" ? shape.detail : `${shape.field}: ${shape.detail}`)
}

/** One entry per field: the first rule it breaks. */
const distinct = (validations: ReadonlyArray<Validation>): ReadonlyArray<Validation> => {
  const fields = new Set<string>()
  return validations.filter(({ field }) => !fields.has(field) && fields.add(field)).slice(0, maximumValidations)
}

// ---------------------------------------------------------------------------------------------------------------------------------
// What is wrong

interface Finding extends Validation {
  /** `shape`: the value is not of the field's type at all; `rule`: it is, and is refused. */
  readonly kind: "shape" | "rule"
}

const findingsIn = (issue: ParseResult.ParseIssue, path = ""): ReadonlyArray<Finding> => {
  switch (issue._tag) {
    case "Pointer":
      return findingsIn(issue.issue, join(path, issue.path))
    case "Composite":
      return issue.ast._tag === "Union"
        ? findingsInUnion(issue.ast, issue, path)
        : many(issue.issues).flatMap((inner) => findingsIn(inner, path))
    case "Refinement": {
      if (issue.kind === "From") return findingsIn(issue.issue, path)
      return [finding(isShape(issue.ast) ? "shape" : "rule", path, issue, messageOf(issue.ast, issue) ?? innermost(issue))]
    }
    case "Transformation":
      return issue.kind === "Transformation" ? [finding("shape", path, issue, innermost(issue))] : findingsIn(issue.issue, path)
    case "Missing":
      return [{ kind: "rule", field: path, detail: "is required" }]
    default:
      return [finding(isUnknownName(issue) ? "rule" : "shape", path, issue, innermost(issue))]
  }
}

/** A union refuses with what its likeliest member says: one whose type the value has. */
const findingsInUnion = (ast: AST.Union, issue: ParseResult.Composite, path: string): ReadonlyArray<Finding> => {
  const literals = ast.types.filter(AST.isLiteral)
  const members = ast.types.filter((type) => type._tag !== "UndefinedKeyword" && !(AST.isLiteral(type) && type.literal === null))
  if (literals.length > 0 && members.every(AST.isLiteral)) {
    const sameType = members.some(({ literal }) => typeof literal === typeof issue.actual)
    const allowed = `must be one of ${members.map(({ literal }) => JSON.stringify(literal)).join(", ")}`
    return [finding(sameType ? "rule" : "shape", path, issue, allowed)]
  }
  const found = many(issue.issues)
    .map((inner) => findingsIn(inner, path))
    .filter((findings) => findings.every(({ detail }) => !/^Expected (undefined|null)\b/.test(detail)))
  return (
    found.find((findings) => findings.every(({ kind }) => kind === "rule")) ?? found[0] ?? [finding("shape", path, issue, "is not allowed")]
  )
}

const many = <A>(items: ParseResult.SingleOrNonEmpty<A>): ReadonlyArray<A> => (Array.isArray(items) ? items : [items as A])

const join = (path: string, more: ParseResult.Path): string =>
  many(more).reduce<string>(
    (joined, key) => (typeof key === "number" ? `${joined}[${key}]` : joined === "" ? String(key) : `${joined}.${String(key)}`),
    path
  )

/** Values of fields that hold secrets are not repeated: neither as such nor in a message about their type. */
const secret = /passw|secret|token|passcode|key|(?:^|\.)(?:value|content)$/i

const finding = (kind: Finding["kind"], field: string, issue: { readonly actual: unknown }, rule: string): Finding => {
  if (secret.test(field)) return { kind, field, detail: rule.replace(/, actual [^]*$/, "") }
  const value = issue.actual === "" || typeof issue.actual === "object" ? undefined : JSON.stringify(issue.actual)
  return { kind, field, detail: value === undefined ? rule : `${rule}, not ${value.length > 80 ? `${value.slice(0, 80)}…` : value}` }
}

/** A refinement that says which form a text has, rather than which texts are welcome. */
const isShape = (ast: AST.Refinement): boolean => {
  const id = ast.annotations[AST.SchemaIdAnnotationId]
  const schema = ast.annotations[AST.JSONSchemaAnnotationId]
  return (
    id === Schema.IntSchemaId ||
    id === Schema.FiniteSchemaId ||
    (typeof schema === "object" && schema !== null && "format" in schema && (schema.format === "uuid" || schema.format === "date-time"))
  )
}

const isUnknownName = (issue: ParseResult.ParseIssue): boolean =>
  issue._tag === "Type" && AST.isLiteral(issue.ast) && typeof issue.ast.literal === typeof issue.actual

const messageOf = (ast: AST.Annotated, issue: ParseResult.ParseIssue): string | undefined =>
  Option.getOrUndefined(
    Option.flatMap(AST.getMessageAnnotation(ast), (message) => {
      const text = message(issue)
      return typeof text === "string" ? Option.some(text) : Option.none()
    })
  )

const innermost = (issue: ParseResult.ParseIssue): string => ParseResult.ArrayFormatter.formatIssueSync(issue)[0]?.message ?? "is not valid"

// ---------------------------------------------------------------------------------------------------------------------------------
// How bodies are brought into the form their schema describes

type Normalizer = (value: unknown) => unknown

interface Property {
  readonly name: string
  readonly type: AST.AST
}

/** The properties an object may have on the wire, by lower-case name; undefined where the schema describes no object. */
const propertiesOf = (ast: AST.AST): ReadonlyMap<string, Property> | undefined => {
  switch (ast._tag) {
    case "TypeLiteral":
      return new Map(
        ast.propertySignatures.flatMap(({ name, type }) =>
          typeof name === "string" ? [[name.toLowerCase(), { name, type }] as const] : []
        )
      )
    case "Refinement":
    case "Transformation":
      return propertiesOf(ast.from)
    case "Suspend":
      return propertiesOf(ast.f())
    case "Union": {
      const members = ast.types.flatMap((type) => propertiesOf(type) ?? [])
      return members.length === 0 ? undefined : new Map(members.flatMap((member) => [...member]))
    }
    default:
      return undefined
  }
}

/** The type of the values of a map; undefined where the schema describes none. */
const entriesOf = (ast: AST.AST): AST.AST | undefined => {
  switch (ast._tag) {
    case "TypeLiteral":
      return ast.indexSignatures[0]?.type
    case "Refinement":
    case "Transformation":
      return entriesOf(ast.from)
    case "Suspend":
      return entriesOf(ast.f())
    case "Union":
      return ast.types.map(entriesOf).find((type) => type !== undefined)
    default:
      return undefined
  }
}

const normalizers = new WeakMap<AST.AST, { readonly normalize: Normalizer | undefined }>()

/**
 * Finds fields whatever the case of their names, drops null and what no field asks for, and drops the all-zero UUID that clients
 * send for "absent" (wire.md W3). Undefined where there is nothing to do.
 */
const normalizerOf = (ast: AST.AST): Normalizer | undefined => {
  const known = normalizers.get(ast)
  if (known !== undefined) return known.normalize
  // A recursive schema meets itself: then it is looked up when a value gets there
  normalizers.set(ast, { normalize: (value) => normalizers.get(ast)?.normalize?.(value) ?? value })
  const normalize = makeNormalizer(ast)
  normalizers.set(ast, { normalize })
  return normalize
}

const makeNormalizer = (ast: AST.AST): Normalizer | undefined => {
  switch (ast._tag) {
    case "Refinement":
    case "Transformation":
      return normalizerOf(ast.from)
    case "Suspend":
      return normalizerOf(ast.f())
    case "TupleType": {
      const item = ast.rest[0] === undefined ? undefined : normalizerOf(ast.rest[0].type)
      return item === undefined ? undefined : (value) => (Array.isArray(value) ? value.map(item) : value)
    }
    case "TypeLiteral":
      return objectNormalizer(ast)
    case "Union": {
      const object = propertiesOf(ast) === undefined ? undefined : objectNormalizer(ast)
      const array = ast.types.filter((type) => AST.isTupleType(AST.encodedAST(type))).map(normalizerOf)[0]
      if (object === undefined && array === undefined) return undefined
      return (value) => (Array.isArray(value) ? (array?.(value) ?? value) : (object?.(value) ?? value))
    }
    default:
      return undefined
  }
}

const objectNormalizer = (ast: AST.TypeLiteral | AST.Union): Normalizer => {
  const properties = new Map(
    [...(propertiesOf(ast) ?? [])].map(([key, { name, type }]) => [key, { name, isUuid: isUuid(type), normalize: normalizerOf(type) }])
  )
  const entries = entriesOf(ast)
  const entry = entries === undefined ? undefined : { normalize: normalizerOf(entries) ?? ((value: unknown) => value) }
  return (value) => {
    if (!isObject(value)) return value
    const result: Record<string, unknown> = Object.create(null)
    for (const key of Object.keys(value)) {
      const given = value[key]
      if (given === null) continue
      const property = properties.get(key.toLowerCase())
      if (property === undefined) {
        if (entry !== undefined) result[key] = entry.normalize(given)
      } else if (!(property.isUuid && given === Uuid.nil)) {
        result[property.name] = property.normalize === undefined ? given : property.normalize(given)
      }
    }
    return result
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isUuid = (ast: AST.AST): boolean => {
  const schema = ast.annotations[AST.JSONSchemaAnnotationId]
  if (typeof schema === "object" && schema !== null && "format" in schema && schema.format === "uuid") return true
  switch (ast._tag) {
    case "Refinement":
    case "Transformation":
      return isUuid(ast.from)
    case "Union":
      return ast.types.some(isUuid)
    default:
      return false
  }
}

const isList = (ast: AST.AST): boolean => {
  const encoded = AST.encodedAST(ast)
  return encoded._tag === "Union" ? encoded.types.some(isList) : encoded._tag === "TupleType"
}

/** The first field, in the order of the document, whose text holds the character U+0000. */
const fieldWithNul = (value: unknown, path: string): string | undefined => {
  if (typeof value === "string") return value.includes("\0") ? path : undefined
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const name = join(path, Array.isArray(value) ? Number(key) : key)
    if (key.includes("\0")) return path
    const found = fieldWithNul(inner, name)
    if (found !== undefined) return found
  }
  return undefined
}
