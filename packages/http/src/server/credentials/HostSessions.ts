/** Users whom the host application knows: the host says with each request whose it is. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Actor, CallInfo } from "@atelier/core/access"
import { HostIdentity, HostLogins } from "@atelier/core/identity"
import { Forbidden, service, Unauthenticated } from "@atelier/core/platform"
import { Context, Effect, Either, ParseResult, Schema } from "effect"
import type { RequestInfo } from "../request/CurrentRequest.js"
import { isCrossOrigin } from "./Csrf.js"
import type { HttpSettings } from "../request/Settings.js"

/** A request as the host is shown it. */
export interface HostRequest {
  readonly method: string
  /** Path and query as the host received them. */
  readonly url: string
  readonly headers: Headers
  /** The client's address; empty where it is not known. */
  readonly address: string
  /** The host's own object: Node's `IncomingMessage`, with what its middleware put there, or the `Request` that `fetch` was called with. */
  readonly source: unknown
}

/**
 * Returns the user of a request, or null if it has none. The host is asked again with the same request while a stream that it opened goes
 * on, so it decides by the request's content and its own store.
 */
export type Authenticate = (request: HostRequest) => typeof HostIdentity.Encoded | null | Promise<typeof HostIdentity.Encoded | null>

type Refused = Unauthenticated | Forbidden

/** How long the host may take to answer. */
const patience = "10 seconds"

const decode = Schema.decodeUnknownEither(Schema.NullOr(HostIdentity), { errors: "all" })

/** Names the wrong members and shows none of them. */
const unusable = (error: ParseResult.ParseError): TypeError => {
  const members = new Set(ParseResult.ArrayFormatter.formatErrorSync(error).map(({ path }) => path.join(".")))
  return new TypeError(`authenticate must answer an identity or null; wrong are: ${[...members].join(", ") || "the whole answer"}`)
}

const notSignedIn = new Unauthenticated({ message: "You are signed out or your session has expired. Please sign in again to continue." })
const foreign = new Forbidden({
  message: "A page of another origin may not act with your session.",
  detail: "Send the request from a page of the service's own origin."
})

export interface HostSessionsService {
  /** The actor whose request it is; undefined where the host says that it is not a user's. */
  readonly authenticate: (
    request: HttpServerRequest.HttpServerRequest,
    info: RequestInfo
  ) => Effect.Effect<Either.Either<Actor, Refused> | undefined>
}

/** Undefined where the host has no users of its own. */
export class HostSessions extends Context.Reference<HostSessions>()("@atelier/http/HostSessions", {
  defaultValue: (): HostSessionsService | undefined => undefined
}) {
  static readonly layer = (authenticate: Authenticate, settings: Pick<HttpSettings, "accessUrl" | "cors">) =>
    service(
      HostSessions,
      Effect.map(HostLogins, (logins): HostSessionsService => {
        const ask = (request: HostRequest): Effect.Effect<HostIdentity | null> =>
          Effect.promise(async () => authenticate(request)).pipe(
            Effect.timeoutFail({ duration: patience, onTimeout: () => new TypeError("authenticate did not answer within 10 seconds") }),
            Effect.flatMap((answer) => Either.mapLeft(decode(answer), unusable)),
            Effect.orDie
          )

        const renewed = (request: HostRequest, call: CallInfo): Effect.Effect<Actor, Refused> =>
          Effect.flatMap(ask(request), (identity) =>
            identity === null
              ? Effect.fail(notSignedIn)
              : Effect.map(logins.renew(identity, call), (actor) => entitled(actor, request, call))
          )

        const entitled = (actor: Actor, request: HostRequest, call: CallInfo): Actor => ({
          ...actor,
          credential: { renew: Effect.suspend(() => renewed(request, call)) }
        })

        return {
          authenticate: (request, { id, ip, userAgent }) =>
            Effect.gen(function* () {
              const asked: HostRequest = {
                method: request.method,
                url: request.originalUrl,
                headers: new Headers(Object.entries(request.headers)),
                address: ip,
                source: request.source
              }
              const identity = yield* ask(asked)
              if (identity === null) return undefined
              if (isCrossOrigin(request, settings)) return Either.left(foreign)
              const call: CallInfo = { ip, userAgent, requestId: id }
              return yield* Effect.either(Effect.map(logins.authenticate(identity, call), (actor) => entitled(actor, asked, call)))
            })
        }
      })
    )
}
