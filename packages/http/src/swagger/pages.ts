/** The interface's description, and a browser of it that loads nothing from elsewhere. deployment.md §1.10. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { NotFound } from "@atelier/core/platform"
import { Effect } from "effect"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { Names } from "../wire/Brand.js"
import { type Dialect, Wire } from "../wire/dialect.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { stringify } from "../server/codec/json.js"
import { kept } from "../server/pipeline/kept.js"
import { bytes, compressible, packagedFiles } from "../pages/packagedFiles.js"
import { pageHeaders, scriptedPolicy } from "../pages/pageHeaders.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="favicon-32x32.png">
<link rel="stylesheet" href="swagger-ui.css">
</head>
<body>
<main id="swagger-ui"></main>
<script src="swagger-ui-bundle.js"></script>
<script src="initialize.js"></script>
</body>
</html>
`

/** Credentials go by the header that the reader enters; a cookie would have to pass the check for forgery. */
const initialize = `SwaggerUIBundle({
  url: "doc.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  requestInterceptor: (request) => Object.assign(request, { credentials: "omit" })
})
`

const bundled: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png"
}

/** How an interface is described: in the names of its brand, its version and its dialect. */
export interface Presented {
  readonly names: Names
  readonly version: string
  readonly wire: Dialect
}

/** The pages below `/swagger`; none where the deployment does not have them. */
export const swaggerPages = (describe: (presented: Presented) => Promise<object>) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const wire = yield* Wire
    if (!settings.swagger.enable) return []
    const headers = pageHeaders(settings, scriptedPolicy)
    const folder = join(dirname(createRequire(import.meta.url).resolve("@atelier/http/package.json")), "browser", "swagger")

    // Generated at the first request: it takes about a second
    const description = yield* kept(
      Effect.flatMap(
        Effect.promise(() => describe({ names: settings.names, version: settings.version, wire })),
        (described) => compressible(Buffer.from(stringify(described)))
      )
    )
    const files = yield* packagedFiles(
      Object.fromEntries(Object.entries(bundled).map(([name, contentType]) => [name, { path: join(folder, name), contentType }])),
      headers
    )
    const text = (body: string, contentType: string) => HttpServerResponse.text(body, { headers, contentType })

    const below: Page = {
      method: "GET",
      path: "/swagger/*",
      handler: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const name = request.url.split("?")[0]?.slice("/swagger/".length) ?? ""
        const file = files(request, name)
        if (file !== undefined) return file
        switch (name) {
          case "":
            return Effect.succeed(text(page, "text/html; charset=utf-8"))
          case "initialize.js":
            return Effect.succeed(text(initialize, "text/javascript; charset=utf-8"))
          case "doc.json":
            return Effect.map(description, (body) => bytes(request, body, "application/json; charset=utf-8", headers))
          default:
            return Effect.succeed(refuse(new NotFound({ message: "Route not found." })))
        }
      })
    }
    // Relative, so that it is right wherever the interface is mounted
    const above: Page = {
      method: "GET",
      path: "/swagger",
      handler: Effect.succeed(HttpServerResponse.redirect("swagger/", { status: 307 }))
    }
    return [above, below]
  })
