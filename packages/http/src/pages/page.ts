/** Pages that people see: small, without scripts, and without anything from elsewhere. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { createHash } from "node:crypto"
import { pageHeaders, type PageSettings } from "./pageHeaders.js"
import { dataAddress, favicon } from "./icons.js"
import { text } from "./text.js"

/** The console's colours, for light and for dark ground: docs/console-design.md. Without a script, pages follow the system's choice. */
const colours = {
  canvas: ["#f7f8fa", "#0b0c0f"],
  surface: ["#ffffff", "#111317"],
  line: ["#e5e8ed", "#22262d"],
  control: ["#8a93a3", "#6b7383"],
  hover: ["#f2f4f7", "#1a1d23"],
  text: ["#15181e", "#eceef2"],
  "text-2": ["#4d5563", "#a9b0bd"],
  red: ["#b42825", "#ff8b86"],
  "red-soft": ["#fdebea", "#331718"],
  green: ["#17703f", "#58c98f"],
  "green-soft": ["#e3f5ea", "#10271b"]
} as const

const ownAccent = { light: "#5046d8", dark: "#635bec" }
const ownAccentText = { light: "#4a40cf", dark: "#a9a5ff" }

const rules = `*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;padding:24px 16px;background:var(--canvas);color:var(--text);font:400 14px/20px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;-webkit-font-smoothing:antialiased;overflow-wrap:anywhere}
.brand{display:flex;align-items:center;gap:8px;width:100%;max-width:400px;margin:0 0 16px;font-weight:600}
.brand img{width:24px;height:24px;flex:none;object-fit:contain}
main{width:100%;max-width:400px;padding:24px;border:1px solid var(--line);border-radius:10px;background:var(--surface);box-shadow:0 1px 2px rgb(16 24 40/6%)}
h1{margin:0 0 12px;font-size:20px;line-height:28px;font-weight:600}
h2{margin:24px 0 8px;font-size:14px;font-weight:600}
p{margin:0 0 12px;color:var(--text-2)}
ul{margin:0 0 12px;padding:0 0 0 20px}
li{margin:4px 0}
main>:last-child{margin-bottom:0}
.icon{display:block;width:40px;height:40px;margin:0 0 12px;object-fit:contain}
label{display:block;margin:12px 0 4px;font-size:13px;font-weight:500}
input:not([type=hidden]),textarea{width:100%;min-height:36px;padding:7px 10px;border:1px solid var(--control);border-radius:6px;font:inherit;background:var(--surface);color:inherit}
[aria-invalid]:not([type=hidden]){border-color:var(--red)}
textarea{resize:none;font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;font-size:13px}
.fault{margin:4px 0 0;color:var(--red);font-size:13px;line-height:18px}
.error,.notice{padding:8px 12px;border-radius:6px;background:var(--red-soft);color:var(--red)}
.notice{background:var(--green-soft);color:var(--green)}
.actions{display:flex;flex-wrap:wrap;gap:8px;margin:20px 0 16px}
form>.actions:last-child{margin-bottom:0}
form+p,form+.actions,.actions+.actions{margin-top:16px}
button,.button{display:flex;flex:1 1 120px;align-items:center;justify-content:center;min-height:36px;padding:6px 14px;border:1px solid var(--control);border-radius:6px;background:var(--surface);color:var(--text);font:inherit;font-weight:500;text-align:center;text-decoration:none;cursor:pointer}
.button:hover{background:var(--hover)}
button:not(.button){border-color:var(--accent);background:var(--accent);color:var(--on-accent)}
button:not(.button):hover{filter:brightness(1.08)}
a:not(.button){color:var(--accent-text);text-underline-offset:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:480px){input:not([type=hidden]),textarea{font-size:16px}main{padding:20px 16px}}
`

/** White or black, whichever is read better on a colour (WCAG 2, relative luminance). */
const readableOn = (colour: string): string => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff"
}

const styleOf = (accent: PageBrand["accent"]): string => {
  const { dark, light } = accent ?? ownAccent
  const pairs: ReadonlyArray<readonly [name: string, pair: readonly [light: string, dark: string]]> = [
    ...Object.entries(colours),
    ["accent", [light, dark]],
    ["accent-text", accent === undefined ? [ownAccentText.light, ownAccentText.dark] : [light, dark]],
    ["on-accent", [readableOn(light), readableOn(dark)]]
  ]
  return `:root{color-scheme:light dark;${pairs.map(([name, [light, dark]]) => `--${name}:light-dark(${light},${dark})`).join(";")}}\n${rules}`
}

interface Style {
  readonly content: string
  readonly hash: string
}

const styles = new Map<string, Style>()

/** The style of a deployment, which has one accent. */
const styleFor = (accent: PageBrand["accent"]): Style => {
  const key = accent === undefined ? "" : `${accent.light} ${accent.dark}`
  const known = styles.get(key)
  if (known !== undefined) return known
  const content = styleOf(accent)
  const made = { content, hash: createHash("sha256").update(content).digest("base64") }
  styles.set(key, made)
  return made
}

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
  /** The colour of what can be pressed; undefined for the product's own. */
  readonly accent?: { readonly light: string; readonly dark: string } | undefined
}

/** The origin that a logo is loaded from; undefined for this service's own. */
export const originOf = (logo: string): string | undefined =>
  /^https?:/i.test(logo) && URL.canParse(logo) ? new URL(logo).origin : undefined

/** A page. `content` is HTML; `formAction` is where its form may lead to, in addition to this service. */
export const page = (
  settings: PageSettings,
  { accent, logo, name }: Pick<PageBrand, "accent" | "logo" | "name">,
  {
    content,
    formAction,
    status = 200,
    title
  }: { readonly title: string; readonly content: string; readonly status?: number; readonly formAction?: string }
): HttpServerResponse.HttpServerResponse => {
  const style = styleFor(accent)
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${style.hash}'`,
    `img-src ${["'self'", "data:", originOf(logo) ?? []].flat().join(" ")}`,
    "base-uri 'none'",
    `form-action ${formAction === undefined ? "'none'" : `'self' ${formAction}`.trim()}`,
    "frame-ancestors 'none'"
  ].join("; ")
  const body = `<!doctype html>
<html lang="${text.language}">
<head>
<meta charset="utf-8">
<title>${escaped(title.includes(name) ? title : `${title} · ${name}`)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${dataAddress(favicon)}">
<style>${style.content}</style>
</head>
<body>
<header class="brand"><img src="${logo === "" ? dataAddress(favicon) : escaped(logo)}" alt=""><span>${escaped(name)}</span></header>
<main>
<h1>${escaped(title)}</h1>
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
      "x-frame-options": "DENY",
      "cache-control": "no-store",
      pragma: "no-cache"
    }
  })
}
