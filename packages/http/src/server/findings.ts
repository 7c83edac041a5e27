/** What is wrong with an input, for the answer that refuses it. identity.md §1.4. */
import type { Validation } from "@atelier/core/platform"
import { Option, ParseResult, Schema, SchemaAST as AST } from "effect"
import { hasFormat } from "./format.js"

/** A flaw of an input, and of which kind it is. */
export interface Finding extends Validation {
  /** `shape`: the value is not of the field's type at all; `rule`: it is, and is refused. */
  readonly kind: "shape" | "rule"
}

/** Everything that an issue of a schema says, by field. */
export const findingsIn = (issue: ParseResult.ParseIssue, path = ""): ReadonlyArray<Finding> => {
  switch (issue._tag) {
    case "Pointer":
      return findingsIn(issue.issue, fieldAt(path, issue.path))
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

/** The name of a field within another one, as in `rules[2].name`. */
export const fieldAt = (path: string, more: ParseResult.Path): string =>
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
  return id === Schema.IntSchemaId || id === Schema.FiniteSchemaId || hasFormat(ast, "uuid") || hasFormat(ast, "date-time")
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
