/** How the web console is served. The application has tests of its own in `packages/console`; here is a site of a few lines. */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { afterAll, expect, it } from "vitest"
import { exchange } from "../../../../test/http/request.js"
import { describeInterface, type TestServer } from "../../../../test/http/server.js"

const script = `console.log("${"hello ".repeat(200)}")`
const folder = mkdtempSync(join(tmpdir(), "atelier-console-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hash = (content: string): string => createHash("sha256").update(content).digest("base64url")
const picture = "<svg/>"
mkdirSync(join(folder, "assets"))
writeFileSync(join(folder, "assets/app-1.js"), script)
writeFileSync(join(folder, "assets/app-1.js.br"), brotliCompressSync(script))
writeFileSync(join(folder, "assets/app-1.js.gz"), gzipSync(script))
writeFileSync(join(folder, "mark.svg"), picture)
writeFileSync(join(folder, "unlisted.txt"), "not in the list")
writeFileSync(
  join(folder, "index.html"),
  `<!doctype html><html lang="en"><head><meta name="atelier-console" content="__ATELIER_CONSOLE__"><title>__ATELIER_NAME__</title>
<link rel="icon" href="./mark.svg"><script type="module" src="./assets/app-1.js"></script></head><body></body></html>`
)
writeFileSync(
  join(folder, "files.json"),
  JSON.stringify({
    routes: ["/", "/workspaces", "/templates/$organization/$template", "/@{$owner}/$workspace", "/settings/$"],
    files: [
      { path: "assets/app-1.js", type: "text/javascript; charset=utf-8", hash: hash(script), encodings: ["br", "gzip"], immutable: true },
      { path: "mark.svg", type: "image/svg+xml", hash: hash(picture), encodings: [], immutable: false }
    ]
  })
)

const html = { accept: "text/html,application/xhtml+xml" }

type Get = (path: string, headers?: Readonly<Record<string, string>>, method?: string) => ReturnType<typeof exchange>

const getOf =
  (server: () => TestServer): Get =>
  (path, headers = {}, method = "GET") =>
    exchange(`${server().url}${path}`, { method, headers })

/** A browser of the first user, as far as its headers go. */
const ofOwner = (server: () => TestServer) => ({ ...html, cookie: `service_session_token=${server().owner().token}` })

const settingsIn = (page: string): Record<string, unknown> =>
  JSON.parse(
    (/content="([^"]*)"/.exec(page)?.[1] ?? "")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
  )

const answered = ({ headers, status }: Awaited<ReturnType<Get>>) => [status, headers.get("location")]

describeInterface(
  "the console",
  (server) => {
    const get = getOf(server)

    it("is shown at each of its addresses to a user who is signed in", async () => {
      for (const path of ["/", "/workspaces", "/workspaces?filter=x", "/templates/a/b", "/@ada/dev", "/settings/tokens/new"]) {
        const { headers, status, text } = await get(path, ofOwner(server))
        expect([path, status, headers.get("content-type")]).toStrictEqual([path, 200, "text/html; charset=utf-8"])
        expect(text).toContain('src="/assets/app-1.js"')
        expect(headers.get("cache-control")).toBe("private, no-cache")
      }
      expect((await get("/templates/a", ofOwner(server))).status).toBe(404)
    })

    it("shows its own page for an unknown address, with the status of one", async () => {
      const lost = await get("/no/such/page", ofOwner(server))
      expect([lost.status, lost.text.includes('src="/assets/app-1.js"')]).toStrictEqual([404, true])
    })

    it("leaves programs and the addresses of the interface their JSON", async () => {
      for (const [path, headers] of [
        ["/workspaces", {}],
        ["/no/such/page", { accept: "application/json" }],
        ["/", { accept: "*/*" }],
        ["/api/v2/nothing", ofOwner(server)],
        ["/oauth2/nothing", ofOwner(server)],
        ["/assets/none.js", ofOwner(server)]
      ] as const) {
        const { status, text } = await get(path, headers)
        const isPage = path.startsWith("/assets")
        expect([path, status, text.startsWith("{")]).toStrictEqual([path, 404, !isPage])
      }
    })

    it("sends a browser that is not signed in to the login and back", async () => {
      expect(answered(await get("/", html))).toStrictEqual([303, "/login"])
      expect(answered(await get("/@ada/dev?tab=logs", html))).toStrictEqual([303, "/login?redirect=%2F%40ada%2Fdev%3Ftab%3Dlogs"])
      const stale = { ...html, cookie: "service_session_token=abcdefghij-0123456789012345678901" }
      expect(answered(await get("/workspaces", stale))).toStrictEqual([303, "/login?redirect=%2Fworkspaces"])
      const lost = await get("/no/such/page", html)
      expect([lost.status, lost.text.includes("Page not found")]).toStrictEqual([404, true])
    })

    it("loses to the pages that the server makes", async () => {
      for (const path of ["/login?prompt=login", "/cli-auth", "/logout", "/reset-password"]) {
        const { text } = await get(path, ofOwner(server))
        expect(text).not.toContain("app-1.js")
      }
    })

    it("tells the application what it is part of", async () => {
      const { text } = await get("/", { ...ofOwner(server), host: "atelier.test" })
      const { csrf, version, ...told } = settingsIn(text)
      expect(told).toStrictEqual({
        base: "/",
        api: "",
        brand: { name: 'A "house" <of> work', wire: "Service", logo: "/mark.png", accent: { light: "#006644", dark: "#55ddaa" } },
        documentation: "",
        login: "/login",
        logout: "/logout",
        navigation: [{ label: "Back to the house", address: "/house", icon: "" }]
      })
      expect([typeof csrf, typeof version]).toStrictEqual(["string", "string"])
      expect(text).toContain("<title>A &quot;house&quot; &lt;of&gt; work</title>")
    })

    it("gives a token with which the browser's calls count as its own", async () => {
      const first = await get("/", ofOwner(server))
      const cookie = (first.headers.getSetCookie().find((line) => line.startsWith("csrf_token=")) ?? "").split(";")[0]
      const { csrf } = settingsIn(first.text)
      const change = async (token: unknown) =>
        (
          await exchange(`${server().url}/api/v2/users/me/keys`, {
            method: "POST",
            headers: { cookie: `${ofOwner(server).cookie}; ${cookie}`, "x-csrf-token": String(token) }
          })
        ).status
      expect([await change("none"), await change(csrf)]).toStrictEqual([400, 201])
    })

    it("answers 304 to a browser whose copy is right, and not after its token is another", async () => {
      const cookie = "csrf_token=MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
      const headers = { ...ofOwner(server), cookie: `${ofOwner(server).cookie}; ${cookie}` }
      const { headers: first } = await get("/workspaces", headers)
      const etag = first.get("etag") ?? ""
      const again = await get("/", { ...headers, "if-none-match": etag })
      // A browser would take a new policy for its copy, which has the former nonce
      expect([again.status, again.text, again.headers.get("content-security-policy")]).toStrictEqual([304, "", null])
      expect((await get("/", { ...ofOwner(server), "if-none-match": etag })).status).toBe(200)
      expect((await get("/no/such/page", { ...headers, "if-none-match": etag })).status).toBe(404)
      expect(answered(await get("/", { ...html, "if-none-match": etag }))).toStrictEqual([303, "/login"])
    })

    it("runs no script of a page, and is framed by none", async () => {
      const { headers, text } = await get("/", ofOwner(server))
      const policy = headers.get("content-security-policy") ?? ""
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? ""
      expect(policy.split("; ")).toStrictEqual([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self' ws://atelier.test",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'"
      ])
      expect(text).toContain(`nonce="${nonce}"`)
      expect((await get("/", ofOwner(server))).headers.get("content-security-policy")).not.toBe(policy)
    })

    it("answers HEAD as GET, without a body", async () => {
      for (const path of ["/workspaces", "/assets/app-1.js"]) {
        const headers = { ...ofOwner(server), "accept-encoding": "identity" }
        const [got, head] = [await get(path, headers), await get(path, headers, "HEAD")]
        const ofBody = ({ headers }: typeof got) => ["content-type", "content-length"].map((name) => headers.get(name))
        expect([head.status, head.text, ofBody(head)]).toStrictEqual([200, "", ofBody(got)])
      }
    })
  },
  {
    console: { folder, navigation: [{ label: "Back to the house", address: "/house" }] },
    appearance: { name: 'A "house" <of> work', logo: "/mark.png", accent: { light: "#006644", dark: "#55ddaa" } }
  }
)

describeInterface(
  "the console's files",
  (server) => {
    const get = getOf(server)

    it("are sent in a coding that the client takes, with the time to cache them", async () => {
      for (const [accepted, coding] of [
        ["gzip, deflate, br", "br"],
        ["gzip", "gzip"],
        ["br;q=0, gzip", "gzip"],
        ["identity", null]
      ] as const) {
        const { headers, status, text } = await get("/assets/app-1.js", { "accept-encoding": accepted })
        expect([accepted, status, headers.get("content-encoding")]).toStrictEqual([accepted, 200, coding])
        if (coding === null) expect(text).toBe(script)
        expect([headers.get("cache-control"), headers.get("vary")]).toStrictEqual([
          "public, max-age=31536000, immutable",
          "Accept-Encoding"
        ])
        expect(headers.get("x-content-type-options")).toBe("nosniff")
      }
      const { headers, text } = await get("/mark.svg")
      expect([text, headers.get("cache-control"), headers.get("content-type")]).toStrictEqual([
        picture,
        "public, no-cache",
        "image/svg+xml"
      ])
    })

    it("are not sent again to a client that has them", async () => {
      const etags = await Promise.all(
        ["br", "gzip", ""].map(
          async (accepted) => (await get("/assets/app-1.js", { "accept-encoding": accepted })).headers.get("etag") ?? ""
        )
      )
      expect(new Set(etags).size).toBe(3)
      const again = await get("/assets/app-1.js", { "accept-encoding": "br", "if-none-match": `"x", W/${etags[0]}` })
      expect([again.status, again.text]).toStrictEqual([304, ""])
    })

    it("need no session, set no cookie and ask no database", async () => {
      const { headers, status } = await get("/assets/app-1.js", { cookie: "service_session_token=abcdefghij-0123456789012345678901" })
      expect([status, headers.getSetCookie()]).toStrictEqual([200, []])
    })

    it("are those of the list alone", async () => {
      for (const path of [
        "/unlisted.txt",
        "/files.json",
        "/index.html",
        "/assets/",
        "/assets/app-1.js.br",
        "/assets/../files.json",
        "/assets/%2e%2e/files.json",
        "/assets/..%2ffiles.json",
        "/assets/..%5cfiles.json",
        "/..%2f..%2fetc/passwd",
        "/assets/app-1.js%00",
        "/__proto__",
        "/constructor"
      ])
        expect([path, (await get(path)).status]).toStrictEqual([path, 404])
      expect((await get("/assets/app-1.js", {}, "POST")).status).toBe(404)
    })
  },
  { console: { folder } }
)

describeInterface(
  "a console below a path of a mount",
  (server) => {
    const get = getOf(server)

    it("has its addresses and files there, and leads to them from others", async () => {
      const { status, text } = await get("/dev/desk/workspaces", ofOwner(server))
      expect([status, text.includes('src="/dev/desk/assets/app-1.js"')]).toStrictEqual([200, true])
      expect(settingsIn(text)).toMatchObject({ base: "/dev/desk/", api: "/dev", login: "/dev/login", logout: "/dev/logout" })
      expect((await get("/dev/desk/assets/app-1.js")).status).toBe(200)
      expect((await get("/desk/workspaces", ofOwner(server))).status).toBe(200)
      expect(answered(await get("/dev/", ofOwner(server)))).toStrictEqual([303, "/dev/desk/"])
      expect(answered(await get("/dev/@ada/dev", ofOwner(server)))).toStrictEqual([303, "/dev/desk/@ada/dev"])
      expect(answered(await get("/dev/desk/workspaces", html))).toStrictEqual([303, "/dev/login?redirect=%2Fdev%2Fdesk%2Fworkspaces"])
      expect((await get("/dev/assets/app-1.js", html)).status).toBe(404)
    })

    it("has the operator's sources in its policy", async () => {
      const { headers } = await get("/dev/desk/workspaces", ofOwner(server))
      const policy = headers.get("content-security-policy")?.split("; ")
      expect(policy).toContain("frame-ancestors https://portal.test")
      expect(policy).toContain("connect-src 'self' ws://atelier.test https://b.test")
    })

    it("leaves the host all other paths", async () => {
      const host = createServer((request, response) => server().atelier.handler(request, response, () => response.end("the host's own")))
      await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve))
      const { port } = host.address() as AddressInfo
      const textOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`, { headers: ofOwner(server) })).text()
      for (const path of ["/workspaces", "/desk", "/desk/workspaces", "/dev/no/such/page", "/dev/assets/app-1.js"])
        expect([path, await textOf(path)]).toStrictEqual([path, "the host's own"])
      // Messages link to the mount, wherever the console is
      for (const path of ["workspaces", "@ada/dev"]) {
        const { headers, status } = await fetch(`http://127.0.0.1:${port}/dev/${path}`, { headers: ofOwner(server), redirect: "manual" })
        expect([status, headers.get("location")]).toStrictEqual([303, `/dev/desk/${path}`])
      }
      for (const path of ["/dev/desk", "/dev/desk/workspaces", "/dev/desk/no/such/page"])
        expect([path, (await textOf(path)).includes("app-1.js")]).toStrictEqual([path, true])
      await new Promise((resolve) => host.close(resolve))
    })
  },
  {
    accessUrl: "http://atelier.test/dev",
    console: { folder, path: "/desk" },
    options: { additionalCspPolicy: ["frame-ancestors https://portal.test", "connect-src https://b.test"] }
  }
)

