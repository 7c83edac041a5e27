import { Option, type Schema, SchemaAST as AST } from "effect"

const annotation = Symbol.for("@atelier/http/keptText")

/**
 * Marks a struct with an `id` whose values are kept between requests and never change: the text of one that is sent again is not made again. Services must answer
 * the same object for that.
 */
export const keptText = <S extends Schema.Annotable.All & { readonly Type: { readonly id: string } }>(
  schema: S
): Schema.Annotable.Self<S> =>
  // Other annotations stay, but an identifier has to be given again
  schema.annotations({ [annotation]: true, ...identifierOf(schema) })

const identifierOf = ({ ast }: Schema.Annotable.All): { readonly identifier?: string } =>
  Option.match(AST.getIdentifierAnnotation(ast), { onNone: () => ({}), onSome: (identifier) => ({ identifier }) })

/** Whether a schema is marked so. */
export const isKeptText = ({ annotations }: AST.Annotated): boolean => annotations[annotation] === true
