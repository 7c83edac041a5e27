/**
 * What endpoints declare about their inputs: schemas of JSON bodies, query and path parameters. How they are read (names without
 * regard to case, null as absent, the two kinds of refusal …) is in `server/codec/decode.ts`. identity.md §1.4, §1.5.
 *
 * ```ts
 * .setPayload(Body({ email: required(Schema.String), name: text, template_id: Schema.optional(Uuid.Uuid) }))
 * .setPath(Path({ user: Schema.String }))
 * .setUrlParams(Query({ q: text, ...page, ids: listOf(Uuid.Uuid) }))
 * ```
 *
 * A broken rule of a body is a `validations` entry of its field; a value that is not of the field's JSON type, an id that is not a UUID
 * and a time that is no time make the whole body unreadable. In a query each is an entry of its parameter.
 */
import { Pagination, Uuid } from "@atelier/core/platform"
import { ParseResult, Redacted, Schema, SchemaAST as AST } from "effect"
import { rewriter } from "./rewrite.js"

/** The object a request's body is, with a bound for each of its texts. The description calls each field required without which it is refused. */
export const Body = <Fields extends Schema.Struct.Fields>(
  fields: Fields
): Schema.Schema<Schema.Struct.Type<Fields>, Schema.Struct.Encoded<Fields>, Schema.Struct.Context<Fields>> => {
  const names = Object.keys(fields)
  const required = names.filter((name) => isNeeded(fields[name]))
  const filled = names.filter((name) => isMarked(fields[name]))
  const jsonSchema = { required, ...(filled.length === 0 ? {} : { [filledKeyword]: filled }) }
  return Schema.make(withTextBounds(Schema.Struct(fields).annotations({ jsonSchema }).ast))
}

const alternativesId = Symbol.for("@atelier/http/alternatives")

/** A body that needs one of some fields. Services refuse it without, and a refusal of other fields names these too. */
export const withOneOf = <A, I, R>(body: Schema.Schema<A, I, R>, ...fields: ReadonlyArray<keyof I & string>): Schema.Schema<A, I, R> =>
  body.annotations({ [alternativesId]: fields })

/** A body needs one of these fields. */
export const alternativesOf = (ast: AST.Annotated): ReadonlyArray<string> => {
  const fields = ast.annotations[alternativesId]
  return Array.isArray(fields) ? fields : []
}

/** Names the fields of a body that must not be empty, to those who describe it. */
export const filledKeyword = "x-filled"

const neededId = Symbol.for("@atelier/http/needed")

/**
 * Marks a field that its schema reads as empty when it is not given, and that services refuse when it is empty: they answer all violations of a
 * body together.
 */
export const needed = <Field extends { readonly annotations: (annotations: Schema.PropertySignature.Annotations<never>) => Field }>(
  field: Field
): Field => field.annotations({ [neededId]: true })

const isMarked = (field: unknown): boolean => {
  if (!Schema.isPropertySignature(field)) return false
  const { ast } = field
  return (ast._tag === "PropertySignatureDeclaration" ? ast : ast.to).annotations[neededId] === true
}

const isNeeded = (field: unknown): boolean => {
  if (!Schema.isPropertySignature(field) || isMarked(field)) return true
  const { ast } = field
  return !(ast._tag === "PropertySignatureDeclaration" ? ast : ast.from).isOptional
}

/** Characters of a text in a body whose schema does not say otherwise. */
const usualLength = 64 * 1024

const boundId = Symbol.for("@atelier/http/textBound")

/** Whether a text has at most `maximum` characters as JSON Schema counts them: code points, never more than UTF-16 units. */
const isWithin = (text: string, maximum: number): boolean =>
  text.length <= maximum || (text.length <= 2 * maximum && [...text].length <= maximum)

/** A text of at most so many characters. */
export const boundedText = (maximum: number) =>
  Schema.String.pipe(
    Schema.filter((value) => isWithin(value, maximum), {
      message: () => `must have at most ${maximum} characters`,
      jsonSchema: { maxLength: maximum },
      [boundId]: maximum
    })
  )

const usualText = boundedText(usualLength).ast

const withTextBounds = rewriter((ast) => (ast === AST.stringKeyword ? usualText : boundId in ast.annotations ? ast : undefined))

/** The parameters of a path, as texts. */
export const Path = <Fields extends Schema.Struct.Fields>(fields: Fields) => Schema.Struct(fields)

/** The parameters of a query; those not named are ignored. */
export const Query = <Fields extends Schema.Struct.Fields>(fields: Fields) => Schema.Struct(fields)

const strictId = Symbol.for("@atelier/http/strict")

