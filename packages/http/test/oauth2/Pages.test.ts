import { Mailer } from "@atelier/core/notifications"
import { Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aBrowser, type Browser, type Page } from "../../../../test/outside/browser.js"
import { oneDatabase } from "../../../../test/store/databases.js"
import { describeInterface, ownerPassword, startServer, type TestServer } from "../../../../test/http/server.js"
import { aClient, aVerifier, authorizePath, authorizeQuery, callback, refusal } from "./OAuthClient.js"

const site = "http://atelier.test"
const html = { accept: "text/html" }

const browserOf = ({ url }: TestServer): Browser => aBrowser({ [site]: url }, html)

/** The fields of a page's form, as a browser sends them. */
const fieldsOf = ({ text }: Page): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input [^>]*name="([^"]+)"[^>]*>/g)].map(([tag, name]) => [
      name,
      (/ value="([^"]*)"/.exec(tag)?.[1] ?? "").replaceAll("&amp;", "&")
    ])
  )

/** Fills in a page's form and sends it. */
const submit = (browser: Browser, page: Page, filled: Record<string, string> = {}): Promise<Page> => {
  const action = (/<form method="POST"(?: action="([^"]*)")?/.exec(page.text)?.[1] ?? page.url).replaceAll("&amp;", "&")
  return browser.visit(new URL(action, page.url).href, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", origin: new URL(page.url).origin },
    body: new URLSearchParams({ ...fieldsOf(page), ...filled })
  })
}

const owner = { email: "owner@example.com", password: ownerPassword }

const signedIn = async (server: TestServer): Promise<Browser> => {
  const browser = browserOf(server)
  const answer = await submit(browser, await browser.visit(`${site}/login`), owner)
  expect([answer.status, answer.location]).toStrictEqual([303, `${site}/`])
  return browser
}

describe.each(oneDatabase)("a new deployment on %s", (_, storage) => {
  let running: TestServer | undefined
  beforeAll(async () => {
    running = await startServer(storage, { empty: true })
  })
  afterAll(() => running?.close())

  it("is set up in a browser, once", async () => {
    if (running === undefined) throw new Error("the server has not started")
    const browser = browserOf(running)
    expect((await browser.visit(`${site}/login`)).location).toBe(`${site}/setup`)
    const page = await browser.visit(`${site}/setup`)
    const weak = await submit(browser, page, { ...owner, username: "owner", password: "weak" })
    expect(weak.status).toBe(400)
    // At its field, which has the focus, and in the words of the page
    expect(weak.text).toMatch(
      /<input id="password"[^>]* aria-invalid="true" aria-describedby="password-fault" autofocus>\n<p class="fault"/
    )
    expect(weak.text).toMatch(/<p class="fault" id="password-fault">[A-Z]/)
    expect(weak.text).not.toContain('role="alert"')
    expect(weak.text).not.toContain('weak"')
    const done = await submit(browser, page, { ...owner, username: "owner" })
    expect([done.status, done.location, browser.jar(site).has("service_session_token")]).toStrictEqual([303, `${site}/`, true])
    expect((await browser.visit(`${site}/setup`)).location).toBe(`${site}/login`)
    expect((await submit(browser, page, { ...owner, username: "other" })).status).toBe(409)
  })
})

