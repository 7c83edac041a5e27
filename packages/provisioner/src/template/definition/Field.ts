/** The kinds of fields that a template's schema is made of, each with the words in which it refuses a value. */
import { Either, ParseResult, Schema } from "effect"
import { localPath } from "../../engine/LocalPath.js"
import { Condition, TemplateText } from "../Expression.js"
import { parseCondition, parseText } from "../ExpressionParser.js"

export const show = (actual: unknown): string => {
  if (actual === null || actual === undefined) return "empty"
  if (Array.isArray(actual)) return "a list"
  if (typeof actual === "object") return "a mapping"
  const text = typeof actual === "string" ? JSON.stringify(actual) : String(actual)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

export const must = (what: string) => ({ message: (issue: ParseResult.ParseIssue) => `must be ${what}, not ${show(issue.actual)}` })

/** YAML knows no undefined, so a key that may be absent is exactly that. */
export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
export const orElse = <A, I>(schema: Schema.Schema<A, I>, initial: NoInfer<A>) =>
  Schema.optionalWith(schema, { exact: true, default: () => initial })

/** A list of at most `max` items, which are counted before any is read. */
export const list = <A, I>(item: Schema.Schema<A, I>, max: number) =>
  orElse(
    Schema.Array(Schema.Unknown).pipe(
      Schema.maxItems(max, { message: () => `has more than ${max} items` }),
      Schema.compose(Schema.Array(item), { strict: false })
    ),
    []
  )

export const oneOf = <const Values extends readonly [string, ...Array<string>]>(...values: Values) =>
  Schema.Literal(...values).annotations(must(`one of ${values.join(", ")}`))

export const flag = (initial: boolean) => orElse(Schema.Boolean.annotations(must("true or false")), initial)

export const maximumInteger = 2 ** 31 - 1

export const integer = (min: number, max = maximumInteger) =>
  Schema.Int.annotations(must("a whole number")).pipe(Schema.between(min, max, must(`a whole number from ${min} to ${max}`)))

export const named = (pattern: RegExp, max: number, what: string) =>
  Schema.String.annotations(must("text")).pipe(
    Schema.filter((name) =>
      name.length <= max && pattern.test(name) ? undefined : `must be ${what} of at most ${max} characters, not ${show(name)}`
    )
  )

export const plain = (max: number) =>
  Schema.String.annotations(must("text")).pipe(
    Schema.filter((text) => (text.length > 0 && text.length <= max ? undefined : `must be text of 1 to ${max} characters`))
  )

export const Identifier = named(/^[a-zA-Z_][a-zA-Z0-9_-]*$/, 64, "a name of letters, digits, _ and -, not starting with a digit or -,")

/** Text with expressions in it. */
export const Text = Schema.transformOrFail(Schema.String.annotations(must("text")), Schema.instanceOf(TemplateText), {
  strict: true,
  decode: (source, _, ast) => Either.mapLeft(parseText(source), ({ message }) => new ParseResult.Type(ast, source, message)),
  encode: ({ source }) => Either.right(source)
})

const Scalar = Schema.Union(Text, Schema.JsonNumber, Schema.Boolean)

/** The reason a text was refused is of more use than the list of what else the value could have been. */
const orSyntax = (what: string, ofLists: string) => ({
  message: ({ actual }: ParseResult.ParseIssue) => {
    const texts: ReadonlyArray<unknown> = Array.isArray(actual) ? actual : [actual]
    const broken = texts.flatMap((text) => (typeof text === "string" ? [parseText(text)] : [])).find(Either.isLeft)
    if (broken !== undefined) return broken.left.message
    return Array.isArray(actual) ? ofLists : `must be ${what}, not ${show(actual)}`
  }
})

/** A value that travels as text: `8080` and `true` need no quotes. */
export const TextOrScalar = Scalar.annotations(orSyntax("text, a number, true or false", "must not be a list"))
export type TextOrScalar = typeof TextOrScalar.Type

/** A value of any type a parameter or variable can have. */
export const Value = Schema.Union(...Scalar.members, Schema.Array(Text)).annotations(
  orSyntax("text, a number, true, false or a list of texts", "must be a list of texts alone")
)
export type Value = typeof Value.Type

/** Whether the entry exists at all. */
export const when = optional(
  Schema.transformOrFail(Schema.Union(Schema.String, Schema.Boolean).annotations(must("a condition")), Schema.instanceOf(Condition), {
    strict: true,
    decode: (source, _, ast) => Either.mapLeft(parseCondition(String(source)), ({ message }) => new ParseResult.Type(ast, source, message)),
    encode: ({ source }) => Either.right(source)
  })
)

export const text = optional(Text)
export const order = orElse(integer(-maximumInteger - 1), 0)

export const isEnvironmentName = (name: string): boolean => name.length <= 128 && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)
export const environmentNameRule = (name: string): string =>
  `must be a name of letters, digits and _, not starting with a digit, not ${show(name)}`

export const Environment = Schema.Record({ key: Schema.String, value: TextOrScalar }).pipe(
  Schema.filter((environment) =>
    Object.keys(environment)
      .filter((name) => !isEnvironmentName(name))
      .map((name) => ({ path: [name], message: environmentNameRule(name) }))
  )
)

/** A path inside the source; `.` is all of it. */
export const SourcePath = Schema.String.annotations(must("a path")).pipe(
  Schema.filter((path) => Either.match(localPath(path), { onLeft: (cause) => `${show(path)} ${cause}`, onRight: () => undefined }))
)
