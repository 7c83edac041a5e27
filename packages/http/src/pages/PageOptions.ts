/** How a host replaces the pages of the deployment. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect } from "effect"
import { withQuery } from "../server/codec/withQuery.js"

/**
 * A page of the host: its address, which is given the query of the request, or a function that answers the request. `details` are what the page
 * has to show.
 */
export type PageReplacement<Details = undefined> =
  | string
  | ((request: globalThis.Request, details: Details) => globalThis.Response | Promise<globalThis.Response>)

/** What a user is asked for. The page's form sends `csrf_token` by `POST` to the request's own address. */
export interface ConsentDetails {
  readonly app: { readonly id: string; readonly name: string; readonly icon: string }
  /** The user who is signed in. */
  readonly username: string
  /** The scopes that the app gets: those that it asks for, or the default ones. */
  readonly scopes: ReadonlyArray<string>
  /** What the scopes mean, a sentence for each. */
  readonly permissions: ReadonlyArray<string>
  /** Where the browser goes on after the consent. */
  readonly redirectUri: string
  /** Where the browser goes on when the user denies the request. */
  readonly cancelUri: string
  readonly csrfToken: string
}

/** Why an app's request cannot be answered. An address gets both as the parameters `status` and `message`. */
export interface RequestErrorDetails {
  /** The HTTP status of the service's own page. */
  readonly status: number
  readonly message: string
}

/** Replacements of pages, by page. */
export interface PageOptions {
  /** `/` */
  readonly home?: PageReplacement
  /** `/login` */
  readonly login?: PageReplacement
  /** `/setup` */
  readonly setup?: PageReplacement
  /** `/reset-password` and `/reset-password/change` */
  readonly resetPassword?: PageReplacement
  /** `/logout` */
  readonly logout?: PageReplacement
  /** `/cli-auth` */
  readonly cliAuth?: PageReplacement
  /** `GET /oauth2/authorize`. A page at an address sends the consent with the user's session token in a header. */
  readonly consent?: PageReplacement<ConsentDetails>
  /** What `/oauth2/authorize` shows where it must not go back to the app. */
  readonly requestError?: PageReplacement<RequestErrorDetails>
}

/** The part of an application's options that says which pages there are. */
export interface HostPages {
  readonly authenticate?: unknown
  readonly pages?: false | PageOptions
}

/** The replacements; undefined where the host has turned the pages off. */
export const pagesOf = ({ authenticate, pages }: HostPages): PageOptions | undefined =>
  pages === false || (pages === undefined && authenticate !== undefined) ? undefined : (pages ?? {})

/** Where a browser signs in; undefined where the deployment has no page for it. `mount` is a path without a slash at its end. */
export const loginAddress = (options: HostPages, mount: string): string | undefined => {
  const pages = pagesOf(options)
  if (pages === undefined) return undefined
  return typeof pages.login === "string" ? pages.login : `${mount}/login`
}

/** A redirection of a form's answer to a page. */
export const seeOther = (location: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.redirect(location, { status: 303, headers: { "cache-control": "no-store" } })

/** The query of a request, without its question mark. */
export const queryOf = ({ url }: Pick<HttpServerRequest.HttpServerRequest, "url">): string =>
  url.includes("?") ? url.slice(url.indexOf("?") + 1) : ""

/** The host's answer in place of a page. `parameters` join the query of an address. */
export const replacement = <Details>(
  by: PageReplacement<Details>,
  details: Details,
  parameters: Readonly<Record<string, string>> = {}
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (typeof by === "string") return Effect.succeed(seeOther(withQuery(withQuery(by, queryOf(request)), parameters)))
    return Effect.flatMap(Effect.orDie(HttpServerRequest.toWeb(request)), (web) =>
      Effect.map(
        Effect.promise(async () => by(web, details)),
        HttpServerResponse.fromWeb
      )
    )
  })