describeInterface(
  "the pages",
  (server) => {
    it("sign a user in and out", async () => {
      const browser = await signedIn(server())
      const home = await browser.visit(`${site}/`)
      expect([home.status, home.text.includes("Signed in as owner.")]).toStrictEqual([200, true])
      const page = await browser.visit(`${site}/logout`)
      expect(page.text).toContain(`<a href="/">Back to the service</a>`)
      const out = await submit(browser, page)
      expect([out.status, out.text.includes("You are signed out"), browser.jar(site).has("service_session_token")]).toStrictEqual([
        200,
        true,
        false
      ])
      expect((await browser.visit(`${site}/`)).location).toBe(`${site}/login`)
    })

    it("say that a password is wrong, and keep the address", async () => {
      const browser = browserOf(server())
      const answer = await submit(browser, await browser.visit(`${site}/login`), { ...owner, password: "wrong" })
      expect([answer.status, fieldsOf(answer)["email"], fieldsOf(answer)["password"]]).toStrictEqual([401, owner.email, ""])
      expect(answer.text).toContain('role="alert"')
      expect(browser.jar(site).has("service_session_token")).toBe(false)
    })

    it("refuse a form that another page made the browser send", async () => {
      const browser = browserOf(server())
      const page = await browser.visit(`${site}/login`)
      const form = { ...fieldsOf(page), ...owner }
      const send = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
        browser.visit(`${site}/login`, {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
          body: new URLSearchParams(fields)
        })
      const answers = [await send({ ...form, csrf_token: "" }), await send(form, { origin: "https://evil.example" })]
      expect(answers.map(({ status }) => status)).toStrictEqual([400, 400])
      expect(browser.jar(site).has("service_session_token")).toBe(false)
      expect((await send(form)).status).toBe(303)
    })

    it.each([
      ["/cli-auth?x=1", `${site}/cli-auth?x=1`],
      ["//evil.example/a", `${site}/a`],
      ["https://evil.example/a", `${site}/a`],
      ["\\\\evil.example", `${site}/`],
      ["javascript:alert(1)", `${site}/`]
    ])("go on from the login to %s within the service", async (redirect, location) => {
      const browser = browserOf(server())
      const page = await browser.visit(`${site}/login?${new URLSearchParams({ redirect })}`)
      const answer = await submit(browser, page, owner)
      expect(new URL(answer.location ?? "").origin).toBe(site)
      if (location.endsWith("x=1")) expect(answer.location).toBe(location)
    })

    it("lead from an app's request through the login to consent and back to the app", async () => {
      const client = await aClient(server())
      const { challenge } = aVerifier()
      const browser = browserOf(server())
      const asked = await browser.visit(`${site}${authorizePath(authorizeQuery(client, challenge)).slice(1)}`)
      const login = await browser.visit(asked.location ?? "")
      expect([asked.status, login.status]).toStrictEqual([303, 200])
      const back = await submit(browser, login, owner)
      const consent = await browser.visit(back.location ?? "")
      expect([consent.status, consent.text.includes("editor")]).toStrictEqual([200, true])
      const done = await submit(browser, consent)
      const to = new URL(done.location ?? "")
      expect([done.status, to.origin, to.searchParams.get("code") === null]).toStrictEqual([302, "https://client.example", false])
    })

    it("show an app's icon for consent if the service or the address itself holds it", async () => {
      const client = await aClient(server())
      const browser = await signedIn(server())
      const pictureAt = async (icon: string) => {
        const body = { name: "editor", callback_url: callback, icon }
        await server().call("PUT", `/oauth2-provider/apps/${client.client_id}`, { token: server().owner().token, body })
        const path = authorizePath(authorizeQuery(client, aVerifier().challenge)).slice(1)
        return /<img class="icon" src="([^"]*)"/.exec((await browser.visit(`${site}${path}`)).text)?.[1]
      }
      expect(await pictureAt("/icon/code.svg")).toBe("/icon/code.svg")
      for (const icon of [
        "javascript:alert(1)",
        "https://elsewhere.example/a.png",
        "//elsewhere.example/a.png",
        "/@owner/web/apps/tool/"
      ]) {
        expect(await pictureAt(icon)).toBeUndefined()
      }
    })

    it("show a new token to a program's user", async () => {
      const browser = await signedIn(server())
      const page = await browser.visit(`${site}/cli-auth`)
      expect(page.text).not.toContain("<textarea")
      const shown = await submit(browser, page)
      const token = /readonly>([^<]+)</.exec(shown.text)?.[1] ?? ""
      expect((await server().call("GET", "/users/me", { token })).body).toMatchObject({ username: "owner" })
      expect((await browserOf(server()).visit(`${site}/cli-auth`)).location).toBe(`${site}/login?redirect=%2Fcli-auth`)
    })

    it("ask for a code to reset a password, for any address", async () => {
      const browser = browserOf(server())
      const page = await submit(browser, await browser.visit(`${site}/reset-password`), { email: "nobody@example.com" })
      expect([page.status, fieldsOf(page)["email"]]).toStrictEqual([200, "nobody@example.com"])
      const refused = await submit(browser, page, { otp: "wrong", password: "AnotherSecurePassword!" })
      expect([refused.status, refused.text.includes('role="alert"')]).toStrictEqual([400, true])
      const linked = await browser.visit(`${site}/reset-password/change?otp=a%22b&email=a@example.com`)
      expect(linked.text).toContain('value="a&quot;b"')
    })

    it("run no script, load nothing from elsewhere and are framed by none", async () => {
      const browser = await signedIn(server())
      const pages = await Promise.all(["/", "/logout", "/cli-auth", "/reset-password"].map((path) => browser.visit(`${site}${path}`)))
      pages.push(await browserOf(server()).visit(`${site}/login?message=%3Cb%3Ehello`))
      for (const { headers, text } of pages) {
        const style = /<style>([^<]*)<\/style>/.exec(text)?.[1] ?? ""
        const policy = headers.get("content-security-policy") ?? ""
        expect(policy).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`)
        expect(policy).toContain("default-src 'none'")
        expect(policy).toContain("frame-ancestors 'none'")
        expect(policy).not.toContain("unsafe-inline")
        expect(text).not.toMatch(/<script|<b>hello| style=| on[a-z]+=/)
        expect(headers.get("cache-control")).toBe("no-store")
      }
    })

    it("show the deployment's name and logo, and load the logo alone", async () => {
      const { token } = server().owner()
      const appearance = { application_name: "Example <Works>", logo_url: "https://img.example/logo.png", announcement_banners: [] }
      expect((await server().call("PUT", "/appearance", { token, body: appearance })).status).toBe(200)
      const { headers, text } = await browserOf(server()).visit(`${site}/login`)
      await server().call("PUT", "/appearance", { token, body: { ...appearance, application_name: "", logo_url: "" } })
      expect(text).toContain("Sign in to Example &lt;Works&gt;")
      expect(text).toContain('src="https://img.example/logo.png"')
      expect(headers.get("content-security-policy")).toContain("img-src 'self' data: https://img.example;")
    })

    it("leave programs their JSON at the root", async () => {
      const answer = await server().call("GET", "//")
      expect([answer.status, answer.body]).toStrictEqual([404, { message: "Route not found." }])
    })
  },
  { console: false, mailer: Layer.succeed(Mailer, { isConfigured: true, send: () => Effect.void }) }
)

describeInterface(
  "pages below a prefix",
  (server) => {
    it("leave the host its own pages of the same names", async () => {
      const host = createServer((request, response) => server().atelier.handler(request, response, () => response.end("the host's own")))
      await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve))
      const { port } = host.address() as AddressInfo
      const textOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`, { headers: html })).text()
      for (const path of ["/", "/login", "/setup", "/logout"]) expect(await textOf(path)).toBe("the host's own")
      expect(await textOf("/dev/login")).toContain("Sign in to")
      await new Promise((resolve) => host.close(resolve))
    })
  },
  { accessUrl: "http://atelier.test/dev" }
)

