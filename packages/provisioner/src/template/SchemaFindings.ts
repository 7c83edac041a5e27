/** What a template breaks of its schema, in words for its author, each with its place in the file. */
import { HostOptions } from "@atelier/core/platform"
import { Either, Option, ParseResult, SchemaAST } from "effect"
import type { ExpressionProblem } from "./Expression.js"
import { parseCondition, problemsInText } from "./ExpressionParser.js"
import { type Placed, within } from "./Placed.js"
import { maximumProblems, type Path, type Problem, type YamlSource } from "./YamlSource.js"

/** The text at a path of plain values. */
const textAt = (value: unknown, path: Path): string | undefined => {
  const found = path.reduce<unknown>(
    (parent, step) => (typeof parent === "object" && parent !== null ? Reflect.get(parent, step) : undefined),
    value
  )
  return typeof found === "string" ? found : undefined
}

/** Where in a text its expressions break. */
const syntaxProblems = (text: string | undefined, path: Path): ReadonlyArray<ExpressionProblem> => {
  if (text === undefined) return []
  if (path.at(-1) !== "when") return problemsInText(text, maximumProblems)
  const parsed = parseCondition(text)
  return Either.isLeft(parsed) ? [parsed.left] : []
}

interface Finding extends Placed<string> {
  /** The finding is about the key of a mapping, not about its value. */
  readonly atKey?: boolean
}

const annotated = (ast: SchemaAST.AST, issue: ParseResult.ParseIssue): string | undefined => {
  const message = Option.map(SchemaAST.getMessageAnnotation(ast), (annotation) => annotation(issue))
  return Option.isSome(message) && typeof message.value === "string" ? message.value : undefined
}

const expectedKind = (issue: ParseResult.Type): string => {
  const found =
    issue.actual === null
      ? "empty"
      : Array.isArray(issue.actual)
        ? "a list"
        : typeof issue.actual === "object"
          ? "a mapping"
          : "a single value"
  if (SchemaAST.isTypeLiteral(issue.ast)) return `must be a mapping, not ${found}`
  if (SchemaAST.isTupleType(issue.ast)) return `must be a list, not ${found}`
  return ParseResult.TreeFormatter.formatIssueSync(issue)
}

/** The keys of a mapping's schema. */
const keysOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (SchemaAST.isTypeLiteral(ast)) return ast.propertySignatures.map(({ name }) => String(name))
  if (SchemaAST.isTransformation(ast)) return keysOf(ast.from)
  return SchemaAST.isRefinement(ast) ? keysOf(ast.from) : []
}

const unknownKey = (key: string, known: ReadonlyArray<string>): string => {
  const meant = HostOptions.nearest(key, known)
  return `there is no "${key}" here${meant === undefined ? "" : `; did you mean "${meant}"?`}`
}

/**
 * The schema's findings in this package's words: each names the error in one value, without the schema's structure. `keys` are those that the
 * mapping around the issue may have.
 */
const findings = (issue: ParseResult.ParseIssue, path: Path, keys: ReadonlyArray<string> = []): ReadonlyArray<Finding> => {
  switch (issue._tag) {
    case "Pointer":
      return findings(issue.issue, [...path, ...[issue.path].flat()], keys)
    case "Unexpected":
      return [{ path, value: `${within(path.slice(0, -1))}${unknownKey(String(path.at(-1)), keys)}`, atKey: true }]
    case "Missing":
      return [{ path: path.slice(0, -1), value: `${within(path.slice(0, -1))}"${String(path.at(-1))}" is missing` }]
    case "Transformation":
      return findings(issue.issue, path)
    case "Refinement": {
      const message = issue.kind === "Predicate" ? annotated(issue.ast, issue) : undefined
      return message === undefined ? findings(issue.issue, path) : [{ path, value: `${within(path)}${message}` }]
    }
    case "Composite": {
      const message = SchemaAST.isUnion(issue.ast) ? annotated(issue.ast, issue) : undefined
      return message === undefined
        ? [issue.issues].flat().flatMap((part) => findings(part, path, keysOf(issue.ast)))
        : [{ path, value: `${within(path)}${message}` }]
    }
    case "Type":
    case "Forbidden": {
      const message = issue.message ?? annotated(issue.ast, issue) ?? (issue._tag === "Type" ? expectedKind(issue) : "is refused")
      return [{ path, value: `${within(path)}${message}` }]
    }
  }
}

/** Returns the problems of a template that its schema refuses. */
export const decodeProblems = (yaml: YamlSource, error: ParseResult.ParseError): ReadonlyArray<Problem> =>
  findings(error.issue, [])
    .slice(0, maximumProblems)
    .flatMap(({ atKey, path, value }) => {
      if (atKey === true) return yaml.keyProblem(path, value)
      const [syntax, ...others] = syntaxProblems(textAt(yaml.value, path), path)
      if (syntax === undefined || !value.endsWith(syntax.message)) return yaml.problem(path, value)
      return [
        yaml.problem(path, value, syntax.offset),
        ...others.map(({ message, offset }) => yaml.problem(path, `${within(path)}${message}`, offset))
      ]
    })
    .slice(0, maximumProblems)
