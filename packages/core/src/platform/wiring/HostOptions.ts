/** How the options that a host writes are described, and refused before anything starts. */
import { Duration, Either, Layer, ParseResult, Redacted, Schema, SchemaAST } from "effect"
import { later } from "./Standing.js"
import { StartError } from "./StartError.js"

/** The annotation of a value that no message shows. */
const Secret = Symbol.for("@atelier/core/HostOptions/Secret")

/** A value that the test holds for. `description` continues "must be". */
export const declared = <A>(is: (input: unknown) => input is A, description: string): Schema.Schema<A> =>
  Schema.declare(is, { description })

/** A text. */
export const Text = Schema.String.annotations({ description: "a text" })

/** A text that is not empty. */
export const FilledText = Text.pipe(Schema.minLength(1, { description: "a text that is not empty" }))

/** A secret, redacted or as a text. */
export const SecretText = Schema.declare(
  (input): input is string | Redacted.Redacted<string> =>
    typeof input === "string" || (Redacted.isRedacted(input) && typeof Redacted.value(input) === "string"),
  { description: "a text, or a redacted one", [Secret]: true }
)

/** A truth value. */
export const Truth = Schema.Boolean.annotations({ description: "true or false" })

/** A whole number that is not below `least`. */
export const wholeNumber = (least: number): Schema.Schema<number> =>
  declared(
    (input): input is number => typeof input === "number" && Number.isSafeInteger(input) && input >= least,
    least === -Infinity ? "a whole number" : `a whole number of at least ${least}`
  )

const longest = Duration.days(106_751)

/** A finite time that is not negative, as Effect takes one. */
export const Time: Schema.Schema<Duration.DurationInput> = declared((input): input is Duration.DurationInput => {
  if (typeof input === "number" && !(input >= 0)) return false
  const duration = Duration.decodeUnknown(input)
  return duration._tag === "Some" && Duration.lessThanOrEqualTo(duration.value, longest)
}, 'a duration of at most 106751 days, such as "2 days", milliseconds or a Duration')

/** A function. `description` says what it answers. */
export const method = <A extends (...args: never) => unknown>(description: string): Schema.Schema<A> =>
  declared((input): input is A => typeof input === "function", description)

/** A layer. `description` says where there is one. */
export const layer = <ROut, E, R>(description: string): Schema.Schema<Layer.Layer<ROut, E, R>> =>
  declared((input): input is Layer.Layer<ROut, E, R> => Layer.isLayer(input), description)

/** An object with these methods or members, and any others. */
export const having = <A extends object>(members: ReadonlyArray<keyof A & string>, description: string): Schema.Schema<A> =>
  declared(
    (input): input is A =>
      typeof input === "object" && input !== null && members.every((member) => Reflect.get(input, member) !== undefined),
    description
  )

/** The schema of each option, by name. */
type FieldsOf<O> = { readonly [K in keyof O]-?: Schema.Schema<Exclude<O[K], undefined>> }

/** The options that an object may have: no others, and each but the required ones may be left out. */
export const object = <O extends object>(fields: FieldsOf<O>, required: ReadonlyArray<keyof O & string> = []): Schema.Schema<O> => {
  const members = Object.entries<Schema.Schema.AnyNoContext>(fields).map(([name, schema]) => [
    name,
    required.some((one) => one === name) ? schema : Schema.optional(schema)
  ])
  // The parameter's type says what the fields are
  return Schema.make(Schema.Struct(Object.fromEntries(members)).ast)
}

/** How many changes of one character lead from one text to the other; a swap of neighbours is one. */
const distance = (from: string, to: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let at = 1; at <= from.length; at++) {
    const next = [at]
    for (let other = 1; other <= to.length; other++) {
      const isSame = from[at - 1] === to[other - 1]
      const isSwap = at > 1 && other > 1 && from[at - 1] === to[other - 2] && from[at - 2] === to[other - 1]
      const changes = [(row[other] ?? 0) + 1, (next[other - 1] ?? 0) + 1, (row[other - 1] ?? 0) + (isSame ? 0 : 1)]
      next.push(Math.min(...changes, ...(isSwap ? [(before[other - 2] ?? 0) + 1] : [])))
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}

/** Returns the known name that a name is probably meant as; undefined where none is near. */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const written = name.slice(0, 100)
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const candidate of known) {
    const away = distance(written.toLowerCase(), candidate.toLowerCase())
    if (away <= Math.max(2, candidate.length / 4) && away < candidate.length && (best === undefined || away < best.distance))
      best = { name: candidate, distance: away }
  }
  return best?.name
}

/** Returns the refusal of a name that no option has. */
export const unknownName = (option: string, known: Iterable<string>): StartError => {
  const meant = nearest(option.slice(option.lastIndexOf(".") + 1), known)
  return new StartError({ option, reason: `is unknown${meant === undefined ? "" : `; did you mean ${meant}?`}` })
}

