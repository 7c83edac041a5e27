/** The routes that OAuth2 clients use, at the root and below the API: their answers are the protocol's. oauth2-provider.md §1. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, allScope, CurrentActor } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import {
  Authorizations,
  ClientRegistrations,
  type ConsentRequest,
  invalidRequest,
  type IssuedTokens,
  type OAuth2App,
  OAuth2Apps,
  OAuth2Clients,
  OAuth2Tokens,
  OAuthError,
  redirectTarget,
  withParameters
} from "@atelier/core/oauth2"
import { NotFound, Timestamp, Unauthenticated } from "@atelier/core/platform"
import { Clock, type Context, Duration, Effect, Redacted, type Scope } from "effect"
import { isRefusal, type Refusal } from "../errors.js"
import type { Options } from "../Options.js"
import { brandOf } from "../pages/brandOf.js"
import { pagesOf, queryOf, replacement, type RequestErrorDetails } from "../pages/PageOptions.js"
import { readText } from "../server/body.js"
import { forgeryCheck, maskedToken } from "../server/Csrf.js"
import { callInfo, csrfTokenOf, CurrentRequest, type RequestInfo } from "../server/CurrentRequest.js"
import type { Page } from "../server/HttpApplication.js"
import { parseFirst, Unreadable } from "../server/json.js"
import { RateLimiter } from "../server/RateLimiter.js"
import { json, refuse, refuseAt } from "../server/respond.js"
import { Settings } from "../server/Settings.js"
import { withQuery } from "../server/withQuery.js"
import { authenticateClient } from "./clientCredentials.js"
import { consentDetails, consentPage, requestErrorPage } from "./consentPage.js"
import { isIssuerSuffix, resourceMetadata, serverMetadata } from "./discovery.js"
import { parametersOf, readForm } from "./form.js"
import { challenged, oauthAnswer } from "./oauthErrors.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Bytes of the metadata that a client registers. */
const maximumMetadata = 64 * 1024

const bodyTimeout = Duration.seconds(10)

const notSignedIn = new Unauthenticated({
  message: "You are signed out or your session has expired. Please sign in again to continue."
})

const noDocument = new NotFound({ message: "Route not found." })

/** Parameters that an authorization request may give once. */
const authorizeParameters = ["client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"]

/** Parameters that a token request may give once. */
const tokenParameters = ["grant_type", "client_id", "client_secret", "code", "redirect_uri", "refresh_token", "code_verifier", "scope"]

const takesHtml = ({ headers }: Request): boolean => /\btext\/html\b/i.test(headers["accept"] ?? "")

/** A client as RFC 7591 §3.2.1 shows it. Members without a value are left out. */
const clientView = (accessUrl: string, app: OAuth2App): object => ({
  client_id: app.id,
  client_id_issued_at: Math.floor(Timestamp.toMillis(app.created_at) / 1000),
  client_name: app.name,
  redirect_uris: app.redirect_uris,
  grant_types: app.grant_types,
  response_types: app.response_types,
  token_endpoint_auth_method: app.token_endpoint_auth_method,
  ...app.metadata,
  ...(app.client_type === "public" ? {} : { client_secret_expires_at: 0 }),
  registration_client_uri: `${accessUrl}/oauth2/clients/${app.id}`
})

/** Services that use cases need while they run. */
type Running = Context.Context<never>

