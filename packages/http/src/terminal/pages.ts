/** The page with a terminal of a workspace, and the files that it loads. agents-and-apps.md §18. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { NotFound } from "@atelier/core/platform"
import { WorkspaceBuildCreation, Workspaces, type WorkspaceView } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { appPage } from "../pages/appPage.js"
import { brandOf } from "../pages/brandOf.js"
import { dataAddress, favicon } from "../pages/icons.js"
import { escaped } from "../pages/page.js"
import { type HostPages, seeOther } from "../pages/PageOptions.js"
import { startPath } from "../pages/startPage.js"
import { text } from "../pages/text.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { packagedFiles } from "../pages/packagedFiles.js"
import { pageHeaders, scriptedPolicy } from "../pages/pageHeaders.js"
import { refuse } from "../server/codec/respond.js"
import { Settings } from "../server/request/Settings.js"
import { withQuery } from "../server/codec/withQuery.js"

type Response = HttpServerResponse.HttpServerResponse

/** The console's dark colours, in either theme: programs in a terminal expect them. */
const style = `html,body{height:100%;margin:0;background:#0b0c0f}
#terminal{position:absolute;inset:8px}
#notice{position:absolute;z-index:10;right:12px;top:12px;margin:0;padding:6px 12px;border:1px solid #343a45;border-radius:6px;font:13px/18px system-ui,sans-serif;background:#171a1f;color:#eceef2}
`

const script = { contentType: "text/javascript; charset=utf-8" }

/** The files below `/terminal`. The build copies those of the library, because hosts need nothing else of it. */
const fileOf = () => {
  const browser = join(dirname(createRequire(import.meta.url).resolve("@atelier/http/package.json")), "browser")
  return {
    "terminal.js": { ...script, path: join(browser, "terminal.js") },
    "xterm.mjs": { ...script, path: join(browser, "xterm", "xterm.mjs") },
    "addon-fit.mjs": { ...script, path: join(browser, "xterm", "addon-fit.mjs") },
    "xterm.css": { contentType: "text/css; charset=utf-8", path: join(browser, "xterm", "xterm.css") }
  }
}

interface Shown {
  readonly agent: string
  readonly mount: string
  readonly title: string
  /** The name of the deployment. */
  readonly brand: string
}

const documentOf = ({ agent, brand, mount, title }: Shown): string =>
  `<!doctype html>
<html lang="${text.language}">
<head>
<meta charset="utf-8">
<title>${escaped(`${title} · ${brand}`)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${dataAddress(favicon)}">
<link rel="stylesheet" href="${escaped(mount)}/terminal/xterm.css">
<style>${style}</style>
</head>
<body data-agent="${escaped(agent)}" data-base="${escaped(mount)}">
<main><h1 hidden>${escaped(title)}</h1><div id="terminal"></div></main>
<p id="notice" role="status" hidden></p>
<script type="module" src="${escaped(mount)}/terminal/terminal.js"></script>
</body>
</html>
`

/** The agent that a place names, such as `dev` or `dev.main`; undefined where the name is needed or wrong. */
const agentIn = ({ latest_build }: WorkspaceView, name: string) => {
  const agents = latest_build.resources.flatMap(({ agents: all = [] }) => all).filter((agent) => name === "" || agent.name === name)
  return agents.length === 1 ? agents[0] : undefined
}

/** The page and its files; none where the host turns the pages off. A host with users of its own needs them as any other does. */
export const terminalPages = (options: HostPages) =>
  Effect.gen(function* () {
    if (options.pages === false) return []
    const settings = yield* Settings
    const workspaces = yield* Workspaces
    const builds = yield* WorkspaceBuildCreation
    const brand = yield* brandOf
    const services = yield* Effect.context<never>()
    const { mount } = settings
    const headers = pageHeaders(settings, scriptedPolicy)
    const files = yield* packagedFiles(fileOf(), headers)

    const missing = (title: string, message: string, status = 404) =>
      Effect.map(brand, (as) => appPage(settings, as, { status, title, message }))

    const show = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { params, user } = yield* CurrentRequest
      if (user?._tag !== "Right") {
        if (settings.login !== undefined) return seeOther(withQuery(settings.login, { redirect: request.originalUrl }))
        if (user?._tag === "Left")
          return yield* missing(text.terminalRefused, user.left.message, user.left._tag === "Forbidden" ? 403 : 401)
        return yield* missing(text.terminalRefused, text.signedOutReason, 401)
      }
      const [name = "", agentName = "", ...more] = (params["place"] ?? "").split(".")
      const found = yield* Effect.option(
        Effect.provideService(workspaces.getByName(params["user"] ?? "", name, { includeDeleted: false }), CurrentActor, user.right)
      )
      if (found._tag === "None" || more.length > 0) return yield* missing(text.workspaceMissing, text.workspaceMissingReason)
      if (found.value.latest_build.transition !== "start") {
        const { id, name: workspace, owner_name } = found.value
        const mayStart = yield* Effect.orElseSucceed(Effect.provideService(builds.mayStart(id), CurrentActor, user.right), () => false)
        const start = mayStart && settings.login !== undefined ? { start: `${mount}${startPath(owner_name, workspace)}` } : {}
        return yield* Effect.map(brand, (as) =>
          appPage(settings, as, { status: 400, title: text.appOffline, message: text.terminalOffline, ...start })
        )
      }
      const agent = agentIn(found.value, agentName)
      if (agent === undefined) return yield* missing(text.agentMissing, text.agentMissingReason)
      const title = `${found.value.owner_name}/${found.value.name}.${agent.name}`
      const { name: as } = yield* brand
      return HttpServerResponse.text(documentOf({ agent: agent.id, brand: as, mount, title }), {
        headers,
        contentType: "text/html; charset=utf-8"
      })
    })

    const page: Page = {
      method: "GET",
      path: "/@:user/:place/terminal",
      // The types of what use cases need are those of the whole application, which `services` is
      handler: Effect.provide(show as Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest>, services)
    }
    const below: Page = {
      method: "GET",
      path: "/terminal/*",
      isCommon: true,
      handler: Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) =>
          files(request, request.url.split("?")[0]?.slice("/terminal/".length) ?? "") ??
          Effect.succeed(refuse(new NotFound({ message: "Route not found." })))
      )
    }
    return [page, below]
  })
