/** Inputs as the wire takes them: plain texts as ids and passwords, and no field that has a default. The service validates them. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { type Effect, Option, ParseResult, Schema, SchemaAST as AST } from "effect"
import { mapEndpoints } from "../wire/mapEndpoints.js"
import type { Inputs } from "./generated/inputs.js"

/** The inputs of an operation; those of an operation that is not generated yet cannot be given. */
type InputOf<Group, Name> = Group extends keyof Inputs ? (Name extends keyof Inputs[Group] ? Inputs[Group][Name] : never) : never

/** A request may be left out where the operation needs none of its parts. */
type Arguments<Request> = {} extends Request ? [request?: Request] : [request: Request]

type Method<Endpoint, Input, OtherErrors> = [Endpoint] extends [
  HttpApiEndpoint.HttpApiEndpoint<
    infer _Name,
    infer _Method,
    infer _Path,
    infer _UrlParams,
    infer _Payload,
    infer _Headers,
    infer Success,
    infer Errors,
    infer _R,
    infer _RE
  >
]
  ? <WithResponse extends boolean = false>(
      ...args: Arguments<Input & { readonly withResponse?: WithResponse }>
    ) => Effect.Effect<
      WithResponse extends true ? [Success, HttpClientResponse.HttpClientResponse] : Success,
      Errors | OtherErrors | HttpClientError.HttpClientError | ParseResult.ParseError
    >
  : never

type Methods<Group extends HttpApiGroup.HttpApiGroup.Any, OtherErrors> = [Group] extends [
  HttpApiGroup.HttpApiGroup<infer Id, infer Endpoints, infer GroupErrors, infer _R, infer _TopLevel>
]
  ? {
      readonly [Endpoint in Endpoints as HttpApiEndpoint.HttpApiEndpoint.Name<Endpoint>]: Method<
        Endpoint,
        InputOf<Id, HttpApiEndpoint.HttpApiEndpoint.Name<Endpoint>>,
        GroupErrors | OtherErrors
      >
    }
  : never

/** A client whose operations take the inputs of the wire. */
export type WireClient<Api> =
  Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer Errors, infer _R>
    ? { readonly [Group in Groups as HttpApiGroup.HttpApiGroup.Name<Group>]: Methods<Group, Errors> }
    : never

/** Segments of a path: URLs cannot have an empty one, and read `.` and `..` as directions. */
const Segments = Schema.transformOrFail(Schema.Unknown, Schema.Record({ key: Schema.String, value: Schema.Unknown }), {
  strict: true,
  decode: (_, _options, ast) => ParseResult.fail(new ParseResult.Forbidden(ast, undefined, "for encoding only")),
  encode: (path, _options, ast) => {
    const dots = Object.keys(path).find((name) => /^\.{0,2}$/.test(String(path[name])))
    return dots === undefined
      ? ParseResult.succeed(Object.fromEntries(Object.entries(path).map(([name, value]) => [name, encodeURIComponent(String(value))])))
      : ParseResult.fail(new ParseResult.Type(ast, path, `${dots}: must be neither empty nor dots`))
  }
})

/** A schema that sends what it is given, in the same media type. */
const asGiven = (schema: Schema.Schema.All): Schema.Schema.Any => Schema.make(AST.annotations(AST.anyKeyword, schema.ast.annotations))

/** The parameters of a query; without a query there are no parameters. */
const Parameters = Schema.transform(Schema.Unknown, Schema.Unknown, {
  strict: true,
  decode: (given) => given,
  encode: (given) => given ?? {}
})

/** The same API, which sends inputs as they are given. */
export const takingWireInputs = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): HttpApi.HttpApi<Id, Groups, E, R> =>
  mapEndpoints(api, (endpoint) =>
    Object.assign(Object.create(Object.getPrototypeOf(endpoint)), endpoint, {
      pathSchema: Option.map(endpoint.pathSchema, () => Segments),
      urlParamsSchema: Option.map(endpoint.urlParamsSchema, () => Parameters),
      payloadSchema: Option.map(endpoint.payloadSchema, asGiven)
    })
  )

/** The operations of a client as its type has them: a request may be left out. */
export const withoutRequests = (client: object): object =>
  Object.fromEntries(
    Object.entries(client).map(([group, operations]: [string, Readonly<Record<string, (request: object) => unknown>>]) => [
      group,
      Object.fromEntries(Object.entries(operations).map(([name, call]) => [name, (request: object = {}) => call(request)]))
    ])
  )
