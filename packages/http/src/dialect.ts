/**
 * The differences between the two forms of the wire: the seeds' (the default) and the one that the reference's clients read. All of
 * them are in this file: forms of values as schemas that endpoints use, and statuses by operation. architecture.md, "The wire".
 *
 * A dialectal schema is the seeds' form and remembers the other one. An API is brought into a dialect once, when it is served,
 * described or called, so that encoding a response costs the same in both.
 */
import { type HttpApi, type HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Uuid } from "@atelier/core/platform"
import { Context, Schema, SchemaAST as AST } from "effect"

export type Dialect = "seeds" | "reference"

/** The dialect in force. */
export class Wire extends Context.Reference<Wire>()("@atelier/http/Wire", { defaultValue: (): Dialect => "seeds" }) {}

/** Success statuses of the reference where the seeds' contract has another one, by method and path. wire.md §2. */
const referenceStatuses: Readonly<Record<string, number>> = {
  "POST /api/v2/organizations/:organization/members/:user/workspaces": 201,
  "POST /api/v2/workspaceagents/me/log-source": 201,
  "GET /api/v2/applications/auth-redirect": 303
}

/** The success status of an operation whose handler writes its response itself. */
export const statusIn = (wire: Dialect, operation: string, seeds: number): number =>
  wire === "reference" ? (referenceStatuses[operation] ?? seeds) : seeds

const referenceForm = Symbol.for("@atelier/http/dialect/reference")

/** A value that has two forms on the wire. The form must stand in a response, not in a request. */
export const dialectal = <A, Seeds, Reference>(forms: {
  readonly seeds: Schema.Schema<A, Seeds>
  readonly reference: Schema.Schema<A, Reference>
}): Schema.Schema<A, Seeds | Reference> => Schema.make(AST.annotations(forms.seeds.ast, { [referenceForm]: forms.reference.ast }))

/** A UUID or null: `{uuid, valid}` in the seeds, the plain text or null in the reference. wire.md W1. */
export const NullableUuid = dialectal({
  seeds: Schema.transform(Schema.Struct({ uuid: Uuid.Uuid, valid: Schema.Boolean }), Schema.NullOr(Schema.typeSchema(Uuid.Uuid)), {
    strict: true,
    decode: ({ uuid, valid }) => (valid ? uuid : null),
    encode: (uuid) => ({ uuid: uuid ?? Uuid.nil, valid: uuid !== null })
  }),
  reference: Schema.NullOr(Uuid.Uuid)
})

/** One value that the seeds show as a list of one. */
export const listOfOne = <A, I>(value: Schema.Schema<A, I>) =>
  dialectal({
    seeds: Schema.transform(Schema.NonEmptyArray(value), Schema.typeSchema(value), {
      strict: true,
      decode: ([first]) => first,
      encode: (first) => [first] as const
    }),
    reference: value
  })

/** The answer to an action that has nothing to say: a `Response` in the seeds, null in the reference. agents-and-apps.md §22 no. 2. */
export const acknowledgement = <A, I>(response: Schema.Schema<A, I>, message: A) =>
  dialectal({
    seeds: response,
    reference: Schema.transform(Schema.Null, Schema.typeSchema(response), { strict: true, decode: () => message, encode: () => null })
  })

/** A schema in a dialect. */
export const schemaIn = <A, I, R>(wire: Dialect, schema: Schema.Schema<A, I, R>): Schema.Schema<A, I, R> =>
  wire === "seeds" ? schema : Schema.make(inReference(schema.ast))

/** The same API with each success response in a dialect. */
export const apiIn = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  wire: Dialect,
  api: HttpApi.HttpApi<Id, Groups, E, R>
): HttpApi.HttpApi<Id, Groups, E, R> => {
  if (wire === "seeds") return api
  const groups: Array<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(api.groups as Record<string, never>)
  const translated: HttpApi.HttpApi.AnyWithProps = groups.reduce(
    (result: HttpApi.HttpApi.AnyWithProps, group) =>
      result.add(Object.values(group.endpoints).reduce((into, endpoint) => into.add(endpointInReference(endpoint)), group)),
    api as unknown as HttpApi.HttpApi.AnyWithProps
  )
  // Only encodings differ, of which the library's type of an API says nothing
  return translated as unknown as HttpApi.HttpApi<Id, Groups, E, R>
}

