import * as fc from "fast-check"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, it } from "vitest"
import { KnownHeads } from "../../../src/server/request/KnownHead.js"
import { type AppPath, appHosts, noApp, parseAppPath } from "../../../src/server/request/appPath.js"

/** Keeps the head of a request. */
const kept = (request: IncomingMessage, app: AppPath, heads = new KnownHeads()) => ({ heads, known: heads.keep(request, app) })

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
  const { heads, known } = kept(aRequest(socket, head), appIn("/@ada/dev/apps/web/"))
  expect(heads.of(aRequest(socket, head))).toBe(known)
  expect(heads.of(aRequest(new Socket(), head))).toBeUndefined()
  for (const other of [
    head.slice(2),
    [...head, "X", "y"],
    head.with(3, "a=c"),
    head.with(2, "cookie"),
    [...head.slice(2), ...head.slice(0, 2)]
  ])
    expect(heads.of(aRequest(socket, other))).toBeUndefined()
  const older = aRequest(socket, head)
  older.httpVersion = "1.0"
  expect(heads.of(older)).toBeUndefined()
})

it("a head is not known if the host has changed its headers", () => {
  const socket = new Socket()
  const first = aRequest(socket, head)
  const { heads, known } = kept(first, appIn("/@ada/dev/apps/web/"))
  first.headers["cookie"] = "c=d"
  first.rawHeaders[3] = "c=d"
  expect(heads.of(first)).toBeUndefined()
  for (const change of [{ cookie: "c=d" }, { cookie: undefined }, { authorization: "Bearer x" }]) {
    const next = aRequest(socket, head)
    Object.assign(next.headers, change)
    expect(heads.of(next)).toBeUndefined()
  }
  const without = aRequest(socket, head)
  delete without.headers["cookie"]
  expect(heads.of(without)).toBeUndefined()
  expect(heads.of(aRequest(socket, head))).toBe(known)
})

it("a head is known to the service alone that has read it", () => {
  const request = aRequest(new Socket(), head)
  kept(request, appIn("/@ada/dev/apps/web/"))
  expect(new KnownHeads().of(request)).toBeUndefined()
})

it("a head is not known on a connection that the host shares among clients", () => {
  const socket = new Socket()
  let address = "192.0.2.1"
  Object.defineProperty(socket, "remoteAddress", { get: () => address })
  const request = aRequest(socket, head)
  const { heads, known } = kept(request, appIn("/@ada/dev/apps/web/"))
  expect([known?.peer, heads.of(request)]).toStrictEqual(["192.0.2.1", known])
  address = "192.0.2.2"
  expect(heads.of(request)).toBeUndefined()
})

it("a head with a long target is not kept, which would hold it in memory", () => {
  const request = aRequest(new Socket(), head)
  request.url = `/@ada/dev/apps/web/?${"x".repeat(5_000)}`
  expect(kept(request, appIn(request.url)).known).toBeUndefined()
})

it("a long head is not kept", () => {
  const request = aRequest(new Socket(), [...head, "X", "x".repeat(5_000)])
  expect(kept(request, appIn("/@ada/dev/apps/web/")).known).toBeUndefined()
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
      const found = kept(aRequest(new Socket(), head), app).known?.appAt(url)
      if (found !== undefined) expect(found).toStrictEqual(parseAppPath(url, "/mount"))
    })
  )
})

it("an app with a host of its own is found at each target", () => {
  const hosts = appHosts("*.apps.test", "https://atelier.test")
  const of = (url: string) => hosts("web--main--dev--ada.apps.test", url)
  const app = of("/")
  if (app === undefined || app === noApp) throw new Error("the host names no app")
  const { known } = kept(aRequest(new Socket(), head), app)
  for (const url of ["/", "/a?b=/c", "/@ada/dev/apps/web/", "//?"]) expect(known?.appAt(url)).toStrictEqual(of(url))
  expect(known?.appAt("http://web--main--dev--ada.apps.test/a")).toBeUndefined()
})
