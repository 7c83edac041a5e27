/**
 * The build of the application, and its development mode: `npm run dev -w packages/console`. `ATELIER_SERVER` names the server whose interface it uses,
 * default http://127.0.0.1:3000. The browser signs in at that server's own pages, which the development server passes on.
 */
import { fileURLToPath } from "node:url"
import react from "@vitejs/plugin-react"
import { defineConfig, type Plugin } from "vite"

const server = process.env["ATELIER_SERVER"] ?? "http://127.0.0.1:3000"
const wire = process.env["ATELIER_BRAND"] ?? "Service"

/** Paths that the server answers itself. docs/console-design.md. */
const passedOn =
  /^\/(?:api|swagger|login|logout|setup|forgot-password|reset-password|change-password|cli-auth|oauth2|external-auth|icon|emojis|derp|healthz|@[^/]+\/[^/]+\/(?:terminal|apps))(?:\/|\?|$)/

/** Does for the page what the server does: fills in the configuration. */
const configuration: Plugin = {
  name: "atelier-configuration",
  apply: "serve",
  configureServer: ({ middlewares }) => {
    middlewares.use((request, response, next) => {
      if (!/\btext\/html\b/.test(request.headers.accept ?? "") || passedOn.test(request.url ?? "")) return next()
      const csrf = /(?:^|;\s*)csrf_token=([^;]*)/.exec(request.headers.cookie ?? "")?.[1] ?? ""
      const end = response.end.bind(response)
      const values = {
        base: "/",
        api: "",
        csrf: decodeURIComponent(csrf),
        brand: { name: "Atelier", wire },
        login: "/login",
        logout: "/logout"
      }
      response.end = ((chunk: unknown) => {
        const page = String(chunk ?? "")
          .replace("__ATELIER_NAME__", "Atelier")
          .replace("__ATELIER_CONSOLE__", JSON.stringify(values).replaceAll("&", "&amp;").replaceAll('"', "&quot;"))
        response.removeHeader("content-length")
        return end(page)
      }) as typeof response.end
      return next()
    })
  }
}

/** The places of the terminal's library that the page's policy forbids, and what it allows. */
const terminalChanges: ReadonlyArray<readonly [pattern: RegExp, count: number, replacement: string]> = [
  [
    /([\w.$]+)\.createElement\("style"\)/g,
    3,
    'Object.assign($1.createElement("style"),{nonce:document.querySelector("[nonce]")?.nonce??""})'
  ],
  [/(\w+)\.setAttribute\("style",(`[^`]*`)\)/g, 1, "($1.style.cssText=$2)"]
]

/** Lets the terminal write its styles: elements get the page's nonce, and attributes become properties. */
const terminalStyles: Plugin = {
  name: "atelier-terminal-styles",
  apply: "build",
  transform: (code, id) => {
    if (!id.endsWith("/@xterm/xterm/lib/xterm.mjs")) return undefined
    let changed = code
    for (const [pattern, count, replacement] of terminalChanges) {
      const found = code.match(pattern)?.length ?? 0
      if (found !== count) throw new Error(`${id}: ${pattern} was found ${found} times, not ${count}`)
      changed = changed.replace(pattern, replacement)
    }
    return { code: changed, map: null }
  }
}

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [react(), configuration, terminalStyles],
  resolve: {
    conditions: ["atelier-source", "module", "browser", "development|production"],
    alias: {
      // The library writes style elements into the page, which its policy forbids
      "react-remove-scroll": fileURLToPath(new URL("src/ui/floating/ScrollLock.tsx", import.meta.url))
    }
  },
  build: {
    outDir: "dist/site",
    emptyOutDir: true,
    target: "es2022",
    // One file of styles, 10 kB compressed: a screen whose own styles failed to load once would stay without them
    cssCodeSplit: false,
    // A page may not show text of a style or a script inside it
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    reportCompressedSize: false
  },
  server: {
    proxy: {
      [passedOn.source]: { target: server, ws: true, changeOrigin: false }
    }
  }
})
