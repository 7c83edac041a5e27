/** The addresses of pictures: that of the pages, and those that templates name, such as `/icon/terminal.svg`. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { NotFound } from "@atelier/core/platform"
import { Effect } from "effect"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { pageHeaders } from "./pageHeaders.js"
import { refuse } from "../server/codec/respond.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { favicon, iconOf } from "./icons.js"

const namePattern = /\/icon\/([a-z0-9][a-z0-9-]{0,63})\.svg$/

export const iconPages = (settings: HttpSettings): ReadonlyArray<Page> => {
  // A day; a picture that is opened by itself runs nothing
  const headers = { ...pageHeaders(settings, "default-src 'none'"), "cache-control": "private, max-age=86400" }
  const picture = (svg: string): HttpServerResponse.HttpServerResponse =>
    HttpServerResponse.text(svg, { headers, contentType: "image/svg+xml" })
  return [
    { method: "GET", path: "/favicon.ico", handler: Effect.sync(() => picture(favicon)), isCommon: true },
    {
      method: "GET",
      path: "/icon/*",
      isCommon: true,
      handler: Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
        const name = namePattern.exec(url.split("?", 1)[0] ?? "")?.[1]
        return name === undefined ? refuse(new NotFound({ message: "Route not found." })) : picture(iconOf(name))
      })
    }
  ]
}
