/**
 * How an area's endpoints are implemented:
 *
 * ```ts
 * export const identity = Handlers.group(Contract, "identity", (handlers) =>
 *   Effect.gen(function* () {
 *     const users = yield* Users
 *     return handlers
 *       .handle("getUser", ({ path }) => users.get(path.user))
 *       .handle("createUser", ({ payload }) => users.create(payload))
 *   })
 * ).pipe(Layer.provide(Users.layer))
 * ```
 *
 * and added to `areas` in `Atelier.ts`. A handler decodes nothing and decides nothing: it gets what the endpoint declares, calls a
 * service as the actor that the endpoint's middleware provides, and answers what the service answers. A handler that returns an
 * `HttpServerResponse` has written it itself.
 */
import {
  type HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  type HttpApiGroup,
  HttpApiSchema,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { Audit } from "@atelier/core/audit"
import { Chunk, Context, Effect, Either, Layer, Option, ParseResult, Schema, SchemaAST as AST } from "effect"
import { BodyLimit, Limiter } from "../contract/annotations.js"
import { apiIn, Wire } from "../dialect.js"
import { isRefusal, type Refusal, statusOf } from "../errors.js"
import { readText } from "../server/body.js"
import { CurrentRequest } from "../server/CurrentRequest.js"
import { bodyReader, pathReader, queryReader } from "../server/decode.js"
import { RateLimiter } from "../server/RateLimiter.js"
import { json, refuse } from "../server/respond.js"

type AnyEndpoint = HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
type AnyHandlers = HttpApiBuilder.Handlers<unknown, never, never>
type Item = HttpApiBuilder.Handlers.Item<unknown, never>
type Success = HttpServerResponse.HttpServerResponse

/**
 * As `HttpApiBuilder.group`, with this interface's way of reading requests and writing responses, in the dialect in force.
 */
export const group = <
  Id extends string,
  Groups extends HttpApiGroup.HttpApiGroup.Any,
  ApiError,
  ApiContext,
  const Name extends HttpApiGroup.HttpApiGroup.Name<Groups>,
  Return
>(
  api: HttpApi.HttpApi<Id, Groups, ApiError, ApiContext>,
  name: Name,
  build: (
    handlers: HttpApiBuilder.Handlers.FromGroup<ApiError, ApiContext, HttpApiGroup.HttpApiGroup.WithName<Groups, Name>>
  ) => HttpApiBuilder.Handlers.ValidateReturn<Return>
) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const wire = yield* Wire
      const limiter = yield* RateLimiter
      return HttpApiBuilder.group<Id, Groups, ApiError, ApiContext, Name, Return>(apiIn(wire, api), name, (handlers) => {
        const built: unknown = build(handlers)
        const served = Effect.isEffect(built)
          ? Effect.map(built, (all) => serveAll(all as AnyHandlers, limiter))
          : serveAll(built as AnyHandlers, limiter)
        // The same endpoints are handled as `build` was held to; the library has no type for rebuilding a set of handlers
        return served as unknown as HttpApiBuilder.Handlers.ValidateReturn<Return>
      })
    })
  )

const serveAll = (handlers: AnyHandlers, limiter: RateLimiter["Type"]): AnyHandlers =>
  Object.assign(Object.create(Object.getPrototypeOf(handlers)), handlers, {
    handlers: Chunk.map(handlers.handlers, (item) => serve(item, limiter))
  })

