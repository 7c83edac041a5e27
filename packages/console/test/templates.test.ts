/**
 * Templates in the console: taken from a starter, changed, published, shared and ended, by people of each role. `everyScreen.test.ts` measures each screen
 * as it is when it opens, and these tests what comes after.
 */
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { expect, it } from "vitest"
import { templateFile, testEngines } from "../../../test/outside/engine.js"
import { aTar } from "../../../test/records/archives.js"
import { anImportedVersion, aTemplate } from "../../../test/http/templates.js"
import { describeConsole, expectWellMade } from "./browser.js"

const hostile = '<img src=x onerror="alert(1)"> \u202Egnirts'

describeConsole(
  "the templates of an organization",
  (console) => {
    it("show what they are, and keep their versions", async () => {
      const { open, server } = console()
      const { token } = server.owner()
      const readme = `# Title\n\nSome **words** and [a link](https://example.com/x), [none](javascript:alert(1)).\n\n${hostile}\n\n![far](https://example.com/a.png)\n\n- [x] done`
      const template = await aTemplate(
        server,
        { readme, started: [{ name: "machine", type: "computer", agents: [{ name: "main" }] }] },
        { name: "shown", display_name: hostile, description: hostile }
      )
      await anImportedVersion(server, { started: [{ name: "machine" }] }, { template_id: template.id, name: "second", message: hostile })
      await anImportedVersion(server, { fails: "parse" }, { template_id: template.id, name: "broken" })
      const { close, go, page } = await open("template-admin")
      await go("/templates?filter=name:shown")
      await page.getByText("1 template", { exact: true }).waitFor()
      // The order that the user chose stays in the window
      const changed = page.getByRole("columnheader", { name: "Changed" })
      for (const order of ["ascending", "descending"]) {
        await changed.getByRole("button").click()
        expect(await changed.getAttribute("aria-sort")).toBe(order)
      }
      await page.reload()
      await page.getByText("1 template", { exact: true }).waitFor()
      expect(await changed.getAttribute("aria-sort")).toBe("descending")
      await changed.getByRole("button").click()
      expect(await changed.getAttribute("aria-sort")).toBe(null)
      await page.getByRole("row", { name: /gnirts/ }).click()
      await page.getByRole("heading", { level: 2, name: "Title" }).waitFor()
      expect(await page.getByRole("link", { name: "a link", exact: true }).getAttribute("href")).toBe("https://example.com/x")
      expect(await page.getByRole("link", { name: "none", exact: true }).count()).toBe(0)
      expect(await page.getByRole("link", { name: "far", exact: true }).getAttribute("href")).toBe("https://example.com/a.png")
      expect(await page.locator(".markdown img").count()).toBe(0)
      await page.getByText("agents: main").waitFor()
      await expectWellMade(page)

      await page.getByRole("link", { name: "Versions", exact: true }).click()
      await page
        .getByRole("row", { name: /broken/ })
        .getByText("Failed")
        .last()
        .waitFor()
      await page.getByRole("button", { name: "Actions for second" }).click()
      await page.getByRole("menuitem", { name: "Name and message" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Name").fill("not a name!")
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.getByRole("alert").first().waitFor()
      await dialog.getByLabel("Name").fill("renamed")
      await dialog.getByRole("button", { name: "Save" }).click()
      await page.getByRole("row", { name: /renamed/ }).click()
      await page.getByRole("heading", { name: "renamed" }).waitFor()
      await page.getByRole("button", { name: "Promote" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Promote" }).click()
      await page.getByText("renamed is the active version").waitFor()
      await page.getByText("Active", { exact: true }).waitFor()
      await expectWellMade(page)

      await page.getByRole("link", { name: "Versions", exact: true }).click()
      await page.getByRole("button", { name: "More actions" }).click()
      await page.getByRole("menuitem", { name: "Archive failed versions" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Archive failed versions" }).click()
      await page.getByText("1 version was archived").waitFor()
      await page.getByRole("row", { name: /broken/ }).waitFor({ state: "detached" })
      // What was clicked is shown at once, not when the address has changed
      expect(
        await page.getByRole("switch", { name: "Show archived" }).evaluate(async (element: HTMLInputElement) => {
          element.click()
          for (let step = 0; step < 10; step++) await Promise.resolve()
          return element.checked
        })
      ).toBe(true)
      await page.getByRole("button", { name: "Actions for broken" }).click()
      await page.getByRole("menuitem", { name: "Bring back" }).click()
      await page.getByText("broken is in the list again").waitFor()
      expect((await server.call("GET", `/templates/${template.id}`, { token })).body).not.toMatchObject({
        active_version_id: template.active_version_id
      })
      await close()
    })

    it("have settings, a schedule, permissions and variables", async () => {
      const { open, person, server } = console()
      const { token } = server.owner()
      const member = await person("member")
      const template = await aTemplate(
        server,
        {
          variables: [
            { name: "region", default_value: "eu" },
            { name: "token", sensitive: true, required: false }
          ],
          started: [{ name: "machine" }]
        },
        { name: "settled" }
      )
      const now = async () => (await server.call("GET", `/templates/${template.id}`, { token })).body
      const { context, go, page } = await open("template-admin")
      await go("/templates/default/settled/settings")
      await page.getByLabel("Name", { exact: true }).fill("No name!")
      await page.getByLabel("Display name").fill("Settled down")
      await page.getByRole("button", { name: "Save" }).first().click()
      await page.getByRole("alert").first().waitFor()
      expect(await page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid")).toBe("true")
      // What was typed stays when the template is read again
      await page.clock.setFixedTime(Date.now() + 60_000)
      const again = page.waitForResponse("**/api/v2/organizations/default/templates/settled*")
      await page.evaluate(() => dispatchEvent(new Event("visibilitychange")))
      await again
      expect(await page.getByLabel("Display name").inputValue()).toBe("Settled down")
      await page.getByLabel("Name", { exact: true }).fill("settled-down")
      await page.getByRole("checkbox", { name: /Require the active version/ }).check()
      await page.getByRole("button", { name: "Save" }).first().click()
      await page.waitForURL(/\/templates\/default\/settled-down\/settings$/)
      expect(await now()).toMatchObject({ name: "settled-down", display_name: "Settled down", require_active_version: true })

      await page.getByRole("link", { name: "Schedule", exact: true }).click()
      await page.getByLabel("Stop after", { exact: true }).fill("-1")
      expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true)
      await page.getByLabel("Stop after", { exact: true }).fill("8")
      await page.getByRole("group", { name: "Workspaces have to stop on" }).getByRole("button", { name: "Sat" }).click()
      await page.getByLabel("Every", { exact: true }).fill("2")
      await page.getByLabel("Workspaces become dormant after").fill("30")
      await page.getByRole("checkbox", { name: /Count the use of existing workspaces/ }).check()
      await expectWellMade(page)
      await page.getByRole("button", { name: "Save" }).click()
      // The message of the form before may still be there
      await expect.poll(now).toMatchObject({
        default_ttl_ms: 8 * 3_600_000,
        time_til_dormant_ms: 30 * 86_400_000,
        autostop_requirement: { days_of_week: ["saturday"], weeks: 2 }
      })

      await page.getByRole("link", { name: "Permissions", exact: true }).click()
      await page.getByRole("button", { name: "Stop sharing with Everyone" }).click()
      await page.getByText("Only administrators can use this template.").waitFor()
      await page.getByRole("combobox", { name: "Add user or group" }).click()
      await page.getByRole("option", { name: /member@example\.com/ }).click()
      await page.getByRole("button", { name: "Share" }).click()
      await page.getByRole("combobox", { name: "member", exact: true }).selectOption("admin")
      await expect
        .poll(async () => (await server.call("GET", `/templates/${template.id}/acl`, { token })).body)
        .toMatchObject({ users: [{ id: member.user.id, role: "admin" }], group: [] })
      await expectWellMade(page)

      await page.getByRole("link", { name: "Variables", exact: true }).click()
      await page.getByLabel("region").fill("us")
      await expectWellMade(page)
      const asked = page.waitForRequest((request) => request.url().endsWith("/templateversions") && request.method() === "POST")
      await page.getByRole("button", { name: "Make version with these values" }).click()
      expect((await asked).postDataJSON()).toMatchObject({
        template_id: template.id,
        // The secret is kept: it was not typed
        user_variable_values: [{ name: "region", value: "us" }]
      })
      await page
        .getByRole("status")
        .getByText(/ is ready$/)
        .waitFor()
      expect(await now()).not.toMatchObject({ active_version_id: template.active_version_id })

      await go("/templates/default/settled-down/settings")
      await page.getByLabel("Message").fill("Use another one")
      await page.getByRole("button", { name: "Save" }).last().click()
      await page.getByText("New workspaces cannot be made from it.").waitFor()
      await page.getByRole("button", { name: "Delete template" }).click()
      const remove = page.getByRole("dialog").getByRole("button", { name: "Delete template" })
      expect(await remove.isDisabled()).toBe(true)
      await page.getByLabel("Type settled-down to confirm").fill("settled-down")
      await remove.click()
      await page.getByText("Settled down was deleted").waitFor()
      expect((await server.call("GET", `/templates/${template.id}`, { token })).status).toBe(404)
      await context.close()
    })

    it("are added from a starter, and their source is edited, built, looked at and published", async () => {
      const { open, server } = console()
      const { token } = server.owner()
      const { close, context, go, page } = await open("template-admin")
      await go("/starter-templates")
      await page
        .getByRole("button", { name: /^Add template/ })
        .first()
        .click()
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("begun")
      await page.getByRole("dialog").getByRole("button", { name: "Add template" }).click()
      await page.waitForURL(/\/templates\/default\/begun\/workspace$/)

      const started = [{ name: "machine", type: "computer" }]
      const parameters = [{ name: "region", display_name: "Region", default_value: "eu", mutable: true }]
      const template = await aTemplate(server, { started }, { name: "edited" })
      await go("/templates/default/edited/versions")
      await page.getByRole("button", { name: /^Actions for/ }).click()
      await page.getByRole("menuitem", { name: "Edit source" }).click()
      await page.getByText("Nothing has been built yet").waitFor()
      const editor = page.getByRole("textbox", { name: "template.json" })
      const write = async (path: string, text: string): Promise<void> => {
        await page.getByRole("textbox", { name: path, exact: true }).click()
        await page.keyboard.press("Control+a")
        await page.keyboard.insertText(text)
      }
      await editor.waitFor()

      // A build that fails says why and where, and keeps the files
      await page.getByRole("button", { name: "New file" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Path").fill("template.json")
      await dialog.getByText("A file of this name exists.").waitFor()
      await dialog.getByLabel("Path").fill("docs/README.md")
      await dialog.getByRole("button", { name: "Create file" }).click()
      await write("docs/README.md", ["# Words", ...Array.from({ length: 20 }, (_, index) => `Line ${index}.`)].join("\n"))
      await page.getByRole("button", { name: "template.json", exact: true }).click()
      await write("template.json", JSON.stringify({ logs: ["template.json:1:3: not like this"], fails: "plan" }))
      await page.getByRole("button", { name: "Build", exact: true }).click()
      await page.getByText("The import failed").waitFor()
      await expectWellMade(page)

      // What was typed is kept when the page is left
      await write("template.json", JSON.stringify({ parameters, started: [...started, { name: "second" }] }))
      await page.getByText("Files have changed since this build").waitFor()
      await page.reload()
      await page.getByText("Your changes are still here").waitFor()
      await page.getByRole("button", { name: /^README\.md/ }).click()
      await page.getByRole("textbox", { name: "docs/README.md" }).getByText("# Words").waitFor()
      await page.getByRole("button", { name: "Actions for docs/README.md" }).click()
      await page.getByRole("menuitem", { name: "Rename" }).click()
      await dialog.getByLabel("Path").fill("README.md")
      await dialog.getByRole("button", { name: "Rename" }).click()
      await page.getByRole("textbox", { name: "README.md", exact: true }).waitFor()
      await page
        .getByLabel("Upload files")
        .last()
        .setInputFiles({ name: "tool", mimeType: "", buffer: Buffer.from([0, 1, 2]) })
      await page.getByText("This file holds no text").waitFor()
      await page.getByRole("button", { name: "Actions for tool" }).click()
      await page.getByRole("menuitem", { name: "Delete" }).click()
      await page.getByText("tool was deleted").waitFor()

      await page.getByRole("button", { name: "Build again" }).click()
      await page.getByText("Ready", { exact: true }).waitFor()
      await page.getByRole("tab", { name: "Form" }).click()
      await page.getByLabel("Region").waitFor()
      await expectWellMade(page)
      await page.getByRole("tab", { name: "Resources" }).click()
      await page.getByText("second", { exact: true }).waitFor()
      await page.getByRole("tab", { name: "Changes" }).click()
      await page.getByText("2 files differ").waitFor()
      await expectWellMade(page)

      // Another window shows the same changes, and does not publish them a second time
      const other = await context.newPage()
      await other.goto(page.url())
      await page.getByText("This version is open in another window").waitFor()
      await expect.poll(() => other.getByRole("button", { name: "Publish" }).isEnabled()).toBe(true)

      await page.getByRole("button", { name: "Publish" }).click()
      await dialog.getByLabel("Name").fill("published")
      await dialog.getByLabel("Message").fill("Two machines")
      await dialog.getByRole("button", { name: "Publish" }).click()
      await page.getByText("published was published").waitFor()
      await other.getByText("Another window has published these changes as published").waitFor()
      expect(await other.getByRole("button", { name: "Publish" }).isDisabled()).toBe(true)
      await expectWellMade(other)
      await other.getByRole("button", { name: "Go on here" }).click()
      await expect.poll(() => other.getByRole("button", { name: "Publish" }).isEnabled()).toBe(true)
      await other.getByRole("button", { name: "Discard changes" }).click()
      await other.getByRole("dialog").getByRole("button", { name: "Discard changes" }).click()
      await other.close()
      await page.getByRole("heading", { name: "published" }).waitFor()
      await page.getByText("2 files differ").waitFor()
      await expectWellMade(page)
      const active = (await server.call("GET", `/templates/${template.id}/versions/published`, { token })).body
      expect(active).toMatchObject({ name: "published", message: "Two machines" })
      expect((await server.call("GET", `/templates/${template.id}`, { token })).body).toMatchObject({
        active_version_id: (active as { readonly id: string }).id
      })
      await page.getByRole("link", { name: "Edit source" }).click()
      await page.getByRole("textbox", { name: "README.md" }).waitFor()
      expect(await page.getByText("Your changes are still here").count()).toBe(0)
      await go("/templates/default/edited/insights")
      await page.getByRole("combobox", { name: "Time zone" }).waitFor()
      await expectWellMade(page)
      await go("/templates/default/edited/prebuilds")
      await page.getByRole("heading", { name: "The active version has no presets" }).waitFor()
      await expectWellMade(page)

      // A difference that begins with equal lines has columns as narrow as others
      await go("/templates/default/edited/versions/published/edit?file=README.md")
      await page.getByRole("textbox", { name: "README.md", exact: true }).click()
      await page.keyboard.press("Control+End")
      await page.keyboard.insertText("\nThe end.")
      await page.getByRole("tab", { name: "Changes" }).click()
      await page.getByRole("button", { name: /^Show \d+ equal lines/ }).waitFor()
      expect((await page.locator(".diff-number").first().boundingBox())?.width).toBe(48)
      await close()
    })

    it("are made of an uploaded archive, and say what is wrong with one", async () => {
      const { open } = console()
      const { close, go, page } = await open("template-admin")
      await go("/starter-templates")
      const chooser = page.getByLabel("Upload archive").last()
      await chooser.setInputFiles({ name: "broken.tar", mimeType: "", buffer: Buffer.alloc(2_000, 99) })
      await page.getByRole("alert").filter({ hasText: "neither a zip, nor a tar" }).first().waitFor()
      const buffer = gzipSync(await aTar({ [`my-own-main/${templateFile}`]: JSON.stringify({ started: [{ name: "machine" }] }) }))
      await chooser.setInputFiles({ name: "My Own.tar.gz", mimeType: "application/gzip", buffer })
      const dialog = page.getByRole("dialog")
      await dialog.waitFor()
      expect(await dialog.getByLabel("Name", { exact: true }).inputValue()).toBe("my-own")
      // A drop on the dialog does not put another archive under the name of this one
      await dialog.evaluate(
        (element, bytes) => {
          const dataTransfer = new DataTransfer()
          dataTransfer.items.add(new File([new Uint8Array(bytes)], "other.tar"))
          element.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }))
        },
        [...buffer]
      )
      await expectWellMade(page)
      await dialog.getByRole("heading", { name: "Add My Own.tar.gz" }).waitFor()
      await dialog.getByRole("button", { name: "Add template" }).click()
      await page.waitForURL(/\/templates\/default\/my-own\/workspace$/)
      await close()
    })

    it("are used by members, who change nothing of them", async () => {
      const { base, open, person, server } = console()
      await person("auditor")
      const template = await aTemplate(server, { started: [{ name: "machine" }] }, { name: "used" })
      await aTemplate(server, {}, { name: "closed", disable_everyone_group_access: true })
      const { close, go, page } = await open("auditor")
      await go("/templates/default/used")
      await page.getByRole("link", { name: "Create workspace" }).waitFor()
      const parts = page.getByRole("navigation", { name: "Parts of the template" })
      expect(await parts.getByRole("link").allTextContents()).toStrictEqual(["Overview", "Versions", "Insights", "Presets"])
      await page.getByRole("link", { name: "Versions", exact: true }).click()
      await page.getByRole("button", { name: /^Actions for/ }).click()
      expect(await page.getByRole("menuitem").allTextContents()).toStrictEqual(["Create workspace from it"])
      await page.keyboard.press("Escape")
      await go("/templates/default/used/settings")
      await page.getByRole("heading", { name: "You have no access to this, or it does not exist" }).waitFor()
      await close()

      const other = await open("nobody")
      await other.page.goto(`${base}/templates/default/${template.name}`)
      await other.page.getByRole("heading", { name: "You have no access to this, or it does not exist" }).waitFor()
      await other.go("/templates")
      await other.page.getByRole("heading", { name: "No templates yet" }).waitFor()
      await expectWellMade(other.page)
      await other.close()
    })
  },
  {
    provisioner: testEngines,
    starterTemplates: [
      {
        id: "begin",
        name: "Begin here",
        description: "A machine and nothing else.",
        icon: "/icon/terminal.svg",
        tags: [],
        markdown: "",
        tar: Effect.promise(() => aTar({ [templateFile]: JSON.stringify({ started: [{ name: "machine" }] }) }))
      }
    ]
  }
)
