import { SchemaAST as AST } from "effect"

/**
 * Replaces the parts of a schema for which `replace` returns something, from the outside in. Replaced parts are not visited. Returns the
 * same AST if nothing is replaced.
 */
export const rewriter = (replace: (ast: AST.AST, inUnion: boolean) => AST.AST | undefined): ((ast: AST.AST) => AST.AST) => {
  const rewritten = new WeakMap<AST.AST, AST.AST>()

  const rewrite = (ast: AST.AST, inUnion = false): AST.AST => {
    const known = rewritten.get(ast)
    if (known !== undefined) return known
    const result = replace(ast, inUnion) ?? descend(ast)
    if (!inUnion) rewritten.set(ast, result)
    return result
  }

  const within = <A>(type: AST.AST, unchanged: A, change: (type: AST.AST) => A): A => {
    const result = rewrite(type)
    return result === type ? unchanged : change(result)
  }

  const descend = (ast: AST.AST): AST.AST => {
    switch (ast._tag) {
      case "TypeLiteral": {
        const properties = mapped(ast.propertySignatures, (property) =>
          within(
            property.type,
            property,
            (type) => new AST.PropertySignature(property.name, type, property.isOptional, property.isReadonly, property.annotations)
          )
        )
        const indexes = mapped(ast.indexSignatures, (index) =>
          within(index.type, index, (type) => new AST.IndexSignature(index.parameter, type, index.isReadonly))
        )
        return properties === ast.propertySignatures && indexes === ast.indexSignatures
          ? ast
          : new AST.TypeLiteral(properties, indexes, ast.annotations)
      }
      case "TupleType": {
        const elements = mapped(ast.elements, (element) =>
          within(element.type, element, (type) => new AST.OptionalType(type, element.isOptional, element.annotations))
        )
        const rest = mapped(ast.rest, (element) => within(element.type, element, (type) => new AST.Type(type, element.annotations)))
        return elements === ast.elements && rest === ast.rest ? ast : new AST.TupleType(elements, rest, ast.isReadonly, ast.annotations)
      }
      case "Union": {
        const types = mapped(ast.types, (type) => rewrite(type, true))
        return types === ast.types ? ast : AST.Union.make(types, ast.annotations)
      }
      case "Refinement":
        return within(ast.from, ast, (from) => new AST.Refinement(from, ast.filter, ast.annotations))
      case "Transformation":
        return within(ast.from, ast, (from) => new AST.Transformation(from, ast.to, ast.transformation, ast.annotations))
      case "Suspend":
        return new AST.Suspend(() => rewrite(ast.f()), ast.annotations)
      default:
        return ast
    }
  }

  return rewrite
}

const mapped = <A>(items: ReadonlyArray<A>, change: (item: A) => A): ReadonlyArray<A> => {
  const changed = items.map(change)
  return changed.every((item, index) => item === items[index]) ? items : changed
}
