/** The web console: its files, and the page that starts it at each of its addresses. */
import { documentOf, fileAnswer, fileOf, isRoute, policyOf, type SiteFile } from "@atelier/console"
import { randomBytes } from "@atelier/node"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { withQuery } from "../server/codec/withQuery.js"
import { csrfTokenOf, maskedToken } from "../server/credentials/Csrf.js"
import { kept } from "../server/pipeline/kept.js"
import type { Unrouted } from "../server/pipeline/Unrouted.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { type ConsolePlace, Settings } from "../server/request/Settings.js"
import { appPage } from "./appPage.js"
import { brandOf } from "./brandOf.js"
import { type HostConsole, wantsConsole } from "./ConsoleOptions.js"
import { failurePage } from "./failurePage.js"
import { lostPage } from "./lostPage.js"
import { originOf } from "./page.js"
import { pageHeaders } from "./pageHeaders.js"
import { queryOf, seeOther } from "./PageOptions.js"
import { text } from "./text.js"

type Request = HttpServerRequest.HttpServerRequest

/** A path below the console's own, which begins with a slash; undefined for a path outside of it. */
const below = ({ path: own }: ConsolePlace, path: string): string | undefined => {
  if (path === own) return "/"
  return path.startsWith(`${own}/`) ? path.slice(own.length) : undefined
}

/** Answers with files. The first request for a file reads it, and later ones share its bytes. */
const filesOf = ({ folder }: ConsolePlace) => {
  const contents = new Map<string, Effect.Effect<Uint8Array>>()
  const contentOf = (path: string): Effect.Effect<Uint8Array> =>
    contents.get(path) ??
    Effect.flatMap(kept(Effect.promise(() => readFile(join(folder, path)))), (content) => {
      contents.set(path, content)
      return content
    })

  return (file: SiteFile, request: Request, headers: Readonly<Record<string, string>>) => {
    // The listener leaves out the body of an answer to HEAD, and tells its length
    const { body, headers: ofFile, status } = fileAnswer(file, "GET", (name) => request.headers[name])
    const all = { ...headers, ...ofFile }
    return body === undefined
      ? Effect.succeed(HttpServerResponse.empty({ status, headers: all }))
      : Effect.map(contentOf(body), (bytes) => HttpServerResponse.uint8Array(bytes, { status, headers: all, contentType: file.type }))
  }
}

/** The page that starts the application, for a user who is signed in. */
const documentPage = (place: ConsolePlace) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const brandNow = yield* brandOf
    const sockets = new URL(settings.accessUrl).origin.replace(/^http/, "ws")
    const html = yield* kept(Effect.promise(() => readFile(join(place.folder, "index.html"), "utf8")))

    return (request: Request, info: RequestInfo, isKnown: boolean) =>
      Effect.map(Effect.all([html, brandNow]), ([html, { documentation, logo, name }]) => {
        const token = csrfTokenOf(info, request)
        const told = {
          base: place.base,
          api: settings.mount,
          brand: { name, wire: settings.names.word, logo, accent: settings.appearance.accent ?? null },
          documentation,
          login: settings.login ?? null,
          logout: settings.login === undefined ? null : `${settings.mount}/logout`,
          version: settings.version,
          navigation: place.navigation
        }
        const nonce = Buffer.from(randomBytes(16)).toString("base64")
        const tag = createHash("sha256")
          .update(html)
          .update(JSON.stringify([told, [...settings.policyAdditions]]))
          .update(token)
          .digest("base64url")
        const { body, headers, status } = documentOf(
          { html, nonce, settings: { ...told, csrf: maskedToken(token) } },
          {
            method: "GET",
            isKnown,
            noneMatch: request.headers["if-none-match"],
            policy: policyOf({ nonce, logo: originOf(logo), sockets }),
            tag
          }
        )
        // Browsers keep the policy of the copy that they have, whose nonce is in it
        const more = status === 304 ? {} : pageHeaders(settings, headers["content-security-policy"] ?? "")
        const all = { ...headers, ...more, vary: "Accept, Origin, Cookie" }
        return body === undefined
          ? HttpServerResponse.empty({ status, headers: all })
          : HttpServerResponse.text(body, { status, headers: all, contentType: "text/html; charset=utf-8" })
      })
  })

/** Answers what no route does: the console where there is one, and a page that says that there is nothing. */
export const consolePages = (options: HostConsole) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const { console: place, login } = settings
    const lost = yield* lostPage(options)
    const failure = yield* failurePage(options)
    if (place === undefined) {
      if (wantsConsole(options)) yield* Effect.logWarning("the web console is not served: its files have not been built")
      return { owns: () => false, file: () => undefined, isPersonal: () => false, page: lost && (() => lost), failure } satisfies Unrouted
    }
    const { site } = place
    const files = filesOf(place)
    const show = yield* documentPage(place)
    const brandNow = yield* brandOf
    // A picture or script that is opened by itself runs nothing
    const fileHeaders = pageHeaders(settings, "default-src 'none'")
    const refused = Effect.map(brandNow, (brand) =>
      appPage(settings, brand, { status: 401, title: text.terminalRefused, message: text.signedOutReason })
    )
    const fileBelow = (path: string): SiteFile | undefined => {
      const own = below(place, path)
      return own === undefined ? undefined : fileOf(site, own.slice(1))
    }
    const isScreen = (path: string): boolean => isRoute(site, path)

    return {
      owns: (path) => {
        const own = below(place, path)
        // At the root of a host, the addresses of a console that was moved away are the host's pages
        if (own === undefined) return settings.basePath !== "" && isScreen(path)
        return place.path !== "" || isScreen(own) || fileOf(site, own.slice(1)) !== undefined
      },
      file: (request, path) => {
        const file = request.method === "GET" || request.method === "HEAD" ? fileBelow(path) : undefined
        return file && files(file, request, fileHeaders)
      },
      isPersonal: () => true,
      page: (request, info, path) => {
        const own = below(place, path)
        const isKnown = isScreen(own ?? path)
        if (info.user?._tag !== "Right") {
          if (!isKnown && lost !== undefined) return lost
          if (login === undefined) return refused
          const isRoot = path === "/" && !request.originalUrl.includes("?")
          return Effect.succeed(seeOther(isRoot ? login : withQuery(login, { redirect: request.originalUrl })))
        }
        if (own !== undefined) return show(request, info, isKnown)
        // Links in messages lead to the service, wherever its console is
        if (isKnown) return Effect.succeed(seeOther(withQuery(`${place.base}${path.slice(1)}`, queryOf(request))))
        return lost ?? show(request, info, false)
      },
      failure
    } satisfies Unrouted
  })
