/** From the login to a screen and back to it: what the server and the application do together. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { exchange } from "../../../test/http/request.js"
import { ownerPassword } from "../../../test/http/server.js"
import { folder, listPath, parseSite } from "../src/index.js"
import { describeConsole, expectWellMade } from "./browser.js"
import type { Window } from "./windows.js"

describeConsole(
  "the console of a user",
  (console) => {
    const signIn = async ({ page }: Window): Promise<void> => {
      await page.getByLabel("Email address").fill("owner@example.com")
      await page.getByLabel("Password", { exact: true }).fill(ownerPassword)
      await page.getByRole("button", { name: "Sign in" }).click()
    }

    const heading = ({ page }: Window): Promise<void> => page.getByRole("heading", { level: 1 }).first().waitFor()

    it("sends a browser without a session to the login and back to its address", async () => {
      const { base, open } = console()
      const window = await open()
      const { context, page } = window
      await page.goto(`${base}/workspaces?filter=owner%3Ame`)
      expect(new URL(page.url()).pathname).toBe("/dev/login")
      await signIn(window)
      await page.waitForURL(`${base}/workspaces?filter=owner%3Ame`)
      await heading(window)
      await expectWellMade(page)

      // Another address, the back button, and a reload
      await page.goto(`${base}/`)
      await heading(window)
      await page.goBack()
      await page.reload()
      await heading(window)
      expect(page.url()).toBe(`${base}/workspaces?filter=owner%3Ame`)

      // The session ends elsewhere: the browser is sent to the login, and the login sends it back
      await context.clearCookies({ name: "service_session_token" })
      await page.reload()
      await page.waitForURL(`${base}/login?redirect=*`)
      await signIn(window)
      await page.waitForURL(`${base}/workspaces?filter=owner%3Ame`)
      await heading(window)
      await window.close()
    })

    it("is reached at each of its addresses: no page of the server hides one", async () => {
      const { person, server } = console()
      const { token } = await person("member")
      const { routes } = parseSite(readFileSync(fileURLToPath(new URL(listPath, folder)), "utf8"))
      const answers = await Promise.all(
        routes.map(async (route) => {
          const path = route.replace(/\{-?\$\w+\}|\$\w*/g, "x")
          const headers = { accept: "text/html", cookie: `service_session_token=${token}` }
          const { status, text } = await exchange(`${server.url}/dev${path}`, { method: "GET", headers })
          return [path, status, text.includes("atelier-console")]
        })
      )
      expect(answers.filter(([, status, isConsole]) => status !== 200 || isConsole !== true)).toStrictEqual([])
    })

    it("shows its own page for an address that it does not have", async () => {
      const { base, complaints, open } = console()
      const window = await open("member")
      const answer = await window.page.goto(`${base}/no/such/page`)
      expect(answer?.status()).toBe(404)
      await heading(window)
      await expectWellMade(window.page)
      // The browser notes the status of the page itself
      expect(complaints.splice(0).filter((line) => !line.includes("404"))).toStrictEqual([])
      await window.close()
    })
  },
  { accessUrl: "http://atelier.test/dev" }
)
