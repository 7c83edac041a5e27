/**
 * How an area's endpoints are implemented:
 *
 * ```ts
 * export const groups = Handlers.group(contract.groups, (handlers) =>
 *   Effect.gen(function* () {
 *     const groups = yield* Groups
 *     return handlers
 *       .handle("getGroup", ({ path, urlParams }) => groups.get(path.group, urlParams))
 *       .handle("createGroup", ({ path, payload }) => groups.create(path.organization, payload))
 *   })
 * )
 * ```
 *
 * and listed by its area in `area.ts`, from where it is loaded at the first request to one of its endpoints. A handler decodes nothing and decides nothing: it gets what the endpoint declares, calls a
 * service as the actor that the endpoint's middleware provides, and answers what the service answers; the endpoint's schema picks the
 * fields that go out. A handler that answers an `HttpServerResponse` has written it itself.
 */
import type * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Access, type Actor, CurrentActor } from "@atelier/core/access"
import { Audit } from "@atelier/core/audit"
import { Context, Effect, Either, Option, type Schema, type SchemaAST as AST, type Scope } from "effect"
import { bodyLimitOf, Limiter, OptionalBody, RightFirst, Streaming } from "../contract/annotations.js"
import { endpointIn, Wire } from "../wire/dialect.js"
import { type CommonRefusal, isRefusal, statusOf } from "../wire/errors.js"
import { BodyTimeout, readText } from "../server/request/body.js"
import { runWith } from "../server/connection/RequestServices.js"
import { asUser } from "../server/credentials/Authentication.js"
import { credentialQueriesOf } from "../server/credentials/Credential.js"
import { bodyReader, pathReader, queryReader, type Reader } from "../server/codec/decode.js"
import { RateLimiter } from "../server/request/RateLimiter.js"
import { refuseAt } from "../server/codec/respond.js"
import { type Answer, type Call, type Implementation, pathsOf } from "../server/pipeline/Routes.js"
import { Settings } from "../server/request/Settings.js"
import { type Carried, carriedOf } from "./Carried.js"
import { successWriter } from "./successWriter.js"

type Endpoint = HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The input of a handler. */
interface Input {
  path?: unknown
  urlParams?: unknown
  payload?: unknown
  readonly request: Request
}

interface Handler {
  (input: Input): Effect.Effect<unknown, unknown>
  readonly now?: (input: Input, actor: Actor | undefined) => unknown
}

interface Handled {
  readonly name: string
  readonly handler: Handler
  /** The handler reads the payload itself. */
  readonly raw: boolean
  readonly uninterruptible: boolean
}

/** Collects handlers under the types of `HttpApiBuilder`, which hold them to the contract. */
class Collected {
  constructor(readonly handled: ReadonlyArray<Handled>) {}
  handle(name: string, handler: Handler, options?: { readonly uninterruptible?: boolean }): Collected {
    return this.with({ name, handler, raw: false, uninterruptible: options?.uninterruptible ?? false })
  }
  handleRaw(name: string, handler: Handler, options?: { readonly uninterruptible?: boolean }): Collected {
    return this.with({ name, handler, raw: true, uninterruptible: options?.uninterruptible ?? false })
  }
  private with(handled: Handled): Collected {
    return new Collected([...this.handled, handled])
  }
}

/**
 * Adds to a handler how it answers requests that need no effect, which take half of the processor time so. `now` gets the actor that the endpoint's middleware would
 * provide, and returns undefined where the handler has to answer, without having begun anything. `GET` alone: neither a body is read nor a limiter asked.
 */
export const atOnce = <I, A, E, R>(
  now: (input: I, actor: Actor | undefined) => A | undefined,
  handler: (input: I) => Effect.Effect<A, E, R>
): ((input: I) => Effect.Effect<A, E, R>) => Object.assign((input: I) => handler(input), { now })

/** The handler of an endpoint whose answer is always the same. */
export const constant = <A>(value: A): ((input: unknown) => Effect.Effect<A>) => {
  const answer = Effect.succeed(value)
  return atOnce(
    () => value,
    () => answer
  )
}

/** The services that handlers need when they run, rather than when they are built. */
type Asked<Return> =
  Return extends Effect.Effect<
    HttpApiBuilder.Handlers<infer _E, infer _Provided, infer R, infer _Endpoints>,
    infer _BuildError,
    infer _Services
  >
    ? R
    : Return extends HttpApiBuilder.Handlers<infer _E, infer _Provided, infer R, infer _Endpoints>
      ? R
      : never

type Uncarried<Return> = Exclude<Asked<Return>, Carried | HttpApiMiddleware.HttpApiMiddleware.AnyId>