/** The handler with everything around it; the library is left to route and to authenticate. */
const serve = (item: Item, limiter: RateLimiter["Type"]): Item => {
  const endpoint = item.endpoint as AnyEndpoint
  const readPath = Option.getOrUndefined(Option.map(endpoint.pathSchema, ({ ast }) => pathReader(ast)))
  const readQuery = Option.getOrUndefined(Option.map(endpoint.urlParamsSchema, ({ ast }) => queryReader(ast)))
  const readPayload = item.withFullRequest ? undefined : payloadReader(endpoint)
  const write = successWriter(endpoint.successSchema)
  const limit = Context.get(endpoint.annotations, Limiter)
  const auditStatus = { success: write.status, failure: failureStatus }

  const handler = ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) =>
    Effect.withFiberRuntime<HttpServerResponse.HttpServerResponse, unknown>((fiber) => {
      const context: Context.Context<never> = fiber.currentContext
      if (limit !== "none") {
        const refusal = limiter.take(limit, Context.get(context, CurrentRequest))
        if (refusal !== undefined) return Effect.succeed(refusal)
      }
      const input: { path?: unknown; urlParams?: unknown; payload?: unknown; request: HttpServerRequest.HttpServerRequest } = { request }
      if (readPath !== undefined) {
        const path = readPath(Context.unsafeGet(context, HttpRouter.RouteContext).params)
        if (Either.isLeft(path)) return Effect.succeed(refuse(path.left))
        input.path = path.right
      }
      if (readQuery !== undefined) {
        const query = readQuery(Context.unsafeGet(context, HttpServerRequest.ParsedSearchParams))
        if (Either.isLeft(query)) return Effect.succeed(refuse(query.left))
        input.urlParams = query.right
      }
      const answer =
        readPayload === undefined
          ? item.handler(input)
          : Effect.flatMap(readPayload(request), (payload) => {
              input.payload = payload
              return item.handler(input)
            })
      return Effect.matchEffect(Effect.provideService(answer, Audit.AuditStatus, auditStatus), {
        onFailure: (error) => (isRefusal(error) ? Effect.succeed(refuse(error)) : Effect.die(error)),
        onSuccess: (value) => (HttpServerResponse.isServerResponse(value) ? Effect.succeed(value) : write.response(value))
      })
    })

  return {
    endpoint: bare(endpoint),
    handler: handler as Item["handler"],
    withFullRequest: true,
    uninterruptible: item.uninterruptible
  }
}

/** The endpoint without its inputs, which are read here. */
const bare = (endpoint: AnyEndpoint): AnyEndpoint =>
  Object.assign(Object.create(Object.getPrototypeOf(endpoint)), endpoint, {
    pathSchema: Option.none(),
    urlParamsSchema: Option.none(),
    payloadSchema: Option.none(),
    headersSchema: Option.none()
  })

const failureStatus = (error: Option.Option<unknown>): number =>
  Option.match(Option.filter(error, isRefusal), { onNone: () => 500, onSome: (refusal: Refusal) => statusOf(refusal) })

/** Reads the payload an endpoint declares: JSON whatever the content type says. Other encodings are the handler's to read. */
const payloadReader = (endpoint: AnyEndpoint) =>
  Option.getOrUndefined(
    Option.map(endpoint.payloadSchema, (schema) => {
      const read = bodyReader(schema.ast)
      const limit = Context.get(endpoint.annotations, BodyLimit)
      return (request: HttpServerRequest.HttpServerRequest) => Effect.flatMap(readText(request, limit), read)
    })
  )

interface SuccessWriter {
  readonly status: number
  readonly response: (value: unknown) => Effect.Effect<Success>
}

interface MemberWriter {
  readonly status: number
  readonly write: (value: unknown) => Either.Either<Success, ParseResult.ParseIssue>
}

/** Writes successes: each member of the endpoint's union of schemas has a status and an encoding of its own. */
const successWriter = (schema: Schema.Schema.Any): SuccessWriter => {
  const members = schema.ast._tag === "Union" ? schema.ast.types : [schema.ast]
  const separate = members.length > 1 && new Set(members.map(HttpApiSchema.getStatusSuccessAST)).size > 1
  const [first = memberWriter(schema.ast), ...others] = separate ? members.map(memberWriter) : [memberWriter(schema.ast)]
  return {
    status: first.status,
    response: (value) => {
      const written = first.write(value)
      if (Either.isRight(written)) return Effect.succeed(written.right)
      for (const other of others) {
        const alternative = other.write(value)
        if (Either.isRight(alternative)) return Effect.succeed(alternative.right)
      }
      return Effect.die(new ParseResult.ParseError({ issue: written.left }))
    }
  }
}

const memberWriter = (ast: AST.AST): MemberWriter => {
  const status = HttpApiSchema.getStatusSuccessAST(ast)
  if (HttpApiSchema.isVoid(ast)) {
    return { status, write: () => Either.right(HttpServerResponse.empty({ status })) }
  }
  const encode = ParseResult.encodeUnknownEither(Schema.make<unknown, unknown>(ast))
  const { contentType, kind } = HttpApiSchema.getEncoding(ast)
  return {
    status,
    write: (value: unknown) =>
      Either.map(encode(value), (encoded) =>
        kind === "Json"
          ? json(status, encoded)
          : typeof encoded === "string"
            ? HttpServerResponse.text(encoded, { status, contentType })
            : HttpServerResponse.raw(encoded, { status, contentType })
      )
  }
}
