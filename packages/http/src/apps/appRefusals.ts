/** What a browser sees in place of an app that it does not get. agents-and-apps.md §19. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { AppRefused } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { type AppPage, appPage } from "../pages/appPage.js"
import type { PageBrand } from "../pages/page.js"
import { seeOther } from "../pages/PageOptions.js"
import { startPath } from "../pages/startPage.js"
import { text } from "../pages/text.js"
import { withQuery } from "../server/codec/withQuery.js"
import { type AppPath, requestTarget } from "../server/request/appPath.js"
import type { HttpSettings } from "../server/request/Settings.js"
import type { AppPlace } from "../server/request/Visit.js"
import type { AppSessions } from "./AppSessions.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type Reason = Exclude<AppRefused["reason"], "signed_out">

const looks: Readonly<Record<Reason, Omit<AppPage, "message">>> = {
  missing: { status: 404, title: text.appMissing },
  offline: { status: 400, title: text.appOffline },
  unavailable: { status: 404, title: text.appUnavailable, retry: true },
  disabled: { status: 403, title: text.appDisabled },
  invalid: { status: 400, title: text.appInvalid }
}

export interface AppRefusals {
  /** A page in place of an app. */
  readonly shown: (content: AppPage) => Effect.Effect<Response>
  /** The page of a refusal; `start` is the address of the page that starts the workspace. */
  readonly page: (refusal: { readonly message: string; readonly reason: Reason }, start?: string) => Effect.Effect<Response>
  /** The answer to a caller who may not open the app at `host`. */
  readonly refused: (request: Request, refusal: AppRefused, app: AppPath, place: AppPlace, host: string) => Effect.Effect<Response>
}

export const appRefusals = (
  settings: HttpSettings,
  brand: Effect.Effect<PageBrand>,
  sessions: Pick<AppSessions["Type"], "address">
): AppRefusals => {
  const shown: AppRefusals["shown"] = (content) => Effect.map(brand, (as) => appPage(settings, as, content))

  const page: AppRefusals["page"] = ({ message, reason }, start) =>
    shown({ ...looks[reason], message, ...(start === undefined ? {} : { start }) })

  /** A caller who might get the app with a session is sent to sign in. */
  const signIn = (request: Request, app: AppPath, { isElsewhere, protocol }: AppPlace, host: string): Effect.Effect<Response> => {
    if (isElsewhere || app.address.access_method === "subdomain")
      return Effect.succeed(seeOther(sessions.address(`${protocol}//${host}${requestTarget(app)}`)))
    if (settings.login === undefined) return page({ reason: "missing", message: "Sign in to open this application." })
    const message = "You are signed out or your session has expired. Please sign in again to continue."
    return Effect.succeed(seeOther(withQuery(settings.login, { message, redirect: request.originalUrl })))
  }

  /** Where a workspace is started: at the service's own address, whose session the browser has. */
  const startAddress = ({ address: { user, workspace } }: AppPath): string | undefined =>
    settings.login === undefined ? undefined : `${settings.accessUrl}${startPath(user, workspace)}`

  return {
    shown,
    page,
    refused: (request, { mayStart, message, reason }, app, place, host) =>
      reason === "signed_out"
        ? signIn(request, app, place, host)
        : page({ reason, message }, mayStart === true ? startAddress(app) : undefined)
  }
}