/** The parameters of a query; any other but what carries a credential is refused. */
export const StrictQuery = <Fields extends Schema.Struct.Fields>(fields: Fields) => Schema.Struct(fields).annotations({ [strictId]: true })

export const isStrict = (ast: AST.Annotated): boolean => ast.annotations[strictId] === true

/** A value that has to be given and not be empty: no empty text or list, not 0, not false. */
export const required = <A, I, R>(schema: Schema.Schema<A, I, R>) => {
  const message = () => "is required"
  // An empty annotation would hide that of the schema itself
  const bound = AST.isStringKeyword(schema.ast) ? { jsonSchema: { minLength: 1 } } : {}
  return schema.pipe(Schema.filter((value) => !isZero(value), { message, ...bound }))
}

const isZero = (value: unknown): boolean =>
  value === "" || value === 0 || value === false || value === null || value === undefined || (Array.isArray(value) && value.length === 0)

/** A text that is empty when it is not given. */
export const text = Schema.optionalWith(Schema.String, { default: () => "" })

const firstId = Symbol.for("@atelier/http/first")

/**
 * A text of the query; the first counts if a client gives several. It is empty when it is not given. Clients repeat a parameter where
 * one of their parts adds the parameter to an address that contains it: the daemons of the reference send `version` twice.
 */
export const firstText = Schema.optionalWith(Schema.String.annotations({ [firstId]: true }), { default: () => "" })

/** Whether only the first value of a query's parameter counts. Of any other that is no list, a second value is refused. */
export const takesFirst = (ast: AST.AST): boolean => annotationIn(ast, firstId) === true

const refusedAsId = Symbol.for("@atelier/http/refusedAs")

/** A query's switch that refusals call by another name. */
export const flagRefusedAs = (name: string) =>
  Schema.optionalWith(BooleanFromText.annotations({ [refusedAsId]: name }), { default: () => false })

/** A query's list of texts that refusals call by another name. */
export const listRefusedAs = (name: string) =>
  Schema.optionalWith(boundedList(Schema.String).annotations({ [refusedAsId]: name }), { default: () => [] })

/** The name by which refusals call a query's parameter, where that is not its own. */
export const refusedAs = (ast: AST.AST): string | undefined => {
  const name = annotationIn(ast, refusedAsId)
  return typeof name === "string" ? name : undefined
}

/** An annotation of a parameter's schema, or of what it is when it is given. */
const annotationIn = (ast: AST.AST, id: symbol): unknown =>
  ast.annotations[id] ??
  (ast._tag === "Union" ? ast.types.map((type) => annotationIn(type, id)).find((found) => found !== undefined) : undefined)

/** One of some words, or the empty text, which counts as absent. */
export const orEmpty = <A extends string>(words: Schema.Schema<A>) =>
  Schema.transform(Schema.Union(words, Schema.Literal("")), Schema.UndefinedOr(Schema.typeSchema(words)), {
    strict: true,
    decode: (word) => (word === "" ? undefined : word),
    encode: (word) => word ?? ("" as const)
  })

/** A switch that is off when it is not given. */
export const flag = Schema.optionalWith(Schema.Boolean, { default: () => false })

/** A whole number that is 0 when it is not given. */
export const integer = Schema.optionalWith(Schema.Int, { default: () => 0 })

/** Entries of a list or map that needs no more. Every list and map of a request has a bound, which its length is held to before anything in it is read. */
const usualMaximum = 1000

/** A list of at most `maximum` items. */
export const boundedList = <A, I, R>(item: Schema.Schema<A, I, R>, maximum = usualMaximum) =>
  Schema.Array(item).pipe(Schema.maxItems(maximum))

/** A map of at most `maximum` entries. */
export const boundedMap = <A, I, R>(value: Schema.Schema<A, I, R>, maximum = usualMaximum) =>
  Schema.Record({ key: Schema.String, value }).pipe(
    Schema.filter((map) => Object.keys(map).length <= maximum, { jsonSchema: { maxProperties: maximum } })
  )

/** A list that is empty when it is not given. */
export const list = <A, I, R>(item: Schema.Schema<A, I, R>, maximum?: number) =>
  Schema.optionalWith(boundedList(item, maximum), { default: () => [] })

/** A map that is empty when it is not given. */
export const map = <A, I, R>(value: Schema.Schema<A, I, R>, maximum?: number) =>
  Schema.optionalWith(boundedMap(value, maximum), { default: () => ({}) })

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((written) => [written, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((written) => [written, false] as const)
])

/** Whether the text of a switch turns it on. */
export const isTrue = (written: string | undefined): boolean => written !== undefined && booleans.get(written) === true

