/**
 * Reads the inputs that an endpoint declares (`input.ts`). Each reader is compiled from its schema once and answers the value or the
 * refusal. identity.md §1.4, §1.5.
 */
import { Invalid, NotFound, type Validation } from "@atelier/core/platform"
import { Either, ParseResult, Predicate, Schema, SchemaAST as AST } from "effect"
import { acceptsNul, alternativesOf, hasExactIntegers, isStrict, refusedAs, takesFirst } from "../../wire/input.js"
import { decoder, undecodable } from "./decoder.js"
import { fieldAt, findingsIn } from "./findings.js"
import { parseFirst, Unreadable } from "./json.js"
import { declaredMaximum, maximumEntries, normalizerOf, propertiesOf } from "./normalize.js"

/** Reads an input of one kind. */
export type Reader<Input, Error = Invalid> = (input: Input) => Either.Either<unknown, Error>

const decoderOf = (ast: AST.AST, errors: "first" | "all") =>
  ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast), { errors, onExcessProperty: "ignore" })

/** Characters of a body up to which every error is looked for: a large one may hold a million. */
const thoroughLength = 64 * 1024

/** Reads a JSON body: the first value of the text. */
export const bodyReader = (ast: AST.AST): Reader<string> => {
  const normalize = normalizerOf(ast) ?? ((value: unknown) => value)
  const read = decoder(ast)
  const decode = decoderOf(ast, "first")
  const decodeThoroughly = decoderOf(ast, "all")
  const refusesNul = !acceptsNul(ast)
  const exactIntegers = hasExactIntegers(ast)
  const isObject = propertiesOf(ast) !== undefined
  const alternatives = alternativesOf(ast)
  /** What a body lacks which needs one of several fields. */
  const lacked = (body: unknown): ReadonlyArray<Validation> =>
    alternatives.some((field) => Predicate.hasProperty(body, field) && body[field])
      ? []
      : alternatives.map((field) => ({
          field,
          detail: `is required without ${alternatives.filter((other) => other !== field).join(", ")}`
        }))
  return (text) => {
    const parsed = parseFirst(text, { exactIntegers })
    if (parsed instanceof Unreadable) return Either.left(unreadable(parsed.reason))
    const body = normalize(parsed === null && isObject ? {} : parsed)
    if (refusesNul && /\\u0000/.test(text)) {
      const field = fieldWithNul(body, "")
      if (field !== undefined) return Either.left(Invalid.field(field, "must not contain the character U+0000"))
    }
    const value = read(body)
    if (value !== undecodable) return Either.right(value)
    const decoded = decode(body)
    const refuse = (issue: ParseResult.ParseIssue) => refuseBody(issue, lacked(body))
    return Either.isRight(decoded) || text.length > thoroughLength
      ? Either.mapLeft(decoded, refuse)
      : Either.mapLeft(decodeThoroughly(body), refuse)
  }
}

/** Words that clients put where an id may be, because other versions have an operation of that name: `/workspaceagents/connection`. */
const unserved: ReadonlySet<string | undefined> = new Set(["connection"])

const notFound = new NotFound({ message: "Route not found." })

/** Reads the parameters of a path, which the router has decoded. */
export const pathReader = (ast: AST.AST): Reader<Readonly<Record<string, string | undefined>>, Invalid | NotFound> => {
  const decode = decoderOf(ast, "all")
  return (params) => {
    for (const name in params) {
      if (params[name]?.includes("\0")) return Either.left(new Invalid({ message: `Invalid path parameter "${name}".` }))
    }
    return Either.mapLeft(decode(params), (issue) => {
      const [first] = findingsIn(issue)
      if (first?.kind === "shape" && unserved.has(params[first.field])) return notFound
      return new Invalid({ message: `Invalid path parameter "${first?.field}".`, detail: first?.detail })
    })
  }
}

/** Characters of a query's parameter that is no list: several fit into a request's head. A provider's answer to a login may be that long. */
export const maximumParameter = 4096

