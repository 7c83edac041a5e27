import { SchemaAST as AST } from "effect"
import { rewriter } from "../../wire/rewrite.js"
import { hasFormat } from "./format.js"

/**
 * The schema without its rules: those of values that services answer hold already, and checking each id of a page again costs as much
 * as writing it. A rule of a union's member stays, as it may tell the members apart.
 */
export const unchecked: (ast: AST.AST) => AST.AST = rewriter((ast, inUnion) => {
  if (hasFormat(ast, "uuid")) return AST.stringKeyword
  return AST.isRefinement(ast) && !inUnion ? unchecked(ast.from) : undefined
})
