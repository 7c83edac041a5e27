/** Workspaces in the console: found, made, watched and ended by people of each role. */
import { Statements } from "@atelier/storage"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { testEngines } from "../../../test/outside/engine.js"
import { anImportedVersion, aTemplate } from "../../../test/http/templates.js"
import { aWorkspace, getWorkspace } from "../../../test/http/workspaceCalls.js"
import { manyWorkspaces } from "../../../test/records/manyWorkspaces.js"
import { describeConsole, expectWellMade } from "./browser.js"

const script = {
  display_name: "Set up",
  icon: "",
  script: "true",
  cron: "",
  start_blocks_login: false,
  run_on_start: true,
  run_on_stop: false,
  timeout_seconds: 0,
  log_path: ""
}

const hostile = '<img src=x onerror="alert(1)"> \u202Egnirts'

describeConsole(
  "workspaces",
  (console) => {
    it("are made from a template's form, followed while they build, and deleted by name", async () => {
      const { open, server } = console()
      for (const [role, hint] of [
        ["owner", "Begin with a starter"],
        ["member", "A user who may create templates adds the first one."]
      ] as const) {
        const { close, go, page } = await open(role)
        await go("/new")
        await page.getByText(hint).waitFor()
        await close()
      }
      await aTemplate(
        server,
        {
          parameters: [
            { name: "size", display_name: "Size", type: "number", default_value: "2", mutable: true, validation_min: 1, validation_max: 4 },
            { name: "note", display_name: hostile, description: hostile, default_value: "", mutable: true }
          ],
          started: [{ name: "machine", agents: [{ name: "main", scripts: [script] }] }],
          logs: ["\u001b[32mgreen\u001b[0m", hostile]
        },
        { name: "form", display_name: "Form", description: hostile }
      )
      const { context, go, page } = await open("member")
      await go("/workspaces")
      await page.getByRole("heading", { name: "No workspaces yet" }).waitFor()
      await expectWellMade(page)
      await page.getByRole("main").getByRole("link", { name: "New workspace" }).last().click()
      await page.getByRole("link", { name: /^Form/ }).click()
      await page.getByLabel("Size").fill("9")
      await page.getByRole("alert").first().waitFor()
      expect(await page.getByRole("button", { name: "Create workspace" }).isDisabled()).toBe(true)
      await page.getByLabel("Size").fill("3")
      await page.getByLabel(hostile).fill("kept")
      await page.getByLabel("Name", { exact: true }).fill("first")
      await expectWellMade(page)
      // What was typed stays when the template cannot be read again
      const address = "**/api/v2/organizations/default/templates/form*"
      await page.route(address, (route) => route.fulfill({ status: 418, json: { message: "Not now." } }))
      const refused = page.waitForResponse(address)
      await page.clock.setFixedTime(Date.now() + 60_000)
      await page.evaluate(() => dispatchEvent(new Event("visibilitychange")))
      await refused
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
      await page.unroute(address)
      expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("first")
      await page.getByRole("button", { name: "Create workspace" }).click()

      await page.waitForURL(/\/@member\/first$/)
      await page.getByText("Connecting", { exact: true }).first().waitFor()
      // A state is never a colour alone
      await page.getByRole("list", { name: "Scripts" }).getByText("has not ended yet").waitFor()
      await expectWellMade(page)
      await page.getByRole("link", { name: "Builds", exact: true }).click()
      await page.getByRole("link", { name: /Start #1/ }).click()
      const log = page.getByRole("log")
      await log.getByText(hostile).waitFor()
      expect(await log.textContent()).not.toContain("\u001b")
      await page.getByLabel("Search in the log").fill("GREEN")
      await page.getByText("1 of 1").waitFor()
      await expectWellMade(page)

      await page.goBack()
      await page.getByRole("link", { name: "Parameters", exact: true }).click()
      await page.getByLabel(hostile).waitFor()
      expect(await page.getByLabel(hostile).inputValue()).toBe("kept")
      await page.getByRole("link", { name: "Schedule", exact: true }).click()
      await page.getByRole("switch", { name: /Stop automatically/ }).check()
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved").waitFor()
      await expectWellMade(page)

      await page.getByRole("button", { name: "Stop", exact: true }).click()
      await page.getByText("Stopped", { exact: true }).first().waitFor()
      await page.getByRole("button", { name: "More actions" }).click()
      await page.getByRole("menuitem", { name: "Delete" }).click()
      const dialog = page.getByRole("dialog")
      expect(await dialog.getByRole("button", { name: "Delete workspace" }).isDisabled()).toBe(true)
      await dialog.getByLabel("Type first to confirm").fill("first")
      await dialog.getByRole("button", { name: "Delete workspace" }).click()
      await page.getByText("This workspace was deleted").waitFor()
      await context.close()
    })

    it("are listed by the thousand, filtered, and moved through by keys", async () => {
      const { open, server } = console()
      const owner = server.owner()
      const template = await aTemplate(server, {}, { name: "many" })
      const { active_version_id: template_version_id, id: template_id, organization_id } = template
      const many = manyWorkspaces({ count: 10_000, owners: [owner.user.id], organization_id, template_id, template_version_id })
      await server.run(
        Effect.flatMap(Effect.flatten(Effect.serviceOption(Statements)), (statements) =>
          Effect.provideService(many, Statements, statements)
        )
      )
      const { close, go, page } = await open("owner")
      await go("/workspaces")
      await page.getByText("10,000 workspaces").waitFor()
      const grid = page.getByRole("grid", { name: "Workspaces" })
      expect(await grid.getByRole("row").count()).toBeLessThan(80)
      // A page that fails leaves the others in their places, and is asked for again
      const last = /\/api\/v2\/workspaces\?.*offset=9950/
      await page.route(last, (route) => route.fulfill({ status: 418, json: { message: "Not now." } }))
      await page.getByRole("main").evaluate((main) => main.scrollTo(0, main.scrollHeight))
      const missing = page.getByRole("alert").filter({ hasText: "Some rows could not be loaded" })
      await missing.getByText("Not now.").waitFor()
      await page.getByText("10,000 workspaces").waitFor()
      await page.unroute(last)
      await missing.getByRole("button", { name: "Try again" }).click()
      await grid.getByRole("row", { name: /w9999/ }).waitFor()
      expect(await missing.count()).toBe(0)
      await page.keyboard.press("/")
      await page.keyboard.type("w77")
      await page.keyboard.press("Enter")
      await page.getByText("111 workspaces").waitFor()
      expect(new URL(page.url()).searchParams.get("filter")).toContain("w77")
      await page.keyboard.press("Escape")
      await page.keyboard.press("Escape")
      await page.keyboard.press("j")
      await page.keyboard.press("x")
      await page.getByText("1 selected").waitFor()
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/@[^/]+\/w77\d*$/)
      await page.goBack()
      await page.getByText("111 workspaces").waitFor()

      // What a row's menu opens does not open the row
      await grid
        .getByRole("button", { name: /^More actions for/ })
        .first()
        .click()
      await page.getByRole("menuitem", { name: "Delete" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("dialog").waitFor({ state: "detached" })
      expect(new URL(page.url()).pathname).toBe("/workspaces")
      await close()
    })

    it("keep their version when they restart, and take the newest one with the values that it asks for", async () => {
      const { open, person, server } = console()
      const member = await person("member")
      const template = await aTemplate(server, { started: [{ name: "machine" }] }, { name: "growing" })
      const { id } = await aWorkspace(server, template, member, { name: "older" })
      const parameters = [{ name: "region", display_name: "Region", required: true, mutable: true }]
      const version = await anImportedVersion(server, { parameters, started: [{ name: "machine" }] }, { template_id: template.id })
      const { token } = server.owner()
      const promoted = await server.call("PATCH", `/templates/${template.id}/versions`, { token, body: { id: version.id } })
      expect(promoted.status).toBe(200)
      const { close, go, page } = await open("member")
      await go("/@member/older")
      await page.getByRole("button", { name: "More actions" }).click()
      await page.getByRole("menuitem", { name: "Restart" }).click()
      await page.getByText("Restarting older").waitFor()
      await page.getByText("Running", { exact: true }).first().waitFor()
      expect((await getWorkspace(server, id, member)).latest_build).toMatchObject({
        build_number: 3,
        template_version_id: template.active_version_id
      })

      await page.getByRole("button", { name: "Update", exact: true }).click()
      await page.getByText("Update to the template's newest version").waitFor()
      await page.getByLabel("Region").fill("eu")
      await page.getByRole("button", { name: "Apply and restart" }).click()
      await page.getByText("The build has begun").waitFor()
      await page.getByText("Update available").waitFor({ state: "detached" })
      await page.getByText("Running", { exact: true }).first().waitFor()
      expect((await getWorkspace(server, id, member)).latest_build).toMatchObject({ template_version_id: version.id })
      await close()
    })

    it("of another user are neither listed nor opened without the right to", async () => {
      const { base, open, server } = console()
      const template = await aTemplate(server, { started: [{ name: "machine" }] }, { name: "private" })
      await aWorkspace(server, template, server.owner(), { name: "secret" })
      const { close, go, page } = await open("member")
      await page.goto(`${base}/@${server.owner().user.username}/secret`)
      await page.getByRole("heading", { name: "You have no access to this, or it does not exist" }).waitFor()
      await expectWellMade(page)
      await go("/workspaces?filter=name:secret")
      await page.getByRole("heading", { name: "No workspace matches the filter" }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog", { name: "Command palette" }).waitFor()
      await page.keyboard.type("theme dark")
      await page.keyboard.press("Enter")
      expect(await page.locator("html").getAttribute("data-theme")).toBe("dark")
      await page.keyboard.press("?")
      await page.getByRole("definition").filter({ hasText: "Ctrl+k" }).waitFor()
      await page.keyboard.press("Escape")
      await close()
    })

    it("are found by name before their parts, and the title of the browser's tab names the part", async () => {
      const { open, person, server } = console()
      const template = await aTemplate(server, { started: [{ name: "machine" }] }, { name: "titled", display_name: "Tit\u202eled\u2066" })
      await aWorkspace(server, template, await person("member"), { name: "firm" })
      const { close, go, page } = await open("member")
      await go("/templates")
      await page.getByRole("heading", { name: "Templates" }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Command palette" }).waitFor()
      await page.keyboard.type("firm")
      await page.getByRole("option", { name: "member/firm: Files" }).waitFor()
      expect(await page.getByRole("option", { selected: true }).textContent()).toBe("member/firmrunning")
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/@member\/firm$/)
      const titled = (title: string) => expect.poll(() => page.title()).toMatch(new RegExp(`^${title}`))
      await titled("^member/firm · ")
      // The tabs stay where they are from then on
      await page.getByRole("link", { name: "Files", exact: true }).waitFor()
      await page.getByRole("link", { name: "Builds", exact: true }).click()
      await titled("Builds · member/firm · ")
      await page.getByRole("link", { name: /#1/ }).first().click()
      await titled("firm Build #1 · ")
      await page.goBack()
      await titled("Builds · member/firm · ")
      // Without the characters that turn the direction of a line
      await go("/templates/default/titled")
      await titled("Titled · ")
      await close()
    })
  },
  { provisioner: testEngines }
)