/** Reads query parameters. Those of `elsewhere` are read by other code. */
export const queryReader = (
  ast: AST.AST,
  elsewhere: ReadonlyArray<string>
): Reader<Readonly<Record<string, string | ReadonlyArray<string>>>> => {
  const decode = decoderOf(ast, "all")
  const parameters = [...(propertiesOf(ast) ?? [])].map(([, { name, type }]) => ({
    name,
    maximum: listMaximum(type),
    isFirst: takesFirst(type),
    refusedAs: refusedAs(type) ?? name
  }))
  const refusalNames = new Map(parameters.map(({ name, refusedAs }) => [name, refusedAs]))
  const known = new Set([...elsewhere, ...parameters.map(({ name }) => name)])
  const renamed = ({ detail, field }: Validation): Validation => ({ field: refusalNames.get(field) ?? field, detail })
  const strict = isStrict(ast)
  return (query) => {
    const values: Record<string, string | ReadonlyArray<string>> = {}
    const findings: Array<Validation> = []
    if (strict) {
      const unknown = Object.keys(query).filter((name) => !known.has(name))
      findings.push(...unknown.map((field) => ({ field, detail: "is not a parameter of this operation" })))
    }
    for (const { isFirst, maximum, name } of parameters) {
      const given = Object.hasOwn(query, name) ? query[name] : undefined
      if (given === undefined) continue
      const all = typeof given === "string" ? [given] : given
      const occurrences = isFirst ? all.slice(0, 1) : all
      if (occurrences.some((value) => value.includes("\0"))) {
        findings.push({ field: name, detail: "must not contain the character U+0000" })
      } else if (maximum !== undefined) {
        const entries = occurrences.flatMap((value) => value.split(",")).flatMap((value) => value.trim() || [])
        if (entries.length <= maximum) values[name] = entries
        else findings.push({ field: name, detail: `must have at most ${maximum} entries` })
      } else if (occurrences.length > 1) {
        findings.push({ field: name, detail: "must be given once" })
      } else if (occurrences[0] !== undefined && occurrences[0].length > maximumParameter) {
        findings.push({ field: name, detail: `must have at most ${maximumParameter} characters` })
      } else if (occurrences[0]) {
        values[name] = occurrences[0]
      }
    }
    const decoded = decode(values)
    if (Either.isLeft(decoded))
      findings.push(...findingsIn(decoded.left).map(({ detail, field }) => ({ field: parameterOf(field), detail })))
    return findings.length === 0 && Either.isRight(decoded)
      ? Either.right(decoded.right)
      : Either.left(new Invalid({ message: "Query parameters have invalid values.", validations: findings.map(renamed) }))
  }
}

/** The parameter that a violation belongs to: items of lists have no names of their own. */
const parameterOf = (field: string): string => field.replace(/\[\d+\]$/, "")

const unreadable = (cause: string): Invalid => new Invalid({ message: "Request body must be valid JSON.", detail: cause })

/** A value of another type than its field's has no `validations`, which are for rules. identity.md §1.4. */
const refuseBody = (issue: ParseResult.ParseIssue, lacked: ReadonlyArray<Validation>): Invalid => {
  const findings = findingsIn(issue)
  const shapes = findings.filter(({ kind }) => kind === "shape")
  const [first] = shapes
  if (first === undefined)
    return new Invalid({
      message: "Validation failed.",
      validations: [...findings.map(({ detail, field }) => ({ field, detail })), ...lacked]
    })
  if (first.field === "") return new Invalid({ message: `Request body ${first.detail}.`, detail: first.detail })
  return new Invalid({
    message: `Request body field ${JSON.stringify(first.field)} ${first.detail}.`,
    detail: shapes.map(({ detail, field }) => `${field}: ${detail}`).join("; ")
  })
}

/** Entries that a query's parameter may have; undefined where it is not a list. */
const listMaximum = (ast: AST.AST, maximum = maximumEntries): number | undefined => {
  switch (ast._tag) {
    case "TupleType":
      return maximum
    case "Refinement":
      return listMaximum(ast.from, declaredMaximum(ast) ?? maximum)
    case "Transformation":
      return listMaximum(ast.from, maximum)
    case "Union":
      return ast.types.map((type) => listMaximum(type, maximum)).find((found) => found !== undefined)
    default:
      return undefined
  }
}

/** The first field, in the order of the document, whose text holds the character U+0000. */
const fieldWithNul = (value: unknown, path: string): string | undefined => {
  if (typeof value === "string") return value.includes("\0") ? path : undefined
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const name = fieldAt(path, Array.isArray(value) ? Number(key) : key)
    if (key.includes("\0")) return path
    const found = fieldWithNul(inner, name)
    if (found !== undefined) return found
  }
  return undefined
}
