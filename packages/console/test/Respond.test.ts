/** The console on any server that speaks the Fetch API. */
import { describe, expect, it } from "vitest"
import { type ConsoleSettings, isRoute, respond, type Site } from "../src/index.js"

const settings: ConsoleSettings = {
  base: "/desk/",
  api: "https://dev.example.com",
  csrf: "token",
  brand: { name: "A & B", wire: "Service", logo: "", accent: null },
  documentation: "",
  login: null,
  logout: null,
  version: "v1",
  navigation: []
}

const site: Site = {
  files: [{ path: "assets/app-1.js", type: "text/javascript", hash: "abc", encodings: ["br"], immutable: true }],
  routes: ["/", "/workspaces", "/@{$owner}/$workspace", "/builds/{-$number}", "/files/$"]
}

const index = `<title>__ATELIER_NAME__</title><link rel="stylesheet" href="./a.css"><script src="./assets/app-1.js"></script><a href="//x"></a>`

const contents: Readonly<Record<string, string>> = { "index.html": index, "assets/app-1.js": "plain", "assets/app-1.js.br": "coded" }

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  respond(new Request(`http://host.example${path}`, { method, headers }), {
    site,
    settings,
    read: (path) => Promise.resolve(new TextEncoder().encode(contents[path] ?? ""))
  })

describe("a request for the console", () => {
  it("gets a file in the coding that it takes", async () => {
    const [plain, coded] = [await ask("/desk/assets/app-1.js"), await ask("/desk/assets/app-1.js", { "accept-encoding": "br" })]
    expect([await plain?.text(), plain?.headers.get("content-encoding")]).toStrictEqual(["plain", null])
    expect([await coded?.text(), coded?.headers.get("content-encoding")]).toStrictEqual(["coded", "br"])
    const again = await ask("/desk/assets/app-1.js", { "if-none-match": plain?.headers.get("etag") ?? "" })
    expect([again?.status, await again?.text()]).toStrictEqual([304, ""])
  })

  it("gets the page with the addresses of its base and one nonce", async () => {
    const page = await ask("/desk/workspaces", { accept: "text/html" })
    const nonce = /'nonce-([^']+)'/.exec(page?.headers.get("content-security-policy") ?? "")?.[1]
    expect(await page?.text()).toBe(
      `<title>A &amp; B</title><link rel="stylesheet" href="/desk/a.css" nonce="${nonce}"><script src="/desk/assets/app-1.js" nonce="${nonce}"></script><a href="//x"></a>`
    )
    expect((await ask("/desk/none", { accept: "text/html" }))?.status).toBe(404)
  })

  it("is left to the host where it is not the console's", async () => {
    expect(await ask("/elsewhere", { accept: "text/html" })).toBeUndefined()
    expect(await ask("/desk/workspaces")).toBeUndefined()
    expect(await ask("/desk/workspaces", { accept: "text/html" }, "POST")).toBeUndefined()
  })
})

describe("a route", () => {
  it.each([
    ["/", true],
    ["/workspaces", true],
    ["/workspaces/", true],
    ["/workspaces/a", false],
    ["/@ada/dev", true],
    ["/ada/dev", false],
    ["/@ada/", false],
    ["/builds", true],
    ["/builds/4", true],
    ["/builds/4/5", false],
    ["/files", true],
    ["/files/a/b", true],
    ["/filesystem", false]
  ])("at %s: %s", (path, is) => {
    expect(isRoute(site, path)).toBe(is)
  })
})