/** A switch in a query. identity.md §1.5. */
export const BooleanFromText = Schema.transformOrFail(Schema.String, Schema.Boolean, {
  strict: true,
  decode: (written, _options, ast) => {
    const value = booleans.get(written)
    return value === undefined ? ParseResult.fail(new ParseResult.Type(ast, written, "must be a boolean")) : ParseResult.succeed(value)
  },
  encode: (value) => ParseResult.succeed(String(value))
}).annotations({ jsonSchema: { type: "boolean" } })

/** A whole number in a query, of at most 2⁵³−1 in either direction. */
export const IntegerFromText = Schema.transformOrFail(Schema.String, Schema.Int, {
  strict: true,
  decode: (written, _options, ast) => {
    const value = /^[+-]?\d{1,16}$/.test(written) ? Number(written) : Number.NaN
    return Number.isSafeInteger(value)
      ? ParseResult.succeed(value)
      : ParseResult.fail(new ParseResult.Type(ast, written, "must be a whole number"))
  },
  encode: (value) => ParseResult.succeed(String(value))
}).annotations({ jsonSchema: { type: "integer" } })

/** A secret in a body; empty when it is not given, which the service refuses together with everything else. */
export const secret = Schema.optionalWith(Schema.Redacted(Schema.String), { default: () => Redacted.make("") })

/** A query's switch that is off when it is not given. */
export const flagParameter = Schema.optionalWith(BooleanFromText, { default: () => false })

/** A query's switch that anything but a word for "yes" leaves off. identity.md §1.5. */
export const lenientFlag = Schema.optionalWith(
  Schema.transform(Schema.String, Schema.Boolean, {
    strict: true,
    decode: (written) => booleans.get(written) ?? false,
    encode: String
  }).annotations({ jsonSchema: { type: "boolean" } }),
  { default: () => false }
)

/** A query's list, given as repeated parameters, commas or both; empty when it is not given. */
export const listOf = <A, R>(item: Schema.Schema<A, string, R>, maximum?: number) => list(item, maximum)

/** A query's list of words of a set. Unlike with `listOf`, an unknown word is an error of the whole parameter. */
export const listOfWords = <const Words extends readonly [string, ...Array<string>]>(...words: Words) => {
  const Word = Schema.Literal(...words)
  const isWord = Schema.is(Word)
  const Given = Schema.String.annotations({ jsonSchema: { type: "string", enum: words } })
  const Known = Schema.transformOrFail(boundedList(Given), Schema.Array(Schema.typeSchema(Word)), {
    strict: true,
    decode: (given, _options, ast) => {
      const known = given.filter(isWord)
      return known.length === given.length
        ? ParseResult.succeed(known)
        : ParseResult.fail(new ParseResult.Type(ast, given, `must consist of ${words.join(", ")}`))
    },
    encode: (given) => ParseResult.succeed(given)
  })
  return Schema.optionalWith(Known, { default: (): ReadonlyArray<Words[number]> => [] })
}

const bound = Schema.optionalWith(Pagination.Bound, { default: () => 0 })

/** The all-zero UUID counts as absent. */
const cursor = Schema.transform(Uuid.Uuid, Schema.UndefinedOr(Schema.typeSchema(Uuid.Uuid)), {
  strict: true,
  decode: (id) => (id === Uuid.nil ? undefined : id),
  encode: (id) => id ?? Uuid.nil
})

/** The parameters of a list that is read in pages. `after_id` continues behind an object. identity.md §1.5. */
export const page = { after_id: Schema.optional(cursor), limit: bound, offset: bound }

const acceptsNulId = Symbol.for("@atelier/http/acceptsNul")

/** Lets texts of a body hold the character U+0000, which the stores cannot hold: the handler has to replace it. */
export const acceptNul = <A, I, R>(schema: Schema.Schema<A, I, R>): Schema.Schema<A, I, R> => schema.annotations({ [acceptsNulId]: true })

export const acceptsNul = (ast: AST.Annotated): boolean => ast.annotations[acceptsNulId] === true

const exactIntegersId = Symbol.for("@atelier/http/exactIntegers")

/** Reads whole numbers of a body beyond 2⁵³ as they are written, as `bigint`, instead of as the nearest number that JavaScript has. */
export const exactIntegers = <A, I, R>(schema: Schema.Schema<A, I, R>): Schema.Schema<A, I, R> =>
  schema.annotations({ [exactIntegersId]: true })

export const hasExactIntegers = (ast: AST.Annotated): boolean => ast.annotations[exactIntegersId] === true
