/** The inside of a workspace in the console, with a real agent: its terminals, files, processes and ports. */
import { LocalProvisioner } from "@atelier/provisioner"
import { mkdtempSync, rmSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
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

const agent = fileURLToPath(new URL("../../agent/dist/program.cjs", import.meta.url))

const template = `
agents:
  - name: main
    startup_script: echo 'export PS1="$ "' > .profile
`

const hostile = '<img src=x onerror="alert(1)">.txt'

/** The screen of the terminal that is shown. */
const screen = (page: Page) => page.locator(".term-panel[data-shown] .xterm-rows")

/** Types a line, and waits until its output is there. */
const enter = async (page: Page, line: string, output: string | RegExp): Promise<void> => {
  await page.keyboard.type(`${line}\n`)
  await screen(page).filter({ hasText: output }).waitFor()
}

describeConsole(
  "terminals and files",
  (console) => {
    let workspace: Awaited<ReturnType<typeof aWorkspace>> | undefined
    beforeAll(async () => {
      const { person, server } = console()
      relay.leadTo(server.url)
      const source = fileIdOf(await upload(server, await aTar({ "template.yaml": template })))
      const { id } = await anImportedVersion(server, {}, { file_id: source })
      const made = await aTemplate(server, {}, { name: "real", template_version_id: id })
      const { token } = server.owner()
      await server.call("PATCH", `/templates/${made.id}`, { token, body: { max_port_share_level: "public" } })
      workspace = await aWorkspace(server, made, await person("member"), { name: "inside" })
    })

    const agentId = (): string => workspace?.latest_build.resources.flatMap(({ agents }) => agents ?? [])[0]?.id ?? ""

    afterAll(async () => {
      const { person, server } = console()
      // Agents outlive the service, and their connections would keep it from its end
      if (workspace !== undefined) await aBuild(server, workspace, await person("member"), { transition: "delete" })
      relay.close()
    })

    it("keeps its shells over a reload, a lost connection and a new name", async () => {
      const { complaints, open } = console()
      const { close, context, go, page } = await open("member")
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
      await screen(page).filter({ hasText: "$" }).waitFor()
      await enter(page, "echo other$((40 + 2))", "other42")
      await page.keyboard.press("Control+Shift+ArrowUp")
      await page.keyboard.press("Shift+ArrowLeft")
      await page.keyboard.press("ArrowRight")
      await page.getByRole("tab", { name: "build", selected: true }).waitFor()
      expect(await page.getByRole("tab").allTextContents()).toStrictEqual(["Terminal 2", "build"])

      await page.reload()
      await screen(page).filter({ hasText: shell }).waitFor()
      expect(await page.getByRole("tab").allTextContents()).toStrictEqual(["Terminal 2", "build"])
      // The next prompt shows that the shell has the line: a broken connection loses keys that are on their way
      await enter(page, "(sleep 1; echo meanwhile $$) &", /meanwhile \$\$\) &.*\$/s)
      relay.cut()
      await page.getByRole("status").filter({ hasText: "The connection is lost." }).waitFor()
      await expectWellMade(page)
      relay.mend()
      await page.getByRole("status").filter({ hasText: "The connection is lost." }).waitFor({ state: "detached" })
      await screen(page)
        .filter({ hasText: `meanwhile ${shell.slice("shell ".length)}` })
        .waitFor()
      // The page makes no request but WebSockets
      await page.getByText("Connection lost").waitFor({ state: "detached", timeout: 20_000 })
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
      await close()
    })

    it.each([
      ["the console", "terminals"],
      ["the page of one terminal", "terminal"]
    ])("sends text that comes without a key, as from a picker of emoji: %s", async (_, path) => {
      const { close, context, page } = await console().open("member")
      await page.goto(`${console().base}/@member/inside/${path}`)
      const shown = page.locator(".xterm-rows")
      await shown.filter({ hasText: "$" }).waitFor()
      await page.keyboard.type("echo a")
      await page.keyboard.insertText("ü日")
      await page.keyboard.down("Shift")
      await page.keyboard.insertText("é")
      await page.keyboard.up("Shift")
      await page.keyboard.type("b | od -An -tx1\n")
      await shown.filter({ hasText: "61 c3 bc e6 97 a5 c3 a9 62 0a" }).waitFor()

      // Keys, what an input method composes, and what is pasted arrive once
      await context.grantPermissions(["clipboard-read", "clipboard-write"])
      await page.evaluate(() => navigator.clipboard.writeText("p"))
      const input = await context.newCDPSession(page)
      await page.keyboard.type("echo c")
      // The emulator has dealt with these keys before it is composed to, and with the clipboard before the next keys, as for people
      await shown.filter({ hasText: "echo c" }).waitFor()
      await input.send("Input.imeSetComposition", { selectionStart: 1, selectionEnd: 1, text: "に" })
      await input.send("Input.imeSetComposition", { selectionStart: 2, selectionEnd: 2, text: "にほ" })
      await input.send("Input.insertText", { text: "日本" })
      await page.keyboard.type("d")
      await page.keyboard.press("Control+Shift+V")
      await shown.filter({ hasText: "dp" }).waitFor()
      await page.keyboard.type("e | od -An -tx1\n")
      await shown.filter({ hasText: "63 e6 97 a5 e6 9c ac 64 70 65 0a" }).waitFor()
      await close()
    })

    it("shows, edits, uploads and removes files, and notices that another has changed one", async () => {
      const { open, server } = console()
      const { close, go, page } = await open("member")
      await go("/workspaces")
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Command palette" }).fill("inside fil")
      await page.getByRole("option", { name: "member/inside: Files" }).click()
      await page.getByRole("button", { name: "New folder" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Name").fill("work")
      await dialog.getByRole("button", { name: "Create" }).click()
      await page.getByRole("link", { name: "work", exact: true }).click()
      await page.getByRole("heading", { name: "This folder is empty" }).waitFor()
      const chooser = page.locator('input[type="file"][multiple]')
      await chooser.setInputFiles([
        { name: hostile, mimeType: "text/plain", buffer: Buffer.from("one\r\n") },
        { name: "dot.gif", mimeType: "image/gif", buffer: Buffer.from("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=", "base64") },
        { name: "raw.bin", mimeType: "", buffer: Buffer.from([1, 0, 2]) }
      ])
      await page.getByRole("link", { name: "raw.bin" }).waitFor()
      await expectWellMade(page)
      await chooser.setInputFiles([{ name: "raw.bin", mimeType: "", buffer: Buffer.from([3, 0]) }])
      await page.getByRole("button", { name: "Replace", exact: true }).click()
      await page.getByRole("gridcell", { name: "2 B" }).waitFor()
      await page.getByRole("link", { name: "raw.bin" }).click()
      await page.getByRole("heading", { name: "This file is not text" }).waitFor()
      await page.goBack()
      await page.getByRole("link", { name: "dot.gif" }).click()
      await page.getByRole("img", { name: "dot.gif" }).waitFor()
      await page.goBack()

      // A folder is uploaded with all that it holds: chosen, or dropped
      const local = await mkdtemp(join(tmpdir(), "atelier-folder-"))
      await mkdir(join(local, "src", "deep"), { recursive: true })
      await writeFile(join(local, "src", "deep", "one.txt"), "1")
      await writeFile(join(local, "src", "two.txt"), "22")
      await page.locator('input[type="file"]:not([multiple])').setInputFiles(join(local, "src"))
      await page.getByText("2 files were uploaded").waitFor()
      await page.getByRole("link", { name: "src", exact: true }).click()
      await page.getByRole("link", { name: "deep", exact: true }).click()
      await page.getByRole("link", { name: "one.txt" }).waitFor()
      await page.goBack()
      await page.goBack()
      await rm(local, { recursive: true })

      await page.getByRole("link", { name: hostile }).click()
      await page.locator(".cm-content").click()
      await page.keyboard.press("Control+End")
      await page.keyboard.type("two")
      await page.getByText("not saved").waitFor()
      await expectWellMade(page)
      await page.getByRole("button", { name: "Close the file" }).click()
      await dialog.getByRole("button", { name: "Stay" }).click()
      await page.keyboard.press("Control+s")
      await page.getByText("Saved", { exact: true }).waitFor()
      const path = `/workspaceagents/${agentId()}/files?path=${encodeURIComponent(`work/${hostile}`)}`
      const { token } = await console().person("member")
      expect((await server.call("GET", path, { token })).text).toBe("one\r\ntwo")
      const headers = { "Content-Type": "application/octet-stream" }
      expect((await server.call("PUT", path, { token, headers, body: "theirs" })).status).toBe(200)
      await page.locator(".cm-content").click()
      await page.keyboard.type("mine")
      await page.keyboard.press("Control+s")
      await page.getByText("The file has changed since you opened it").waitFor()
      await page.getByRole("button", { name: "Discard mine" }).click()
      await page.locator(".cm-content").filter({ hasText: "theirs" }).waitFor()

      await page.getByRole("button", { name: "Close the file" }).click()
      await page.getByRole("button", { name: "Actions for dot.gif" }).click()
      await page.getByRole("menuitem", { name: "Rename" }).click()
      await dialog.getByLabel("Name").fill("point.gif")
      await dialog.getByRole("button", { name: "Rename" }).click()
      await page.getByRole("link", { name: "point.gif" }).waitFor()
      await page.getByRole("button", { name: "Actions for point.gif" }).click()
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Download" }).click()])
      expect([download.suggestedFilename(), await download.failure()]).toStrictEqual(["point.gif", null])
      await page.getByRole("link", { name: "Home folder" }).click()
      await page.getByRole("button", { name: "Actions for work" }).click()
      await page.getByRole("menuitem", { name: "Delete" }).click()
      await dialog.getByRole("button", { name: "Delete" }).click()
      await page.getByRole("link", { name: "work", exact: true }).waitFor({ state: "detached" })
      await close()
    })

    it("runs a command that can be stopped, and shares the port that it listens on", async () => {
      const { close, go, page } = await console().open("member")
      await go("/@member/inside/processes")
      await page.getByLabel("Command").fill("echo out; echo wrong >&2; exit 3")
      await page.keyboard.press("Enter")
      const log = page.getByRole("log")
      await log.getByText("wrong").waitFor()
      await page.getByText("Exit 3").first().waitFor()
      const program = "require('net').createServer().listen(0, '127.0.0.1', function () { console.log('port ' + this.address().port) })"
      await page.getByLabel("Command").fill(`'${process.execPath}' -e "${program}"`)
      await page.keyboard.press("Enter")
      await log.getByText(/port \d+/).waitFor()
      const port = /port (\d+)/.exec((await log.textContent()) ?? "")?.[1] ?? ""
      await expectWellMade(page)
      const processes = page.url()

      await page.getByRole("link", { name: "Overview", exact: true }).click()
      await page.getByRole("button", { name: "Ports" }).click()
      await page.getByRole("button", { name: `Share port ${port}` }).click()
      await page.getByLabel(`Who may open port ${port}`).selectOption("authenticated")
      await page.getByText(`Port ${port} is shared: everyone signed in`).waitFor()
      await page.getByLabel(`What port ${port} speaks`).selectOption("https")
      const link = page.getByRole("link", { name: `Open port ${port}` }).last()
      await expect.poll(() => link.getAttribute("href")).toContain(`${port}s--main--inside--member.`)
      await expectWellMade(page)
      await page.getByRole("button", { name: `Stop sharing port ${port}` }).click()
      await page.getByText("No port is shared").waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Editor" }).click()
      expect(await page.getByRole("link", { name: "VS Code" }).getAttribute("href")).toMatch(/^vscode:.*main\.inside\.member\.atelier\//)

      await page.goto(processes)
      // The workspace has a button of the same name
      await page.locator(".section").filter({ has: log }).getByRole("button", { name: "Stop", exact: true }).click()
      await page.getByText("Ended by SIGTERM").first().waitFor()
      await close()

      // Another member sees nothing of it
      const other = await console().open("nobody")
      await other.page.goto(`${console().base}/@member/inside/files`)
      await other.page.getByText("You have no access to this, or it does not exist").waitFor()
      await other.close()
    })
  },
  {
    isKept: true,
    accessUrl: relay.url,
    options: { wildcardAccessUrl: `*.localhost:${new URL(relay.url).port}` },
    provisioner: LocalProvisioner.layer({ directory, agent: { command: [process.execPath, agent] } })
  }
)
