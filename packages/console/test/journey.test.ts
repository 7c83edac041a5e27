/** The main journey: by keys alone, and with a server that is restarted in the middle. */
import type { Locator, Page } from "playwright-core"
import { expect, it } from "vitest"
import { aTemplate } from "../../../test/http/templates.js"
import { testEngines } from "../../../test/outside/engine.js"
import { describeLastingConsole } from "./browser.js"

const password = "SomeSecurePassword!"
const mostTabs = 80

/** Moves the focus to an element by the Tab key, and expects that it can be seen there. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  await target.waitFor()
  for (let tabs = 0; tabs < mostTabs; tabs += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) {
      expect(await target.evaluate((element) => element.matches(":focus-visible"))).toBe(true)
      return
    }
    await page.keyboard.press("Tab")
  }
  throw new Error(`the Tab key does not reach ${target.toString()}`)
}

const typeInto = async (page: Page, target: Locator, text: string): Promise<void> => {
  await tabTo(page, target)
  await page.keyboard.press("Control+a")
  await page.keyboard.type(text)
}

const press = async (page: Page, target: Locator): Promise<void> => {
  await tabTo(page, target)
  await page.keyboard.press("Enter")
}

describeLastingConsole(
  "the main journey",
  (console) => {
    it("is made by keys alone: sign in, create, open, stop, delete", async () => {
      const { base, open, server } = console()
      await server.aPerson({ fields: { username: "ada", email: "ada@example.com" }, password, organizationRoles: [] })
      await aTemplate(server, { started: [{ name: "machine" }] }, { name: "form", display_name: "Form" })
      const { close, page } = await open()
      await page.goto(`${base}/workspaces`)
      await page.waitForURL(/\/login\?redirect=/)
      await typeInto(page, page.getByLabel("Email address"), "ada@example.com")
      await typeInto(page, page.getByLabel("Password", { exact: true }), password)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "No workspaces yet" }).waitFor()

      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Command palette" }).waitFor()
      await page.keyboard.type("new workspace")
      await page.keyboard.press("Enter")
      await press(page, page.getByRole("link", { name: /^Form/ }))
      await typeInto(page, page.getByLabel("Name", { exact: true }), "keyed")
      await press(page, page.getByRole("button", { name: "Create workspace" }))
      await page.waitForURL(/\/@ada\/keyed$/)
      await page.getByText("Running", { exact: true }).first().waitFor()

      await press(page, page.getByRole("button", { name: "Stop", exact: true }))
      await page.getByText("Stopped", { exact: true }).first().waitFor()
      await page.keyboard.press("g")
      await page.keyboard.press("w")
      await page.getByRole("heading", { level: 1, name: "Workspaces" }).waitFor()
      await page.getByRole("row", { name: /keyed/ }).waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/@ada\/keyed$/)
      await press(page, page.getByRole("button", { name: "More actions" }))
      await page.getByRole("menuitem", { name: "Delete" }).waitFor()
      await page.keyboard.press("End")
      await page.keyboard.press("Enter")
      const dialog = page.getByRole("dialog")
      await typeInto(page, dialog.getByLabel("Type keyed to confirm"), "keyed")
      await press(page, dialog.getByRole("button", { name: "Delete workspace" }))
      await page.getByText("This workspace was deleted").waitFor()
      await close()
    })

    it("goes on where it was when the server is restarted", async () => {
      const { complaints, open, restart, server } = console()
      await aTemplate(
        server,
        { parameters: [{ name: "size", display_name: "Size", default_value: "2", mutable: true }], started: [{ name: "machine" }] },
        { name: "lasting", display_name: "Lasting" }
      )
      const { close, context, go, page } = await open("member")
      await go("/new")
      await page.getByRole("link", { name: /^Lasting/ }).click()
      await page.getByLabel("Name", { exact: true }).fill("kept")
      await page.getByLabel("Size").fill("3")
      const other = await context.newPage()
      await other.goto(page.url().replace(/\/templates\/.*/, "/workspaces"))
      await other.getByRole("heading", { level: 1, name: "Workspaces" }).waitFor()
      await restart(async () => {
        await page.getByText("The form lost its connection").waitFor()
        // A screen whose files are not here yet waits for the server, and the one before stays
        await other.getByRole("link", { name: "Organizations" }).click()
        await other.getByText("Connection lost").waitFor()
        expect(await other.getByRole("heading", { level: 1 }).textContent()).toBe("Workspaces")
      })
      await page.getByText("The form lost its connection").waitFor({ state: "detached" })
      expect(await page.getByLabel("Size").inputValue()).toBe("3")
      await page.getByRole("button", { name: "Create workspace" }).click()
      await page.waitForURL(/\/@member\/kept$/)
      await page.getByText("Running", { exact: true }).first().waitFor()
      await other.getByRole("heading", { level: 1, name: "Organizations" }).waitFor()
      await other.getByText("Connection lost").waitFor({ state: "detached" })
      // The browser notes each call that found no server
      expect(complaints.splice(0).filter((complaint) => !/ERR_CONNECTION|WebSocket|EventSource/.test(complaint))).toStrictEqual([])
      await close()
    })
  },
  { provisioner: testEngines }
)