describe("a host", () => {
  describeInterface(
    "without the pages",
    (server) => {
      it("refuses a browser that is not signed in at the authorization endpoint", async () => {
        const client = await aClient(server())
        const { challenge } = aVerifier()
        const answer = await server().call("GET", authorizePath(authorizeQuery(client, challenge)))
        expect(refusal(answer)).toStrictEqual([401, "login_required"])
        expect((await server().call("GET", "//login")).status).toBe(404)
      })
    },
    { pages: false }
  )

  describeInterface(
    "with pages of its own",
    (server) => {
      it("is asked in place of the service", async () => {
        const browser = browserOf(server())
        const login = await browser.visit(`${site}/login?redirect=/x`)
        expect([login.status, login.location]).toStrictEqual([303, "https://host.example/sign-in?redirect=/x"])
        const setup = await browser.visit(`${site}/setup`)
        expect([setup.status, setup.text]).toStrictEqual([418, "GET /setup"])
        const client = await aClient(server())
        const { challenge } = aVerifier()
        const answer = await server().call("GET", authorizePath(authorizeQuery(client, challenge)))
        expect(answer.headers.get("location")).toMatch(/^https:\/\/host\.example\/sign-in\?message=/)
      })
    },
    {
      pages: {
        login: "https://host.example/sign-in",
        setup: ({ method, url }) => new Response(`${method} ${new URL(url).pathname}`, { status: 418 })
      }
    }
  )

  describeInterface(
    "with pages of its own for the consent and for requests that are not valid",
    (server) => {
      const session = () => ({ token: server().owner().token, headers: html })

      it("asks for the consent with what the service knows of the request", async () => {
        const client = await aClient(server())
        const { challenge } = aVerifier()
        const path = authorizePath(authorizeQuery(client, challenge, { scope: "workspace:read template:read" }))
        const asked = await server().call("GET", path, session())
        const details: unknown = JSON.parse(/<pre>(.*)<\/pre>/.exec(asked.text)?.[1] ?? "")
        expect(details).toMatchObject({
          app: { id: client.client_id, name: "editor" },
          username: "owner",
          scopes: ["workspace:read", "template:read"],
          permissions: ["See your workspaces", "See templates"],
          redirectUri: "https://client.example/callback"
        })
        const { csrfToken } = Schema.decodeUnknownSync(Schema.Struct({ csrfToken: Schema.String }))(details)
        const consent = await server().call("POST", path, {
          headers: {
            "content-type": "application/x-www-form-urlencoded",
            cookie: `service_session_token=${server().owner().token}; ${(asked.headers.get("set-cookie") ?? "").split(";")[0]}`
          },
          body: new URLSearchParams({ csrf_token: csrfToken }).toString()
        })
        expect([consent.status, new URL(consent.headers.get("location") ?? "").searchParams.has("code")]).toStrictEqual([302, true])
      })

      it("says why a request is not valid", async () => {
        const { headers, status } = await server().call("GET", "//oauth2/authorize?client_id=none", session())
        const to = new URL(headers.get("location") ?? "")
        expect([status, to.origin, to.searchParams.get("client_id"), to.searchParams.get("status")]).toStrictEqual([
          303,
          "https://host.example",
          "none",
          "401"
        ])
        expect(to.searchParams.get("message")).not.toBe("")
      })
    },
    {
      pages: {
        consent: (_, details) => new Response(`<pre>${JSON.stringify(details)}</pre>`, { headers: { "content-type": "text/html" } }),
        requestError: "https://host.example/wrong"
      }
    }
  )
})
