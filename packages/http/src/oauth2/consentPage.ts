/** The pages of `/oauth2/authorize`. oauth2-provider.md §4. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { isLocalPicture } from "@atelier/core/platform"
import { type OAuth2App, type ResponseMode, withParameters } from "@atelier/core/oauth2"
import type { HttpSettings } from "../server/request/Settings.js"
import { escaped, page, type PageBrand } from "../pages/page.js"
import type { ConsentDetails, RequestErrorDetails } from "../pages/PageOptions.js"
import { text } from "../pages/text.js"
import { permissionOf } from "./scopeTexts.js"

/** Where the browser goes on, as people recognise it: a host, or the scheme of a program. */
const targetName = (uri: string): string => {
  const { host, protocol } = new URL(uri)
  return protocol === "http:" || protocol === "https:" ? host : `${protocol}//${host}`.replace(/\/\/$/, "")
}

/** A source of a policy that a redirect to a URI matches: browsers follow no redirect of a form to anywhere else. */
const sourceOf = (uri: string): string => {
  const { hostname, origin, protocol } = new URL(uri)
  // A policy knows no IPv6 addresses
  return (protocol === "http:" || protocol === "https:") && !hostname.startsWith("[") ? origin : protocol
}

/** What a user is asked for. */
export const consentDetails = (
  { accessUrl }: Pick<HttpSettings, "accessUrl">,
  asked: {
    readonly app: OAuth2App
    readonly username: string
    readonly uri: string
    readonly scopes: ReadonlyArray<string>
    readonly state: string | undefined
    readonly mode: ResponseMode
    readonly csrfToken: string
  }
): ConsentDetails => {
  const { app, csrfToken, mode, scopes, state, uri, username } = asked
  return {
    app: { id: app.id, name: app.name, icon: app.icon },
    username,
    scopes,
    permissions: scopes.map(permissionOf),
    redirectUri: uri,
    cancelUri: withParameters(
      uri,
      { error: "access_denied", error_description: "The user denied the request.", state, iss: accessUrl },
      mode
    ),
    csrfToken
  }
}

/** Asks a user for consent. */
export const consentPage = (
  settings: HttpSettings,
  brand: PageBrand,
  { app, cancelUri, csrfToken, permissions, redirectUri, username }: ConsentDetails
): HttpServerResponse.HttpServerResponse =>
  page(settings, brand, {
    title: text.consentTitle(app.name),
    formAction: sourceOf(redirectUri),
    // Icons from elsewhere are not loaded: they would tell their host who is asked for consent
    content: `${isLocalPicture(app.icon) ? `<img class="icon" src="${escaped(app.icon.startsWith("/") ? `${settings.mount}${app.icon}` : app.icon)}" alt="">\n` : ""}<p>${escaped(text.consentQuestion(app.name, username))}</p>
<ul>
${permissions.map((permission) => `<li>${escaped(permission)}</li>`).join("\n")}
</ul>
<p>${escaped(text.consentRedirect(targetName(redirectUri)))}</p>
<form method="POST">
<input type="hidden" name="csrf_token" value="${escaped(csrfToken)}">
<div class="actions">
<button type="submit">${text.allow}</button>
<a class="button" href="${escaped(cancelUri)}">${text.cancel}</a>
</div>
</form>`
  })

/** Tells a user why the app's request cannot be answered. */
export const requestErrorPage = (
  settings: HttpSettings,
  brand: PageBrand,
  { message, status }: RequestErrorDetails
): HttpServerResponse.HttpServerResponse =>
  page(settings, brand, {
    title: text.errorTitle,
    status,
    content: `<p class="error" role="alert">${escaped(message)}</p>
<p><a href="${escaped(settings.accessUrl)}">${text.backToService}</a></p>`
  })
