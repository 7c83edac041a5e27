/** Signed tokens: each is the right of its holder to open one app or terminal, for a minute. agents-and-apps.md §20. */
import { type Actor, anonymousActor, type CallInfo, isAnonymous } from "@atelier/core/access"
import { Sessions } from "@atelier/core/identity"
import { service, Timestamp, Uuid, withoutTrailingSlashes } from "@atelier/core/platform"
import { CorsBehavior } from "@atelier/core/templates"
import type { VisitedApp } from "@atelier/core/workspaces"
import { Clock, Context, Data, Effect, Option, Redacted, Schema } from "effect"
import { jwtVerify, SignJWT } from "jose"
import { SignedRequest } from "../contract/signedRequest.js"
import { cookiePath } from "./appHeaders.js"
import { type AppKey, appKeys, currentKey } from "./appKeys.js"

export type SignedRequest = typeof SignedRequest.Type

const isSame = Schema.equivalence(SignedRequest)

/** What a token says. */
export const SignedClaims = Schema.Struct({
  request: SignedRequest,
  /** The owner of the workspace. */
  user_id: Uuid.Uuid,
  workspace_id: Uuid.Uuid,
  agent_id: Uuid.Uuid,
  app_url: Schema.String,
  cors_behavior: CorsBehavior,
  /** The key of the user who may open it; absent for what an anonymous caller may open. */
  api_key_id: Schema.optional(Schema.String),
  /** Seconds since 1970. */
  exp: Schema.Number
})
export type SignedClaims = typeof SignedClaims.Type

/** A request in the form that tokens name it in: its base ends with a slash. */
export const normalized = (request: SignedRequest): SignedRequest => ({
  ...request,
  base_path: `${withoutTrailingSlashes(request.base_path)}/`
})

/** A terminal as a token names it. */
export const terminalRequest = (agent: string): SignedRequest => ({
  access_method: "terminal",
  base_path: `/api/v2/workspaceagents/${agent}/pty/`,
  app_prefix: "",
  username_or_id: "",
  workspace_name_or_id: "",
  agent_name_or_id: agent,
  app_slug_or_port: ""
})

/** Seconds for which a token opens. */
const lifetime = 60

/** Tokens of one request that are looked at. */
const maximumCandidates = 4

const algorithm = "HS512"

class WrongToken extends Data.TaggedError("WrongToken") {}

/** Signs with the newest key that has begun. The keys are ordered, newest first. */
const signed = (keys: ReadonlyArray<AppKey>, claims: Omit<SignedClaims, "exp">) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const key = yield* currentKey(keys, now)
    const expires = Math.floor(Timestamp.toMillis(now) / 1000) + lifetime
    const token = yield* Effect.promise(() =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, kid: String(key.sequence) })
        .setExpirationTime(expires)
        .sign(Redacted.value(key.secret))
    )
    return { token, expires: new Date(expires * 1000) }
  })

/** The claims of a token that one of the keys has signed and that has not expired. Fails for any other. */
export const verified = (keys: ReadonlyArray<AppKey>, token: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { payload } = yield* Effect.tryPromise({
      try: () =>
        jwtVerify(
          token,
          ({ kid }) => {
            const key = keys.find(({ sequence }) => String(sequence) === kid)
            return key === undefined ? Promise.reject(new WrongToken()) : Redacted.value(key.secret)
          },
          { algorithms: [algorithm], currentDate: new Date(now), requiredClaims: ["exp"] }
        ),
      catch: () => new WrongToken()
    })
    return yield* Effect.mapError(Schema.decodeUnknown(SignedClaims)(payload), () => new WrongToken())
  })

/** The first claims for a request among tokens that a caller presents. */
export const claimsFor = (
  keys: ReadonlyArray<AppKey>,
  candidates: ReadonlyArray<string>,
  request: SignedRequest
): Effect.Effect<Option.Option<SignedClaims>> =>
  Effect.firstSuccessOf([
    Effect.fail(new WrongToken()),
    ...candidates.slice(0, maximumCandidates).map((token) =>
      Effect.filterOrFail(
        verified(keys, token),
        (claims) => isSame(claims.request, request),
        () => new WrongToken()
      )
    )
  ]).pipe(Effect.option)

/** A token, and when it ends. */
export interface IssuedToken {
  readonly token: string
  readonly expires: Date
}

/** The `Set-Cookie` line that gives a browser a token, for a path. */
export const tokenCookie = (
  name: string,
  { expires, token }: IssuedToken,
  { isSecure, path }: { readonly path: string; readonly isSecure: boolean }
): string =>
  [
    `${name}=${token}`,
    `Path=${cookiePath(path)}`,
    `Expires=${expires.toUTCString()}`,
    "HttpOnly",
    "SameSite=Lax",
    ...(isSecure ? ["Secure"] : [])
  ].join("; ")

const make = Effect.gen(function* () {
  const sessions = yield* Sessions
  const keys = yield* appKeys("workspace_apps_token")

  return {
    /** A token for its holder to open an app or a terminal. Undefined for an actor whose credential cannot be found again. */
    issue: (
      request: SignedRequest,
      app: VisitedApp & { readonly url?: string; readonly cors_behavior?: CorsBehavior },
      actor: Actor
    ): Effect.Effect<IssuedToken | undefined> =>
      Effect.gen(function* () {
        const { apiKeyId } = actor
        if (apiKeyId === undefined && !isAnonymous(actor)) return undefined
        return yield* signed(yield* keys, {
          request,
          user_id: app.workspace_owner_id,
          workspace_id: app.workspace_id,
          agent_id: app.agent_id,
          app_url: app.url ?? "",
          cors_behavior: app.cors_behavior ?? "simple",
          ...(apiKeyId === undefined ? {} : { api_key_id: apiKeyId })
        })
      }),

    /** What the first token for exactly this request says, among those that a caller presents. */
    read: (candidates: ReadonlyArray<string>, request: SignedRequest): Effect.Effect<Option.Option<SignedClaims>> =>
      candidates.length === 0 ? Effect.succeedNone : Effect.flatMap(keys, (verifying) => claimsFor(verifying, candidates, request)),

    /** The actor that a token speaks for. None once the actor's key has ended. */
    holder: ({ api_key_id }: SignedClaims, info: CallInfo): Effect.Effect<Option.Option<Actor>> =>
      api_key_id === undefined ? Effect.succeedSome(anonymousActor(info)) : Effect.option(sessions.holderOf(api_key_id, info))
  }
})

export class SignedAppTokens extends Context.Tag("@atelier/http/SignedAppTokens")<SignedAppTokens, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(SignedAppTokens, make)
}
