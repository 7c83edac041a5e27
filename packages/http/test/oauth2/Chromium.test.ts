/** The pages in a real browser: set up, sign in, consent and denial. */
import { Mailer } from "@atelier/core/notifications"
import { Effect, Layer } from "effect"
import type { Browser, Page } from "playwright-core"
import * as openid from "openid-client"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aWindow, chromiumPath, expectAccessible, startChromium } from "../../../../test/outside/chromium.js"
import { sqlite } from "../../../../test/store/databases.js"
import { anAccount, clientId, clientSecret, type OidcServer, startOidc } from "../../../../test/outside/oidc.js"
import { ownerPassword, startServer, type TestServer } from "../../../../test/http/server.js"

const elsewhere = "https://client.example"
/** The host of an app: of the same site as the service, so that browsers send it the session and let it set cookies for both. */
const appHost = "http://app.atelier.test"
const email = "owner@example.com"

/** Pages are the same below a prefix: their looks are examined once. */
const noExamination = () => Promise.resolve()

const mailer = Layer.succeed(Mailer, { isConfigured: true, send: () => Effect.void })

describe.skipIf(chromiumPath === undefined).each([
  ["at the root", "http://atelier.test", expectAccessible],
  ["below a prefix", "http://atelier.test/dev", noExamination]
])("a person with a browser, %s", (_, base, expectAccessible) => {
  let oidc: OidcServer | undefined
  let server: TestServer | undefined
  let browser: Browser | undefined
  let window: Awaited<ReturnType<typeof aWindow>> | undefined
  beforeAll(async () => {
    oidc = await startOidc({ redirectUris: [`${base}/api/v2/users/oidc/callback`] })
    oidc.accounts.set("ada", anAccount({ email: "ada@example.com", email_verified: true, preferred_username: "ada" }))
    server = await startServer(sqlite, {
      accessUrl: base,
      console: false,
      empty: true,
      mailer,
      options: { oidcClientId: clientId, oidcClientSecret: clientSecret, oidcIssuerUrl: oidc.issuer }
    })
    browser = await startChromium({ "atelier.test": new URL(server.url).host })
    window = await aWindow(browser, elsewhere)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await oidc?.close()
  })

  /** The window as a new one is: the pages keep nothing but cookies in it. */
  const open = async (): Promise<Page> => {
    if (window === undefined) throw new Error("the browser has not started")
    await window.context.clearCookies()
    await window.page.setExtraHTTPHeaders({})
    await window.page.goto("about:blank")
    return window.page
  }

  /** What a person types and presses; fields are found by their labels, as a screen reader names them. */
  const fill = async (page: Page, fields: Readonly<Record<string, string>>, button: string) => {
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
    await page.getByRole("button", { name: button, exact: true }).click()
  }

  const credentials = { "Email address": email, Password: ownerPassword }

  const signIn = async (page: Page) => {
    await page.goto(`${base}/login`)
    await fill(page, credentials, "Sign in")
    await page.waitForURL(`${base}/`)
  }

  /** A client that registers itself, and the address that it sends the browser to. */
  const aRequest = async () => {
    const config = await openid.dynamicClientRegistration(
      new URL(base),
      { redirect_uris: [`${elsewhere}/callback`], client_name: "A program" },
      undefined,
      {
        algorithm: "oauth2",
        execute: [openid.allowInsecureRequests],
        [openid.customFetch]: (address, init) => {
          const { pathname, search } = new URL(address)
          return fetch(`${server?.url}${pathname}${search}`, init as RequestInit)
        }
      }
    )
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()]
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: `${elsewhere}/callback`,
      scope: "workspace:read user:read",
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256"
    })
    const redeem = (back: string) => openid.authorizationCodeGrant(config, new URL(back), { pkceCodeVerifier, expectedState })
    return { url: url.href, redeem }
  }

  it("sets the deployment up by keyboard alone, and is told what is wrong", async () => {
    const page = await open()
    await page.goto(`${base}/`)
    await page.waitForURL(`${base}/setup`)
    await expectAccessible(page)
    // The first field has the focus
    for (const value of [email, "owner", "", "weak"]) {
      await page.keyboard.type(value)
      await page.keyboard.press("Tab")
    }
    await page.keyboard.press("Enter")
    // The fault stands below its field, which has the focus
    await page.locator("input:focus[aria-invalid=true]").waitFor()
    expect(await page.locator("input:focus").getAttribute("aria-describedby")).toBe("password-fault")
    await expectAccessible(page)
    expect(await page.getByLabel("Username", { exact: true }).inputValue()).toBe("owner")
    await fill(page, { Password: ownerPassword }, "Create user")
    await page.waitForURL(`${base}/`)
    expect(await page.textContent("main")).toContain("Signed in as owner.")
    await expectAccessible(page)
  })

  it("is told that a password is wrong, signs in, and signs out", async () => {
    const page = await open()
    await page.goto(`${base}/login`)
    await expectAccessible(page)
    await fill(page, { ...credentials, Password: "wrong" }, "Sign in")
    await page.getByRole("alert").waitFor()
    await expectAccessible(page)
    expect(await page.getByLabel("Email address", { exact: true }).inputValue()).toBe(email)
    await fill(page, { Password: ownerPassword }, "Sign in")
    await page.waitForURL(`${base}/`)
    await page.getByRole("link", { name: "Sign out" }).click()
    await expectAccessible(page)
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByRole("heading", { name: "You are signed out" }).waitFor()
    await expectAccessible(page)
    await page.goto(`${base}/`)
    expect(page.url()).toBe(`${base}/login`)
  })

  it("returns to the requested page after a login at a provider", async () => {
    const page = await open()
    await page.setExtraHTTPHeaders({ "x-account": "ada" })
    await page.goto(`${base}/cli-auth?from=a-program`)
    await page.getByRole("link", { name: /^Sign in with/ }).click()
    await page.waitForURL(`${base}/cli-auth*`)
    await expectAccessible(page)
    await page.getByRole("button", { name: "Create token" }).click()
    const token = await page.getByLabel("Session token").inputValue()
    await expectAccessible(page)
    const me = await server?.call("GET", "/users/me", { token })
    expect(me?.body).toMatchObject({ username: "ada" })
  })

  it("signs in for an app, consents, and the app acts for the user", async () => {
    const page = await open()
    const { redeem, url } = await aRequest()
    await page.goto(url)
    await fill(page, credentials, "Sign in")
    await page.getByRole("heading", { name: "Allow A program?" }).waitFor()
    await expectAccessible(page)
    expect(await page.textContent("main")).toContain("client.example")
    await page.getByRole("button", { name: "Allow", exact: true }).click()
    await page.waitForURL(`${elsewhere}/callback?*`)
    const { access_token } = await redeem(page.url())
    const me = await server?.call("GET", "/users/me", { headers: { authorization: `Bearer ${access_token}` } })
    expect(me?.body).toMatchObject({ username: "owner" })
  })

  it("denies an app's request", async () => {
    const page = await open()
    await signIn(page)
    await page.goto((await aRequest()).url)
    await page.getByRole("link", { name: "Cancel", exact: true }).click()
    await page.waitForURL(`${elsewhere}/callback?*`)
    const { searchParams } = new URL(page.url())
    expect([searchParams.get("error"), searchParams.has("code"), searchParams.get("iss")]).toStrictEqual(["access_denied", false, base])
  })

  it("is not made to consent by a page at the host of an app", async () => {
    const page = await open()
    await signIn(page)
    const { url } = await aRequest()
    const forged = Buffer.alloc(32, 7).toString("base64")
    // The page names no origin, and the browser has the token of its choice
    const content = `<meta name="referrer" content="no-referrer">
<form method="POST" action="${url.replaceAll("&", "&amp;")}"><input type="hidden" name="csrf_token" value="${forged}"></form>
<script>
document.cookie = "csrf_token=${forged}; Domain=atelier.test; Path=${new URL(url).pathname}"
document.forms[0].submit()
</script>`
    await page.route(`${appHost}/**`, (route) => route.fulfill({ contentType: "text/html", body: content }))
    const answered = page.waitForResponse((response) => response.request().method() === "POST")
    await page.goto(`${appHost}/`)
    const { headers, status } = await (async () => {
      const response = await answered
      return { status: response.status(), headers: await response.request().allHeaders() }
    })()
    await page.unroute(`${appHost}/**`)
    expect([status, headers["origin"], headers["cookie"]?.startsWith(`csrf_token=${forged}; `)]).toStrictEqual([400, "null", true])
  })

  it("is told why an app's request is not valid", async () => {
    const page = await open()
    await signIn(page)
    const url = new URL((await aRequest()).url)
    url.searchParams.set("redirect_uri", "https://evil.example/callback")
    await page.goto(url.href)
    await page.getByRole("alert").waitFor()
    await expectAccessible(page)
    expect(page.url().startsWith(base)).toBe(true)
  })

  it("asks for a code to reset a password", async () => {
    const page = await open()
    await page.goto(`${base}/login`)
    await page.getByRole("link", { name: "Forgotten your password?" }).click()
    await expectAccessible(page)
    await fill(page, { "Email address": email }, "Send code")
    await page.getByRole("status").waitFor()
    await expectAccessible(page)
    await fill(page, { "Code from the message": "wrong", "New password": "AnotherSecurePassword!" }, "Change password")
    await page.getByRole("alert").waitFor()
  })
})
