/** What happens beside the screen that a user looks at: other windows, sessions that end, connections and files that fail, a browser that forbids. */
import { expect, it } from "vitest"
import { aTemplate } from "../../../test/http/templates.js"
import { aWorkspace } from "../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../test/outside/engine.js"
import { describeConsole } from "./browser.js"

const password = "SomeSecurePassword!"

describeConsole(
  "interruptions",
  (console) => {
    it("show a change of one window in the other, and end the session of both at once", async () => {
      const { open, person, server } = console()
      const template = await aTemplate(server, { started: [{ name: "machine" }] }, { name: "seen" })
      await aWorkspace(server, template, await person("template-admin"), { name: "shared" })
      const { close, context, go, page } = await open("template-admin")
      await go("/workspaces")
      const row = page.getByRole("row", { name: /shared/ })
      await row.getByText("Running").last().waitFor()
      const other = await context.newPage()
      await other.goto(`${console().base}/@template-admin/shared`)
      await other.getByRole("button", { name: "Stop", exact: true }).click()
      await row.getByText("Stopped").last().waitFor()
      await other.getByRole("button", { name: /^Signed in as/ }).click()
      await other.getByRole("menuitem", { name: "Sign out" }).click()
      await other.getByRole("button", { name: "Sign out" }).click()
      await page.waitForURL(/\/login\?redirect=/)
      await close()
    })

    it("keep the user's input when the session ends, until the next login", async () => {
      const { complaints, open, server } = console()
      const fields = { username: "writer", email: "writer@example.com" }
      const { token } = await server.aPerson({ fields, password, organizationRoles: [] })
      const { close, context, page } = await open()
      await context.addCookies([{ name: "service_session_token", value: token, url: console().base, httpOnly: true, sameSite: "Lax" }])
      await page.goto(`${console().base}/settings/account`)
      await page.getByLabel("Name optional").fill("A long thought")
      expect((await server.call("POST", "/users/logout", { token })).status).toBe(200)
      await page.getByText("Your session has ended.").waitFor()
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByRole("main").getByRole("alert").first().waitFor()
      expect(await page.getByLabel("Name optional").inputValue()).toBe("A long thought")
      const [signIn] = await Promise.all([
        context.waitForEvent("page"),
        page.getByRole("link", { name: "Sign in in another window" }).click()
      ])
      await signIn.getByLabel("Email address").fill(fields.email)
      await signIn.getByLabel("Password", { exact: true }).fill(password)
      await signIn.getByRole("button", { name: "Sign in", exact: true }).click()
      await page.getByText("Your session has ended.").waitFor({ state: "detached" })
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved").waitFor()
      // The browser notes streams that were refused
      complaints.splice(0)
      await close()
    })

    it("disable the actions of a selection while one of them runs", async () => {
      const { open, person, server } = console()
      const template = await aTemplate(server, { started: [{ name: "machine" }] }, { name: "bulk" })
      const member = await person("member")
      for (const name of ["one", "two"]) await aWorkspace(server, template, member, { name })
      const { close, go, page } = await open("member")
      await go("/workspaces?filter=template:bulk owner:me")
      await page.getByRole("row", { name: /two/ }).waitFor()
      await page.getByRole("checkbox", { name: "Select loaded rows" }).check()
      let release = (): void => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      await page.route(/\/builds$/, async (route) => {
        await held
        await route.continue()
      })
      const bar = page.getByRole("toolbar", { name: "Selection" })
      await bar.getByRole("button", { name: "Stop" }).click()
      for (const name of ["Start", "Stop", "Update", "Delete"]) await bar.getByRole("button", { name, disabled: true }).waitFor()
      release()
      await bar.waitFor({ state: "detached" })
      await page.getByRole("row", { name: /one/ }).getByText("Stopped").last().waitFor()
      await close()
    })

    it("ask again for the files of a screen that failed to load", async () => {
      const { complaints, open } = console()
      const { close, go, page } = await open("member")
      await go("/workspaces")
      let failures = 0
      await page.route(/\/assets\/OrganizationList-[^/]*\.js$/, (route) => {
        failures += 1
        return failures === 1 ? route.abort() : route.continue()
      })
      await page.getByLabel("Main navigation").getByRole("link", { name: "Organizations" }).click()
      await page.getByRole("heading", { level: 1, name: "Organizations" }).waitFor()
      expect(failures).toBe(2)
      expect(complaints.splice(0).filter((complaint) => !complaint.includes("ERR_FAILED"))).toStrictEqual([])
      await close()
    })

    it("keep the page and what is typed when a part's files are gone", async () => {
      const { complaints, open } = console()
      const { close, go, page } = await open("member")
      await page.route(/\/assets\/Palette-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }))
      await go("/settings/account")
      await page.getByLabel("Name optional").fill("A long thought")
      await page.keyboard.press("Control+k")
      const notice = page.getByRole("alert").filter({ hasText: "newer version of the console" })
      await notice.waitFor()
      expect(await page.getByLabel("Name optional").inputValue()).toBe("A long thought")
      await page.unroute(/\/assets\/Palette-[^/]*\.js$/)
      await notice.getByRole("button", { name: "Reload" }).click()
      await notice.waitFor({ state: "detached" })
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog").waitFor()
      // The browser notes the files that are gone
      complaints.splice(0)
      await close()
    })

    it("change nothing but what is remembered where the browser forbids storage and clipboard", async () => {
      const { open } = console()
      const { context, go, page } = await open("owner")
      await context.addInitScript(() => {
        for (const name of ["localStorage", "sessionStorage"])
          Object.defineProperty(window, name, {
            get: () => {
              throw new DOMException("The request was denied.", "SecurityError")
            }
          })
      })
      await go("/settings/ssh-keys")
      await page.getByRole("button", { name: "Copy" }).first().click()
      await page.getByText("The browser did not allow to copy.").waitFor()
      await page.getByRole("button", { name: /^Signed in as/ }).click()
      await page.getByRole("menuitemradio", { name: "Dark" }).click()
      await page.locator(':root[data-theme="dark"]').waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("link", { name: "Workspaces", exact: true }).first().click()
      await page.getByRole("heading", { level: 1, name: "Workspaces" }).waitFor()
      // Remembered as long as the page
      await page.locator(':root[data-theme="dark"]').waitFor()
      await context.close()
    })
  },
  { provisioner: testEngines }
)