type CarriedOnly<Return> = [Uncarried<Return>] extends [never]
  ? unknown
  : { readonly "Take these when the handlers are built, with yield* before `return handlers`": Uncarried<Return> }

/**
 * Implements a group of endpoints like `HttpApiBuilder.group`, with another treatment of requests. Inputs are read and successes and refusals
 * written by this interface's rules, in the configured dialect.
 */
export const group = <
  const Name extends string,
  Endpoints extends HttpApiEndpoint.HttpApiEndpoint.Any,
  E,
  R,
  TopLevel extends boolean,
  Return
>(
  definition: HttpApiGroup.HttpApiGroup<Name, Endpoints, E, R, TopLevel>,
  build: (
    handlers: HttpApiBuilder.Handlers.FromGroup<CommonRefusal, never, HttpApiGroup.HttpApiGroup<Name, Endpoints, E, R, TopLevel>>
  ) => HttpApiBuilder.Handlers.ValidateReturn<Return> & CarriedOnly<Return>
): Effect.Effect<
  Implementation<Name>,
  HttpApiBuilder.Handlers.Error<Return>,
  | Exclude<
      | HttpApiBuilder.Handlers.Context<Return>
      | HttpApiGroup.HttpApiGroup.Middleware<HttpApiGroup.HttpApiGroup<Name, Endpoints, E, R, TopLevel>>,
      Scope.Scope
    >
  | RateLimiter
  | Settings
> =>
  Effect.gen(function* () {
    const wire = yield* Wire
    const services = yield* Effect.context<RateLimiter | Settings>()
    const { endpoints, middlewares } = untyped(definition)
    const { handled } = yield* collect(build)
    const answers = yield* Effect.forEach(handled, (one) =>
      Effect.gen(function* () {
        const endpoint = endpointIn(wire, yield* found(endpoints, one.name))
        const answer = yield* serve(endpoint, [...middlewares, ...endpoint.middlewares], one, services)
        return pathsOf(endpoint).map((path) => ({ method: endpoint.method, path, answer }))
      })
    )
    return { group: definition.identifier, answers: answers.flat() }
  })

/**
 * Runs an area's function over an empty collection. `HttpApiBuilder` keeps the constructor of its own to itself; the types it gives
 * the function are those of `Collected`, made precise by the contract.
 */
const collect = (build: (handlers: never) => unknown): Effect.Effect<Collected, never, never> => {
  const built = build(new Collected([]) as never)
  return (Effect.isEffect(built) ? built : Effect.succeed(built)) as Effect.Effect<Collected>
}

/** A group with the types of its endpoints let go. */
const untyped = (definition: HttpApiGroup.HttpApiGroup.Any) => definition as HttpApiGroup.HttpApiGroup.AnyWithProps

const found = <A>(record: Readonly<Record<string, A>>, name: string): Effect.Effect<A> => {
  const value = record[name]
  return value === undefined ? Effect.dieMessage(`the group has no ${name}`) : Effect.succeed(value)
}

const reader = <Input, Error>(
  schema: Option.Option<Schema.Schema.Any>,
  compile: (ast: AST.AST) => Reader<Input, Error>
): Reader<Input, Error> | undefined => (Option.isSome(schema) ? compile(schema.value.ast) : undefined)

/** How an endpoint's inputs are read and its successes written, and what its requests run with. */
const compile = (endpoint: Endpoint, { raw }: Handled, services: Context.Context<RateLimiter | Settings>) => {
  const credentials = credentialQueriesOf(Context.get(services, Settings))
  const success = successWriter(endpoint.successSchema)
  return {
    readPath: reader(endpoint.pathSchema, pathReader),
    readQuery: reader(endpoint.urlParamsSchema, (ast) => queryReader(ast, credentials)),
    readPayload: raw ? undefined : reader(endpoint.payloadSchema, bodyReader),
    success,
    provided: carriedOf(services)
      .set(Audit.AuditStatus.key, { success: success.status, failure: failureStatus })
      .set(Streaming.key, Context.get(endpoint.annotations, Streaming))
  }
}

