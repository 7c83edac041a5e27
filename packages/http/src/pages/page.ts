/** Pages that people see: small, without scripts, and without anything from elsewhere. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { createHash } from "node:crypto"
import { pageHeaders } from "./pageHeaders.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { dataAddress, favicon } from "./icons.js"
import { text } from "./text.js"

const style = `:root{color-scheme:light dark;--line:light-dark(#c6c9d0,#4a4f59);--action:light-dark(#1d4ed8,#93b4ff);--on-action:light-dark(#fff,#10182b)}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;font:1rem/1.5 system-ui,sans-serif;background:light-dark(#f3f4f7,#14161a);color:light-dark(#1b1e24,#eceef2)}
main{width:100%;max-width:26rem;padding:2rem 1.5rem;border:1px solid var(--line);border-radius:.75rem;background:light-dark(#fff,#1d2026)}
h1{margin:0 0 1rem;font-size:1.375rem;line-height:1.3;overflow-wrap:anywhere}
h2{margin:1.5rem 0 .5rem;font-size:1.125rem}
main>:last-child{margin-bottom:0}
p,li{overflow-wrap:anywhere}
.icon{display:block;width:3rem;height:3rem;margin:0 0 1rem;object-fit:contain}
label{display:block;margin:1rem 0 .25rem}
input:not([type=hidden]),textarea{width:100%;padding:.5rem .75rem;border:1px solid var(--line);border-radius:.5rem;font:inherit;background:transparent;color:inherit}
textarea{resize:none;font-family:ui-monospace,monospace}
.error{padding:.5rem .75rem;border-left:.25rem solid light-dark(#b42318,#ff8a7a)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 0}
button,.button{flex:1 1 8rem;padding:.625rem 1rem;border:1px solid var(--action);border-radius:.5rem;font:inherit;text-align:center;text-decoration:none;cursor:pointer}
button{background:var(--action);color:var(--on-action)}
.button,a{color:var(--action)}
:focus-visible{outline:3px solid var(--action);outline-offset:2px}
`

const styleHash = createHash("sha256").update(style).digest("base64")

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

/** Text as HTML shows it. Characters that reverse the direction of a line could make one name look like another. */
export const escaped = (value: string): string =>
  value.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, "").replace(/[&<>"']/g, (character) => entities[character] ?? character)

/** How pages present the deployment. */
export interface PageBrand {
  readonly name: string
  /** An `http` or `https` address or a path; empty for none. */
  readonly logo: string
  /** Where the documentation is; empty for none. */
  readonly documentation: string
}

/** The origin that a logo is loaded from, as a source of a policy; empty for this service's own. */
const logoSource = (logo: string): string => (/^https?:/i.test(logo) && URL.canParse(logo) ? ` ${new URL(logo).origin}` : "")

/** A page. `content` is HTML; `formAction` is where its form may lead to, in addition to this service. */
export const page = (
  settings: Pick<HttpSettings, "strictTransportSecurity">,
  { logo, name }: Pick<PageBrand, "logo" | "name">,
  {
    content,
    formAction,
    status = 200,
    title
  }: { readonly title: string; readonly content: string; readonly status?: number; readonly formAction?: string }
): HttpServerResponse.HttpServerResponse => {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `img-src 'self' data:${logoSource(logo)}`,
    "base-uri 'none'",
    `form-action ${formAction === undefined ? "'none'" : `'self' ${formAction}`.trim()}`,
    "frame-ancestors 'none'"
  ].join("; ")
  const body = `<!doctype html>
<html lang="${text.language}">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${dataAddress(favicon)}">
<style>${style}</style>
</head>
<body>
<main>
${logo === "" ? "" : `<img class="icon" src="${escaped(logo)}" alt="${escaped(name)}">\n`}<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`
  return HttpServerResponse.text(body, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      ...pageHeaders(settings, policy),
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cache-control": "no-store",
      pragma: "no-cache"
    }
  })
}
