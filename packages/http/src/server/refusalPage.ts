import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Refusal, responseOf, statusOf } from "../errors.js"
import { pageHeaders } from "./pageHeaders.js"
import type { HttpSettings } from "./Settings.js"

const contentSecurityPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

/** A refusal as a page, for browsers that a provider has sent back. Nothing of it is anything but text. */
export const refusalPage = (
  settings: Pick<HttpSettings, "strictTransportSecurity">,
  refusal: Exclude<Refusal, { readonly _tag: "NotModified" }>
): HttpServerResponse.HttpServerResponse => {
  const { detail, message } = responseOf(refusal)
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escaped(message)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body>
<h1>${escaped(message)}</h1>
${detail === undefined ? "" : `<p>${escaped(detail)}</p>\n`}<p><a href="/login">Back to sign-in</a></p>
</body>
</html>
`
  return HttpServerResponse.text(body, {
    status: statusOf(refusal),
    contentType: "text/html; charset=utf-8",
    headers: { ...pageHeaders(settings, contentSecurityPolicy), "referrer-policy": "no-referrer", "cache-control": "no-store" }
  })
}