/** Everything between a request's route and its handler. */
const serve = (
  endpoint: Endpoint,
  middlewares: ReadonlyArray<HttpApiMiddleware.TagClassAny>,
  handled: Handled,
  services: Context.Context<RateLimiter | Settings>
) =>
  Effect.gen(function* () {
    const bodyLimit = bodyLimitOf(endpoint.annotations, middlewares)
    const bodyTimeout = yield* BodyTimeout
    const isBodyOptional = Context.get(endpoint.annotations, OptionalBody)
    const right = Context.get(endpoint.annotations, RightFirst)
    const limit = Context.get(endpoint.annotations, Limiter)
    const limiter = Context.get(services, RateLimiter)
    const steps = yield* Effect.forEach(middlewares.toReversed(), (tag) => judgement(services, tag))
    // Compiled with the first request: compiling unused endpoints would take most of a start
    let compiled: ReturnType<typeof compile> | undefined

    const onFailure = (error: unknown): Effect.Effect<Response> =>
      isRefusal(error) ? Effect.succeed(refuseAt(endpoint.path, error)) : Effect.die(error)

    /** The pipeline has done the work of the only middleware that there may be. */
    const isPlain = steps.every(({ effect, key }) => effect === asUser && key === CurrentActor.key)
    const handleNow = isPlain && limit === "none" && endpoint.method === "GET" ? handled.handler.now : undefined
    const now = ({ info, params, query, request }: Call): Response | undefined => {
      const { readPath, readQuery, success } = (compiled ??= compile(endpoint, handled, services))
      const actor = info.user?._tag === "Right" ? info.user.right : undefined
      if (handleNow === undefined || success.writeNow === undefined || (steps.length > 0 && actor === undefined)) return undefined
      const path = readPath?.(params)
      const searched = readQuery?.(query)
      if ((path !== undefined && Either.isLeft(path)) || (searched !== undefined && Either.isLeft(searched))) return undefined
      const value = handleNow({ path: path?.right, urlParams: searched?.right, request }, actor)
      if (value === undefined) return undefined
      return HttpServerResponse.isServerResponse(value) ? value : success.writeNow(value)
    }

    const answer = (call: Call): Effect.Effect<Response> => {
      const { provided, readPath, readPayload, readQuery, success } = (compiled ??= compile(endpoint, handled, services))
      const onSuccess = (value: unknown): Effect.Effect<Response> =>
        HttpServerResponse.isServerResponse(value) ? Effect.succeed(value) : success.write(value)
      const { info, params, query: searched, request } = call
      provided.forEach((value, key) => {
        if (!call.services.has(key)) call.services.set(key, value)
      })

      const malformed = (refusal: unknown): Effect.Effect<never, unknown> => {
        info.malformed = true
        const refused = Effect.fail(refusal)
        return right === undefined || info.user?._tag !== "Right"
          ? refused
          : Effect.zipRight(Access.actingAs(info.user.right)(right), refused)
      }
      const handle = (): Effect.Effect<unknown, unknown> => {
        const input: Input = { request }
        if (readPath !== undefined) {
          const path = readPath(params)
          if (Either.isLeft(path)) return malformed(path.left)
          input.path = path.right
        }
        if (readQuery !== undefined) {
          const query = readQuery(searched)
          if (Either.isLeft(query)) return malformed(query.left)
          input.urlParams = query.right
        }
        return readPayload === undefined
          ? handled.handler(input)
          : Effect.flatMap(readText(request, bodyLimit, bodyTimeout), (text) => {
              const payload = readPayload(isBodyOptional && text.trim() === "" ? "{}" : text)
              if (Either.isLeft(payload)) return malformed(payload.left)
              input.payload = payload.right
              return handled.handler(input)
            })
      }

      if (limit !== "none") {
        // A user has many names in a path, and each would be as many attempts more at the password
        const operation = limit === "login" ? `${endpoint.method} ${endpoint.path}` : undefined
        const refusal = limiter.take(limit, info, operation)
        if (refusal !== undefined) return Effect.succeed(refusal)
      }
      let judged = handle
      for (const { effect, key } of steps) {
        const next = judged
        judged = () =>
          Effect.flatMap(effect, (value) => {
            if (key === undefined) return next()
            call.services.set(key, value)
            return runWith(call.services, next)
          })
      }
      const answered = Effect.matchEffect(steps.length === 0 ? Effect.suspend(judged) : judged(), { onFailure, onSuccess })
      // A client that goes ends what it has asked for
      return handled.uninterruptible ? answered : Effect.interruptible(answered)
    }
    return Object.assign(answer, { now: handleNow === undefined ? undefined : now }) satisfies Answer
  })

/** Applies a middleware to a request: it fails, or returns the service that it provides. */
const judgement = (services: Context.Context<RateLimiter | Settings>, tag: HttpApiMiddleware.TagClassAny) => {
  const effect: unknown = services.unsafeMap.get(tag.key)
  return Effect.isEffect(effect)
    ? Effect.succeed({ effect: effect as Effect.Effect<unknown, unknown>, key: tag.provides?.key })
    : Effect.dieMessage(`the middleware ${tag.key} is not implemented`)
}

const failureStatus = (error: Option.Option<unknown>): number =>
  Option.isSome(error) && isRefusal(error.value) ? statusOf(error.value) : 500
