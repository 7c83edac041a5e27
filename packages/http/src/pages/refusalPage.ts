import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Refusal, responseOf, statusOf } from "../wire/errors.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { escaped, page, type PageBrand } from "./page.js"
import { text } from "./text.js"

/** A refusal as a page, for browsers that a provider has sent back. */
export const refusalPage = (
  settings: HttpSettings,
  brand: PageBrand,
  refusal: Exclude<Refusal, { readonly _tag: "NotModified" }>
): HttpServerResponse.HttpServerResponse => {
  const { detail, message } = responseOf(refusal)
  return page(settings, brand, {
    title: message,
    status: statusOf(refusal),
    content: `${detail === undefined ? "" : `<p>${escaped(detail)}</p>\n`}${settings.login === undefined ? "" : `<p><a href="${escaped(settings.login)}">${text.backToLogin}</a></p>`}`
  })
}
