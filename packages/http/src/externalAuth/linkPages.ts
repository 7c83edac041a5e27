/** The pages on which a user links an account at an external provider: what they show, and their forms. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { LinkedExternalAuth } from "@atelier/core/externalAuth"
import { escaped, page, type PageBrand } from "../pages/page.js"
import { text } from "../pages/text.js"
import { csrfTokenOf, maskedToken } from "../server/credentials/Csrf.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { Settings } from "../server/request/Settings.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** What a page is made of: the provider's id, and the request. */
export interface Asked {
  readonly id: string
  readonly request: Request
  readonly info: RequestInfo
  readonly brand: PageBrand
}

/** A code that its user enters at the provider. */
export interface DeviceCode {
  readonly code: string
  readonly user: string
  readonly uri: string
}

/** Returns the pages of a deployment that is mounted at a path. */
export const linkPages = (settings: Settings["Type"], mount: string) => {
  const form = ({ id, info, request }: Asked, button: string, fields = ""): string =>
    `<form method="POST" action="${mount}/external-auth/${escaped(encodeURIComponent(id))}">
<input type="hidden" name="csrf_token" value="${escaped(maskedToken(csrfTokenOf(info, request)))}">
${fields}<div class="actions"><button type="submit">${escaped(button)}</button></div>
</form>`

  /** The page of a provider whose codes users enter there. */
  const devicePage = (asked: Asked, { display_name }: LinkedExternalAuth, device: DeviceCode, notice = ""): Response =>
    page(settings, asked.brand, {
      title: text.linkTitle(display_name),
      formAction: "",
      content: `${notice === "" ? "" : `<p role="status">${escaped(notice)}</p>\n`}<p>${escaped(text.linkDevice)}</p>
<p><strong>${escaped(device.user)}</strong></p>
${/^https?:/i.test(device.uri) ? `<p><a href="${escaped(device.uri)}" target="_blank" rel="noreferrer">${escaped(device.uri)}</a></p>` : ""}
${form(
  asked,
  text.linkDeviceDone,
  Object.entries({ device_code: device.code, user_code: device.user, verification_uri: device.uri })
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">\n`)
    .join("")
)}`
    })

  const linkedPage = (brand: PageBrand, { display_name, user }: LinkedExternalAuth): Response =>
    page(settings, brand, {
      title: text.linkedTitle(display_name),
      content: `<p>${escaped(user === null || user.login === "" ? text.linkedLead : text.linkedAs(user.login))}</p>`
    })

  /** The page on which a user without a link begins, with the reason why the last link ended. */
  const startPage = (asked: Asked, { device, display_name, failure }: LinkedExternalAuth): Response => {
    const notice = failure === "" ? "" : `<p class="error" role="alert">${escaped(failure)}</p>\n`
    return page(settings, asked.brand, {
      title: text.linkTitle(display_name),
      status: failure === "" ? 200 : 502,
      formAction: "",
      content: `${notice}<p>${escaped(text.linkLead)}</p>
${
  device
    ? form(asked, text.linkStart(display_name))
    : `<div class="actions"><a class="button" href="${mount}/external-auth/${escaped(encodeURIComponent(asked.id))}/callback">${escaped(text.linkStart(display_name))}</a></div>`
}`
    })
  }

  /** The page of a code that the provider has refused. */
  const refusedPage = (asked: Asked, { display_name }: LinkedExternalAuth, reason: string): Response =>
    page(settings, asked.brand, {
      title: text.linkTitle(display_name),
      status: 400,
      formAction: "",
      content: `<p class="error" role="alert">${escaped(reason)}</p>\n${form(asked, text.linkStart(display_name))}`
    })

  return { startPage, devicePage, linkedPage, refusedPage }
}