const endpointInReference = (endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps): HttpApiEndpoint.HttpApiEndpoint.AnyWithProps => {
  const status = referenceStatuses[`${endpoint.method} ${endpoint.path}`]
  const ast = inReference(endpoint.successSchema.ast)
  const successSchema = Schema.make(status === undefined ? ast : AST.annotations(ast, { [HttpApiSchema.AnnotationStatus]: status }))
  return Object.assign(Object.create(Object.getPrototypeOf(endpoint)), endpoint, { successSchema })
}

const translations = new WeakMap<AST.AST, AST.AST>()

/** The AST with every dialectal node replaced by its reference form; the same AST where there is none. */
const inReference = (ast: AST.AST): AST.AST => {
  const known = translations.get(ast)
  if (known !== undefined) return known
  const translated = translate(ast)
  translations.set(ast, translated)
  return translated
}

const translate = (ast: AST.AST): AST.AST => {
  const form = ast.annotations[referenceForm]
  if (isAst(form)) return inReference(AST.annotations(form, statusOf(ast)))
  switch (ast._tag) {
    case "TypeLiteral": {
      const properties = mapped(ast.propertySignatures, (property) =>
        replaced(
          property.type,
          property,
          (type) => new AST.PropertySignature(property.name, type, property.isOptional, property.isReadonly, property.annotations)
        )
      )
      const indexes = mapped(ast.indexSignatures, (index) =>
        replaced(index.type, index, (type) => new AST.IndexSignature(index.parameter, type, index.isReadonly))
      )
      return properties === ast.propertySignatures && indexes === ast.indexSignatures
        ? ast
        : new AST.TypeLiteral(properties, indexes, ast.annotations)
    }
    case "TupleType": {
      const elements = mapped(ast.elements, (element) =>
        replaced(element.type, element, (type) => new AST.OptionalType(type, element.isOptional, element.annotations))
      )
      const rest = mapped(ast.rest, (element) => replaced(element.type, element, (type) => new AST.Type(type, element.annotations)))
      return elements === ast.elements && rest === ast.rest ? ast : new AST.TupleType(elements, rest, ast.isReadonly, ast.annotations)
    }
    case "Union": {
      const types = mapped(ast.types, inReference)
      return types === ast.types ? ast : AST.Union.make(types, ast.annotations)
    }
    case "Refinement":
      return replaced(ast.from, ast, (from) => new AST.Refinement(from, ast.filter, ast.annotations))
    case "Transformation":
      return replaced(ast.from, ast, (from) => new AST.Transformation(from, ast.to, ast.transformation, ast.annotations))
    case "Suspend":
      return new AST.Suspend(() => inReference(ast.f()), ast.annotations)
    default:
      return ast
  }
}

/** The status that an endpoint gave a dialectal schema belongs to both of its forms. */
const statusOf = ({ annotations }: AST.AST): AST.Annotations =>
  HttpApiSchema.AnnotationStatus in annotations ? { [HttpApiSchema.AnnotationStatus]: annotations[HttpApiSchema.AnnotationStatus] } : {}

const isAst = (value: unknown): value is AST.AST => typeof value === "object" && value !== null && "_tag" in value && "annotations" in value

const replaced = <A>(type: AST.AST, unchanged: A, change: (type: AST.AST) => A): A => {
  const translated = inReference(type)
  return translated === type ? unchanged : change(translated)
}

const mapped = <A>(items: ReadonlyArray<A>, change: (item: A) => A): ReadonlyArray<A> => {
  const changed = items.map(change)
  return changed.every((item, index) => item === items[index]) ? items : changed
}