/** The routes of the authorization server. Where browsers have no page to sign in on, callers that are not signed in are refused. */
export const oauthRoutes = (options: Options) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const { narrowOauth2Scopes } = yield* DeploymentOptions
    const { accessUrl, login, mount, names } = settings
    const pages = pagesOf(options) ?? {}
    const brand = yield* brandOf
    const limiter = yield* RateLimiter
    const apps = yield* OAuth2Apps
    const clients = yield* OAuth2Clients
    const authorizations = yield* Authorizations
    const tokens = yield* OAuth2Tokens
    const registrations = yield* ClientRegistrations
    const services: Running = yield* Effect.context<never>()
    const forgeryOf = forgeryCheck(settings)

    const refuseOAuth = (error: OAuthError): Response => {
      const { body, status } = oauthAnswer(error)
      return challenged(json(status, body), error, names.realm)
    }

    /** A route's answer: refusals of either kind are the protocol's errors. */
    const answering = <R>(
      handler: (request: Request, info: RequestInfo) => Effect.Effect<Response, OAuthError | Refusal, R>
    ): Page["handler"] =>
      Effect.flatMap(Effect.all([HttpServerRequest.HttpServerRequest, CurrentRequest]), ([request, info]) =>
        handler(request, info).pipe(
          Effect.catchAll((error) => Effect.succeed(isRefusal(error) ? refuseAt("/oauth2/", error) : refuseOAuth(error)))
        )
      ).pipe((effect) =>
        // The types of what use cases need are those of the whole application, which `services` is
        Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
      )

    /** Counts a call of a public route by its address. oauth2-provider.md P-22. */
    const limited =
      <R>(operation: string, handler: (request: Request, info: RequestInfo) => Effect.Effect<Response, OAuthError | Refusal, R>) =>
      (request: Request, info: RequestInfo) => {
        const counted: RequestInfo = { ...info, user: undefined }
        const refusal = limiter.take("oauth2", counted, operation)
        info.quota = counted.quota
        return refusal === undefined ? handler(request, info) : Effect.succeed(refusal)
      }

    /** Both forms of a route. */
    const both = (method: Page["method"], path: `/${string}`, handler: Page["handler"]): ReadonlyArray<Page> => [
      { method, path, handler },
      { method, path: `/api/v2${path}`, handler }
    ]

    const requestOf = (query: string): ConsentRequest & { readonly client_id: string | undefined } => {
      const { all, get, repeated } = parametersOf(query)
      return {
        client_id: get("client_id"),
        response_type: get("response_type"),
        redirect_uri: get("redirect_uri"),
        scope: get("scope"),
        state: get("state"),
        resource: all("resource"),
        code_challenge: get("code_challenge"),
        code_challenge_method: get("code_challenge_method"),
        repeated: repeated(authorizeParameters)
      }
    }

    /** Sends the browser to the login, and back here afterwards. oauth2-provider.md §4 no. 1. */
    const toLogin = (request: Request, { path, user }: RequestInfo): Response => {
      const message = user?._tag === "Left" ? user.left.message : notSignedIn.message
      const query = queryOf(request)
      const redirect = `${mount}${path}${query === "" ? "" : `?${query}`}`
      if (login === undefined) return refuseOAuth(new OAuthError({ error: "login_required", message }))
      return HttpServerResponse.redirect(withQuery(login, { message, redirect }), { status: 303 })
    }

    /** Tells a user why an app's request cannot be answered. */
    const explain = (details: RequestErrorDetails) => {
      const by = pages.requestError
      return by === undefined
        ? Effect.map(brand, (shown) => requestErrorPage(settings, shown, details))
        : replacement(by, details, { status: String(details.status), message: details.message })
    }

    interface Asked {
      readonly app: OAuth2App
      readonly request: ConsentRequest
      readonly uri: string
      readonly actor: Actor
    }

    /** What both methods of `authorize` have in common: the client, the user, where to go on, and then the parameters. */
    const authorize = <R>(request: Request, info: RequestInfo, proceed: (asked: Asked) => Effect.Effect<Response, OAuthError, R>) =>
      Effect.gen(function* () {
        const isBrowser = takesHtml(request)
        const asked = requestOf(queryOf(request))
        const looked = yield* Effect.either(clients.get(asked.client_id))
        if (looked._tag === "Left") {
          const { status } = oauthAnswer(looked.left)
          return isBrowser ? yield* explain({ status, message: looked.left.message }) : refuseOAuth(looked.left)
        }
        const app = looked.right
        if (info.user?._tag !== "Right") return toLogin(request, info)
        const actor = info.user.right
        const target = redirectTarget(app, asked)
        const isPost = request.method === "POST"
        if ("violation" in target) {
          return isPost && !isBrowser
            ? refuseOAuth(invalidRequest(`Invalid query params: ${target.violation}`))
            : yield* explain({ status: 400, message: target.violation })
        }
        const { uri } = target
        const back = ({ error, message }: OAuthError): Response =>
          HttpServerResponse.redirect(withParameters(uri, { error, error_description: message, state: asked.state, iss: accessUrl }), {
            status: 302
          })
        const onRefused = (error: OAuthError): Response => (isPost && !isBrowser ? refuseOAuth(error) : back(error))
        const violation = authorizations.violation(asked)
        if (violation !== undefined) return onRefused(violation)
        return yield* authorizations.requirePermitted(asked).pipe(
          Effect.zipRight(proceed({ app, request: asked, uri, actor })),
          Effect.provideService(CurrentActor, actor),
          Effect.catchAll((error) => Effect.succeed(onRefused(error)))
        )
      })

    const ask = answering((request, info) =>
      authorize(request, info, ({ actor, app, request: { scope, state }, uri }) =>
        Effect.suspend(() => {
          const details = consentDetails(settings, {
            app,
            uri,
            scope,
            state,
            username: actor.username ?? "",
            isNarrow: narrowOauth2Scopes,
            csrfToken: maskedToken(csrfTokenOf(info, request))
          })
          return pages.consent === undefined
            ? Effect.map(brand, (shown) => consentPage(settings, shown, details))
            : replacement(pages.consent, details)
        })
      )
    )

    const consent = answering((request, info) =>
      Effect.gen(function* () {
        const form = yield* Effect.orElseSucceed(readForm(request), () => parametersOf(""))
        const forgery = forgeryOf(request, { path: info.path, query: queryOf(request) }, form.get("csrf_token") ?? "")
        if (forgery !== undefined) return HttpServerResponse.text(forgery, { status: 400 })
        return yield* authorize(request, info, ({ app, request: asked, uri }) =>
          Effect.map(authorizations.consent(app, asked), (code) =>
            HttpServerResponse.redirect(withParameters(uri, { code: Redacted.value(code), state: asked.state, iss: accessUrl }), {
              status: 302
            })
          )
        )
      })
    )

    const tokenView = ({ access_token, expires_at, refresh_token, scopes }: IssuedTokens, now: number): Response =>
      json(200, {
        access_token: Redacted.value(access_token),
        token_type: "Bearer",
        expires_in: Math.max(0, Math.floor((Timestamp.toMillis(expires_at) - now) / 1000)),
        refresh_token: Redacted.value(refresh_token),
        expiry: expires_at,
        // Full access has no name that clients would find their scopes in. P-17
        ...(scopes.includes(allScope) ? {} : { scope: scopes.join(" ") })
      })

    const required = (value: string | undefined, name: string): Effect.Effect<string, OAuthError> =>
      value === undefined ? invalidRequest(`The parameter ${name} is required.`) : Effect.succeed(value)

    const exchange = answering(
      limited("tokens", (request) =>
        Effect.gen(function* () {
          const form = yield* readForm(request)
          const client = yield* authenticateClient(clients, request, form)
          const info = yield* callInfo
          const resource = form.all("resource")
          const repeated = form.repeated(tokenParameters)
          if (repeated.length > 0) return yield* invalidRequest(`The parameter ${repeated[0]} must be given once.`)
          const grantType = form.get("grant_type")
          if (grantType === "authorization_code") {
            const code = yield* required(form.get("code"), "code")
            if (client.app.client_type === "confidential" && !client.hasSecret)
              return yield* invalidRequest("The parameter client_secret is required.")
            const code_verifier = yield* required(form.get("code_verifier"), "code_verifier")
            const authenticated = yield* client.authenticated
            const issued = yield* tokens.redeem(
              authenticated,
              { code, redirect_uri: form.get("redirect_uri"), code_verifier, resource },
              info
            )
            return tokenView(issued, yield* Clock.currentTimeMillis)
          }
          if (grantType === "refresh_token") {
            const refresh_token = yield* required(form.get("refresh_token"), "refresh_token")
            const issued = yield* tokens.refresh(yield* client.authenticated, { refresh_token, resource }, info)
            return tokenView(issued, yield* Clock.currentTimeMillis)
          }
          return yield* new OAuthError({
            error: "unsupported_grant_type",
            message: "The grant type must be authorization_code or refresh_token."
          })
        })
      )
    )

    const revoke = answering(
      limited("revoke", (request) =>
        Effect.gen(function* () {
          const form = yield* readForm(request)
          const client = yield* authenticateClient(clients, request, form)
          if (form.repeated(["token", "token_type_hint", "client_id", "client_secret"]).length > 0)
            return yield* invalidRequest("A parameter must be given once.")
          const token = yield* required(form.get("token"), "token")
          yield* tokens.revoke(yield* client.authenticated, token, yield* callInfo)
          return HttpServerResponse.empty({ status: 200 })
        })
      )
    )

    const disconnect = answering((request, info) =>
      Effect.gen(function* () {
        const app = yield* clients.get(parametersOf(queryOf(request)).get("client_id"))
        if (info.user?._tag !== "Right") {
          const refused = info.user?._tag === "Left" ? info.user.left : notSignedIn
          info.refused = refused
          return refuse(refused)
        }
        return yield* tokens.disconnect(app).pipe(
          Effect.as(HttpServerResponse.empty({ status: 204 })),
          Effect.provideService(CurrentActor, info.user.right),
          Effect.catchAll((error) => Effect.succeed(refuse(error)))
        )
      })
    )

    /** The JSON of a registration. */
    const readMetadata = (request: Request) =>
      Effect.flatMap(readText(request, maximumMetadata, bodyTimeout), (body) => {
        const parsed = parseFirst(body)
        return parsed instanceof Unreadable
          ? new OAuthError({ error: "invalid_client_metadata", message: `The body must be valid JSON: ${parsed.reason}.` })
          : Effect.succeed(parsed)
      })

    const register = answering(
      limited("register", (request) =>
        Effect.gen(function* () {
          const { app, secret, token } = yield* registrations.register(yield* readMetadata(request), yield* callInfo)
          return json(201, {
            ...clientView(accessUrl, app),
            ...(secret === undefined ? {} : { client_secret: Redacted.value(secret) }),
            registration_access_token: Redacted.value(token)
          })
        })
      )
    )

    const managementToken = ({ headers }: Request): string | undefined => /^Bearer (\S+)$/.exec(headers["authorization"] ?? "")?.[1]

    const clientId = ({ path }: RequestInfo): string => path.slice(path.lastIndexOf("/") + 1)

    const readClient = answering(
      limited("clients", (request, info) =>
        Effect.map(registrations.get(clientId(info), managementToken(request)), (app) => json(200, clientView(accessUrl, app)))
      )
    )

    const replaceClient = answering(
      limited("clients", (request, info) =>
        Effect.gen(function* () {
          // A caller without the token learns nothing of what its body lacks
          yield* registrations.get(clientId(info), managementToken(request))
          const body = yield* readMetadata(request)
          return json(
            200,
            clientView(accessUrl, yield* registrations.update(clientId(info), managementToken(request), body, yield* callInfo))
          )
        })
      )
    )

    const deleteClient = answering(
      limited("clients", (request, info) =>
        Effect.gen(function* () {
          yield* registrations.delete(clientId(info), managementToken(request), yield* callInfo)
          return HttpServerResponse.empty({ status: 204 })
        })
      )
    )

    const suffixOf = ({ path }: RequestInfo, name: string): string => path.slice(path.indexOf(name) + name.length)

    const authorizationServer = answering((_, info) =>
      isIssuerSuffix(accessUrl, suffixOf(info, "/oauth-authorization-server"))
        ? Effect.map(apps.registrationEnabled, (enabled) => json(200, serverMetadata(accessUrl, enabled)))
        : Effect.succeed(refuse(noDocument))
    )

    const protectedResource = answering((_, info) =>
      Effect.succeed(json(200, resourceMetadata(accessUrl, suffixOf(info, "/oauth-protected-resource"))))
    )

    return [
      ...both("GET", "/oauth2/authorize", ask),
      ...both("POST", "/oauth2/authorize", consent),
      ...both("POST", "/oauth2/tokens", exchange),
      ...both("DELETE", "/oauth2/tokens", disconnect),
      ...both("POST", "/oauth2/revoke", revoke),
      ...both("POST", "/oauth2/register", register),
      ...both("GET", "/oauth2/clients/:client_id", readClient),
      ...both("PUT", "/oauth2/clients/:client_id", replaceClient),
      ...both("DELETE", "/oauth2/clients/:client_id", deleteClient),
      ...both("GET", "/.well-known/oauth-authorization-server", authorizationServer),
      ...both("GET", "/.well-known/oauth-authorization-server/*", authorizationServer),
      ...both("GET", "/.well-known/oauth-protected-resource", protectedResource),
      ...both("GET", "/.well-known/oauth-protected-resource/*", protectedResource)
    ]
  })