/** A few words on a value that is no text; contents stay unsaid. */
const shownOf = (value: unknown): string => {
  if (value === null) return "null"
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value)
  if (typeof value === "function") return "a function"
  if (Redacted.isRedacted(value)) return "a redacted value"
  if (Array.isArray(value)) return "a list"
  if (value instanceof Promise) return "a promise"
  if (Duration.isDuration(value)) return Duration.format(value)
  if (typeof value !== "object") return `a ${typeof value}`
  const names = Object.keys(value).slice(0, 5)
  return names.length === 0 ? "an empty object" : `an object with ${names.join(", ")}`
}

const membersOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.filter((type) => !SchemaAST.isUndefinedKeyword(type)) : [ast]

/** What a value must be, where its schema says so as a whole. */
const annotated = (ast: SchemaAST.AST): string | undefined => {
  const own = SchemaAST.getDescriptionAnnotation(ast)
  if (own._tag === "Some") return own.value
  const [only, ...more] = membersOf(ast)
  return only === undefined || only === ast || more.length > 0 ? undefined : annotated(only)
}

const described = (ast: SchemaAST.AST): string => {
  const own = annotated(ast)
  if (own !== undefined) return own
  if (SchemaAST.isTypeLiteral(ast)) return "an object"
  if (SchemaAST.isTupleType(ast)) return "a list"
  return SchemaAST.isUnion(ast) ? membersOf(ast).map(described).join(" or ") : String(ast)
}

const isSecret = (ast: SchemaAST.AST): boolean =>
  ast.annotations[Secret] === true || membersOf(ast).some((one) => one.annotations[Secret] === true)

interface Finding {
  readonly path: ReadonlyArray<PropertyKey>
  readonly actual: unknown
  /** The expected form; for an unknown name, the names that an option has. */
  readonly expected: string | ReadonlyArray<string>
  readonly isSecret: boolean
}

const namesOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isTypeLiteral(ast)
    ? ast.propertySignatures.map(({ name }) => String(name))
    : membersOf(ast).flatMap((one) => (one === ast ? [] : namesOf(one)))

/** The first thing that is wrong, at the outermost place that has a description. `around` is the schema that an issue is within. */
const findingOf = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>, around: SchemaAST.AST): Finding => {
  if (issue._tag === "Pointer") return findingOf(issue.issue, [...path, ...[issue.path].flat()], around)
  if (issue._tag === "Unexpected") return { path, actual: undefined, expected: namesOf(around), isSecret: true }
  if (issue._tag === "Missing") return { path, actual: undefined, expected: described(issue.ast.type), isSecret: true }
  const { ast } = issue
  if (annotated(ast) === undefined) {
    if (issue._tag === "Refinement" || issue._tag === "Transformation") return findingOf(issue.issue, path, ast)
    if (issue._tag === "Composite") {
      const all = [issue.issues].flat()
      // Of alternatives, one that is taken apart says more than what it is an alternative to
      const inner = SchemaAST.isUnion(ast) ? all.find(({ _tag }) => _tag === "Composite") : all[0]
      if (inner !== undefined) return findingOf(inner, path, ast)
    }
  }
  return { path, actual: issue.actual, expected: described(ast), isSecret: isSecret(ast) }
}

/** Returns the first refusal; undefined for options that can be. `place` is what their names begin with; empty for none. */
export const refusalOf = (place: string, schema: Schema.Schema.AnyNoContext, given: unknown): StartError | undefined => {
  const read = Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(given)
  if (Either.isRight(read)) return undefined
  const { actual, expected, isSecret: secret, path } = findingOf(read.left.issue, [], schema.ast)
  const option = [...(place === "" ? [] : [place]), ...path.map(String)].join(".") || "options"
  if (typeof expected !== "string") return unknownName(option, expected)
  if (actual === undefined) return new StartError({ option, reason: `is missing: it must be ${expected}` })
  if (typeof actual === "string" && !secret) return new StartError({ option, value: actual.slice(0, 200), reason: `must be ${expected}` })
  return new StartError({ option, reason: `must be ${expected}${secret ? "" : `, not ${shownOf(actual)}`}` })
}

/** The layer that is made of options; for options that cannot be, one that fails with `StartError`. */
export const checkedLayer = <ROut, E, R>(
  place: string,
  schema: Schema.Schema.AnyNoContext,
  given: unknown,
  make: () => Layer.Layer<ROut, E, R>
): Layer.Layer<ROut, E | StartError, R> =>
  later((): Layer.Layer<ROut, E | StartError, R> => {
    const refusal = refusalOf(place, schema, given)
    return refusal === undefined ? make() : Layer.fail(refusal)
  })
