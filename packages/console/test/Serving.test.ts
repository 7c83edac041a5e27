/** From the login to a screen and back to it: what the server and the application do together. */
import { expect, it } from "vitest"
import { ownerPassword } from "../../../test/http/server.js"
import { describeConsole, expectWellMade, type Window } from "./browser.js"

describeConsole(
  "the console of a user",
  (console) => {
    const signIn = async ({ page }: Window): Promise<void> => {
      await page.getByLabel("Email address").fill("owner@example.com")
      await page.getByLabel("Password", { exact: true }).fill(ownerPassword)
      await page.getByRole("button", { name: "Sign in" }).click()
    }

    const heading = ({ page }: Window): Promise<void> => page.getByRole("heading", { level: 1 }).first().waitFor()

    it("leads through the login to the address that was asked for, and there again after the session has ended", async () => {
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
      await context.close()
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
      await window.context.close()
    })
  },
  { accessUrl: "http://atelier.test/dev" }
)
