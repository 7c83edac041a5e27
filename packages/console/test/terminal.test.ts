/** The inside of a workspace in the console, with a real agent: its terminals, files, processes and ports. */
import { LocalProvisioner } from "@atelier/provisioner"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { aTemplate, anImportedVersion, fileIdOf, upload } from "../../../test/http/templates.js"
import { aBuild, aWorkspace } from "../../../test/http/workspaceCalls.js"
import { aTar } from "../../../test/records/archives.js"
import { describeConsole, expectWellMade } from "./browser.js"
import { openRelay } from "./relay.js"

const directory = mkdtempSync(join(tmpdir(), "atelier-console-"))
const relay = await openRelay()
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const agent = fileURLToPath(new URL("../../agent/dist/program.js", import.meta.url))

const template = `
agents:
  - name: main
    startup_script: echo 'export PS1="$ "' > .profile
`

/** The screen of the terminal that is shown. */
const screen = (page: Page) => page.locator(".term-panel[data-shown] .xterm-rows")

/** Types a line, and waits until its output is there. */
const enter = async (page: Page, line: string, output: string | RegExp): Promise<void> => {
  await page.keyboard.type(`${line}\n`)
  await screen(page).filter({ hasText: output }).waitFor()
}

describeConsole(
  "terminal",
  (console) => {
    let workspace: Awaited<ReturnType<typeof aWorkspace>> | undefined
    beforeAll(async () => {
      const { person, server } = console()
      relay.leadTo(server.url)
      const source = fileIdOf(await upload(server, await aTar({ "template.yaml": template })))
      const { id } = await anImportedVersion(server, {}, { file_id: source })
      const made = await aTemplate(server, {}, { name: "real", template_version_id: id })
      workspace = await aWorkspace(server, made, await person("member"), { name: "inside" })
    })

    afterAll(async () => {
      const { person, server } = console()
      // Agents outlive the service, and their connections would keep it from its end
      if (workspace !== undefined) await aBuild(server, workspace, await person("member"), { transition: "delete" })
      relay.close()
    })

    it("keeps its shells over a reload, a lost connection and a new name", async () => {
      const { complaints, open } = console()
      const { context, go, page } = await open("member")
      await context.grantPermissions(["clipboard-read", "clipboard-write"])
      await go("/@member/inside")
      await page.getByText("Ready", { exact: true }).waitFor()
      await page.getByRole("link", { name: "Terminal", exact: true }).click()
      await screen(page).filter({ hasText: "$" }).waitFor()
      await enter(page, "echo shell $$ | tee pid", /shell \d+/)
      const shell = /shell \d+/.exec((await screen(page).textContent()) ?? "")?.[0] ?? ""
      expect(new URL(page.url()).search).toBe("")
      await expectWellMade(page)

      // What a program writes does nothing but show itself
      await page.evaluate(() => navigator.clipboard.writeText("mine"))
      await page.keyboard.type(
        `printf '\\033]52;c;aGFja2Vk\\007\\033]0;<b>title</b>\\342\\200\\256\\007\\033]8;;javascript:alert(1)\\007bad\\033]8;;\\007 \\033]8;;https://example.com/\\007good\\033]8;;\\007 <img src=x>\\n'\n`
      )
      await page.getByRole("tab", { name: "<b>title</b>" }).waitFor()
      await page.keyboard.press("Control+Shift+ArrowUp")
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("mine")
      await page.keyboard.press("F2")
      await page.keyboard.type("build")
      await page.keyboard.press("Enter")
      await page.getByRole("tab", { name: "build" }).waitFor()

      // A second one beside it, which goes to the left by keys
      await page.keyboard.press("Enter")
      await page.keyboard.press("Control+Shift+Enter")
      await page.getByRole("tab", { name: "Terminal 2", selected: true }).waitFor()
      await enter(page, "echo other$((40 + 2))", "other42")
      await page.keyboard.press("Control+Shift+ArrowUp")
      await page.keyboard.press("Shift+ArrowLeft")
      await page.keyboard.press("ArrowRight")
      await page.getByRole("tab", { name: "build", selected: true }).waitFor()
      expect(await page.getByRole("tab").allTextContents()).toStrictEqual(["Terminal 2", "build"])

      await page.reload()
      await screen(page).filter({ hasText: shell }).waitFor()
      expect(await page.getByRole("tab").allTextContents()).toStrictEqual(["Terminal 2", "build"])
      await enter(page, "(sleep 1; echo meanwhile $$) &", "echo meanwhile")
      relay.cut()
      await page.getByRole("status").filter({ hasText: "The connection is lost." }).waitFor()
      await expectWellMade(page)
      relay.mend()
      await page.getByRole("status").filter({ hasText: "The connection is lost." }).waitFor({ state: "detached" })
      await screen(page)
        .filter({ hasText: `meanwhile ${shell.slice("shell ".length)}` })
        .waitFor()
      complaints.splice(0)

      // The output is searched and copied
      await page.locator(".term-panel[data-shown] textarea").focus()
      await page.keyboard.press("Control+Shift+F")
      await page.getByLabel("Search in the terminal").last().fill("meanwhile")
      await page.getByText(/^\d+ of \d+$/).waitFor()
      await page.keyboard.press("Escape")
      await page.keyboard.type("exit\n")
      await page.getByText("The shell has ended.").waitFor()
      await page.keyboard.press("Enter")
      await page.getByText("The shell has ended.").waitFor({ state: "detached" })
      await screen(page).filter({ hasText: "$" }).waitFor()
      await enter(page, "cat pid", shell)
      await context.close()
    })
  },
  {
    accessUrl: relay.url,
    provisioner: LocalProvisioner.layer({ directory, agent: { command: [process.execPath, agent] } })
  }
)
