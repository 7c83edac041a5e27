/** The address of the tools for clients of the Model Context Protocol: streamable HTTP without sessions, so that any replica answers any message. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, coversScope } from "@atelier/core/access"
import { Forbidden, Invalid, Unauthenticated } from "@atelier/core/platform"
import type { Client } from "@atelier/client"
import { type Context, Effect, Runtime, type Scope } from "effect"
import { type Refusal, TooManyRequests } from "../wire/errors.js"
import { parseFirst, Unreadable } from "../server/codec/json.js"
import { refuse } from "../server/codec/respond.js"
import { challenge } from "../server/credentials/challenge.js"
import { bearerOf, dpopTokenOf, sessionHeadersOf } from "../server/credentials/Credential.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { BodyTimeout, readText } from "../server/request/body.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import { RateLimiter } from "../server/request/RateLimiter.js"
import type { TrustedCaller } from "../server/credentials/TrustedCaller.js"
import { type HttpSettings, Settings } from "../server/request/Settings.js"
import type { McpServer } from "./McpServer.js"
import { mcpPath } from "./path.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Bytes of a message: the longest text that a tool writes, with its escapes. */
const maximumMessage = 12 * 1024 * 1024

/** Messages of one user that are answered at once in this process. */
const maximumOpen = 32

const signedOut = new Unauthenticated({ message: "You are signed out or your session has expired. Please sign in again to continue." })
const unknown = new Unauthenticated({ message: "The credential is not valid." })
const tooFew = new Forbidden({ message: "The token has no scope for this tool." })
const tooMany = new TooManyRequests({ message: `More than ${maximumOpen} calls of tools at once.` })
const several = new Invalid({ message: "The body must be one message." })

/** Whether the credential is one that a page of another site cannot send for its visitor: neither a cookie nor a part of the address. */
const isOfHeader = (request: Request, { credential }: RequestInfo, settings: HttpSettings): boolean =>
  credential === undefined ||
  [bearerOf(request), dpopTokenOf(request), ...sessionHeadersOf(settings).map((name) => request.headers[name])].includes(credential)

/** The actor of a request, or why it has none. */
const callerOf = (request: Request, info: RequestInfo, settings: HttpSettings): Effect.Effect<Actor, Unauthenticated | Forbidden> => {
  if (info.user === undefined || !isOfHeader(request, info, settings))
    return Effect.fail(info.credential === undefined ? signedOut : unknown)
  return info.user
}

/** The protocol's answer as the interface sends it. It is one document: the tools' library sends no stream. */
const sent = async (answer: globalThis.Response): Promise<Response> => {
  const body = new Uint8Array(await answer.arrayBuffer())
  const contentType = answer.headers.get("content-type") ?? undefined
  return body.length === 0
    ? HttpServerResponse.empty({ status: answer.status })
    : HttpServerResponse.uint8Array(body, { status: answer.status, ...(contentType === undefined ? {} : { contentType }) })
}

/** The address of the tools; none where the host has no server of them. `clientOf` makes the client of a caller at an address. */
export const mcpPages = (mcp: McpServer | undefined, clientOf: (caller: TrustedCaller, remoteAddress: string) => Client) =>
  Effect.gen(function* () {
    if (mcp === undefined) return []
    const settings = yield* Settings
    const limiter = yield* RateLimiter
    const services: Context.Context<never> = yield* Effect.context<never>()
    const resourceMetadata = `${settings.accessUrl}/.well-known/oauth-protected-resource${mcpPath}`
    const open = new Map<string, number>()

    /** A refusal that tells how to get a token, or a better one. */
    const challenged = (
      request: Request,
      info: RequestInfo,
      refused: Unauthenticated | Forbidden,
      scopes: ReadonlyArray<string>
    ): Response =>
      HttpServerResponse.setHeader(
        refuse(refused),
        "www-authenticate",
        challenge(request, info, { realm: settings.names.realm, refused, resourceMetadata, scopes })
      )

    /** The scopes that a new token needs, so that it can do what the present one can too; undefined if this one is enough. */
    const missing = ({ subject }: Actor, message: unknown): ReadonlyArray<string> | undefined => {
      const needed = mcp.scopesOf(message)
      if (needed.every((scope) => coversScope(subject.scope, scope))) return undefined
      return [...new Set([...mcp.scopes.filter((scope) => coversScope(subject.scope, scope)), ...needed])]
    }

    const counted = <A, E>(id: string, answer: Effect.Effect<A, E>): Effect.Effect<A, E | TooManyRequests> =>
      Effect.acquireUseRelease(
        Effect.suspend(() => {
          const number = open.get(id) ?? 0
          if (number >= maximumOpen) return Effect.fail(tooMany)
          open.set(id, number + 1)
          return Effect.void
        }),
        () => answer,
        () =>
          Effect.sync(() => {
            const number = (open.get(id) ?? 1) - 1
            if (number === 0) open.delete(id)
            else open.set(id, number)
          })
      )

    const answered = (request: Request, info: RequestInfo, actor: Actor, message: unknown): Effect.Effect<Response> =>
      Effect.flatMap(Effect.runtime<never>(), (runtime) =>
        Effect.promise(async (signal) => {
          const url = `${settings.accessUrl}${mcpPath}`
          const asked = new globalThis.Request(url, { method: "POST", headers: new Headers(Object.entries(request.headers)) })
          const onDefect = (error: unknown): void => {
            Runtime.runFork(runtime)(Effect.annotateLogs(Effect.logError("A tool failed", error), { request_id: info.id }))
          }
          return sent(await mcp.answer(asked, { message, client: clientOf(actor, info.ip), signal, onDefect }))
        })
      )

    const answer = (request: Request, info: RequestInfo): Effect.Effect<Response, Refusal> =>
      Effect.gen(function* () {
        const caller = yield* Effect.either(callerOf(request, info, settings))
        if (caller._tag === "Left") return challenged(request, info, caller.left, mcp.scopes)
        const limited = limiter.take("api", info)
        if (limited !== undefined) return limited
        return yield* counted(
          caller.right.userId,
          Effect.gen(function* () {
            const message = parseFirst(yield* readText(request, maximumMessage, yield* BodyTimeout))
            if (message instanceof Unreadable) return refuse(new Invalid({ message: "The body is not JSON.", detail: message.reason }))
            if (Array.isArray(message)) return refuse(several)
            const scopes = missing(caller.right, message)
            if (scopes !== undefined) return challenged(request, info, tooFew, scopes)
            return yield* answered(request, info, caller.right, message)
          })
        )
      })

    const handler: Page["handler"] = Effect.flatMap(Effect.all([HttpServerRequest.HttpServerRequest, CurrentRequest]), ([request, info]) =>
      Effect.catchAll(answer(request, info), (refusal) => Effect.succeed(refuse(refusal)))
    ).pipe((effect) =>
      // The types of what use cases need are those of the whole application, which `services` is
      Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
    )
    const page: Page = { method: "POST", path: mcpPath, handler, isCommon: true }
    return [page]
  })
