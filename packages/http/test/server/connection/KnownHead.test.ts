import * as fc from "fast-check"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, it } from "vitest"
import { KnownHead } from "../../../src/server/connection/KnownHead.js"
import { type AppPath, appHosts, noApp, parseAppPath } from "../../../src/server/request/appPath.js"

const aRequest = (socket: Socket, rawHeaders: ReadonlyArray<string>): IncomingMessage => {
  const request = new IncomingMessage(socket)
  request.httpVersion = "1.1"
  request.rawHeaders = [...rawHeaders]
  request.headers = {}
  for (let at = 0; at < rawHeaders.length; at += 2) request.headers[(rawHeaders[at] ?? "").toLowerCase()] = rawHeaders[at + 1]
  return request
}

const head = ["Host", "atelier.test", "Cookie", "a=b"]

const appIn = (url: string): AppPath => {
  const app = parseAppPath(url, "/mount")
  if (app === undefined) throw new Error(`${url} names no app`)
  return app
}

it("a head is known to equal requests of its connection alone", () => {
  const socket = new Socket()
  const known = KnownHead.keep(aRequest(socket, head), "127.0.0.1", appIn("/@ada/dev/apps/web/"))
  expect(KnownHead.of(aRequest(socket, head))).toBe(known)
  expect(KnownHead.of(aRequest(new Socket(), head))).toBeUndefined()
  for (const other of [
    head.slice(2),
    [...head, "X", "y"],
    head.with(3, "a=c"),
    head.with(2, "cookie"),
    [...head.slice(2), ...head.slice(0, 2)]
  ])
    expect(KnownHead.of(aRequest(socket, other))).toBeUndefined()
  const older = aRequest(socket, head)
  older.httpVersion = "1.0"
  expect(KnownHead.of(older)).toBeUndefined()
})

it("a head is not known if the host has changed its headers", () => {
  const socket = new Socket()
  const first = aRequest(socket, head)
  const known = KnownHead.keep(first, "127.0.0.1", appIn("/@ada/dev/apps/web/"))
  first.headers["cookie"] = "c=d"
  first.rawHeaders[3] = "c=d"
  expect(KnownHead.of(first)).toBeUndefined()
  for (const change of [{ cookie: "c=d" }, { cookie: undefined }, { authorization: "Bearer x" }]) {
    const next = aRequest(socket, head)
    Object.assign(next.headers, change)
    expect(KnownHead.of(next)).toBeUndefined()
  }
  const without = aRequest(socket, head)
  delete without.headers["cookie"]
  expect(KnownHead.of(without)).toBeUndefined()
  expect(KnownHead.of(aRequest(socket, head))).toBe(known)
})

it("a long head is not kept", () => {
  const request = aRequest(new Socket(), [...head, "X", "x".repeat(5_000)])
  expect(KnownHead.keep(request, "127.0.0.1", appIn("/@ada/dev/apps/web/"))).toBeUndefined()
})

const segment = fc.constantFrom("web", "web2", "we", "%77eb", "dev", "", "@ada", "..", "a?b", "?", "/", "x=y")
const below = fc.array(segment, { maxLength: 4 }).map((segments) => segments.join("/"))
const beginning = fc.constantFrom("/@ada/dev/apps/web/", "/@ada/dev/apps/web", "/mount/@ada/dev/apps/web/", "/@ada/dev/", "/")
const target = fc.tuple(beginning, below, fc.constantFrom("", "?", "?x=1", "?/@ada/dev/apps/web/")).map((parts) => parts.join(""))

it("an app at another target is the one that its path names", () => {
  fc.assert(
    fc.property(target, target, (first, url) => {
      const app = parseAppPath(first, "/mount")
      if (app === undefined) return
      const found = KnownHead.keep(aRequest(new Socket(), head), "127.0.0.1", app)?.appAt(url)
      if (found !== undefined) expect(found).toStrictEqual(parseAppPath(url, "/mount"))
    })
  )
})

it("an app with a host of its own is found at each target", () => {
  const hosts = appHosts("*.apps.test", "https://atelier.test")
  const of = (url: string) => hosts("web--main--dev--ada.apps.test", url)
  const app = of("/")
  if (app === undefined || app === noApp) throw new Error("the host names no app")
  const known = KnownHead.keep(aRequest(new Socket(), head), "127.0.0.1", app)
  for (const url of ["/", "/a?b=/c", "/@ada/dev/apps/web/", "//?"]) expect(known?.appAt(url)).toStrictEqual(of(url))
  expect(known?.appAt("http://web--main--dev--ada.apps.test/a")).toBeUndefined()
})