describeInterface(
  "a service without a console",
  (server) => {
    const get = getOf(server)

    it("has a page at its root that leads on, and no file of the console", async () => {
      const { status, text } = await get("/", ofOwner(server))
      expect([status, text.includes("Signed in as owner."), text.includes("/cli-auth")]).toStrictEqual([200, true, true])
      expect((await get("/workspaces", ofOwner(server))).status).toBe(404)
      expect((await get("/assets/app-1.js")).status).toBe(404)
    })
  },
  { console: false }
)

describeInterface(
  "a host with users of its own",
  (server) => {
    const get = getOf(server)

    it("names the console's user, and signs it in by itself", async () => {
      const { status, text } = await get("/workspaces", { ...html, "x-user": "ada" })
      expect([status, settingsIn(text)["login"], settingsIn(text)["logout"]]).toStrictEqual([200, null, null])
      const refused = await get("/workspaces", html)
      expect([refused.status, refused.text.includes("Not signed in")]).toStrictEqual([401, true])
      expect((await get("/icon/terminal.svg")).status).toBe(200)
      expect((await get("/login", html)).text).not.toContain("Sign in to")
    })
  },
  {
    console: { folder },
    authenticate: async ({ headers }) => {
      const name = headers.get("x-user")
      return name === null ? null : { subject: name, email: `${name}@example.com`, email_verified: true, username: name }
    }
  }
)
