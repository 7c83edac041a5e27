/** A person with a browser: the terminal, an app on a host of its own, and the page of a stopped workspace. */
import { build } from "esbuild"
import type { Page } from "playwright-core"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { chromiumPath, expectAccessible, startChromium } from "../../../test/outside/chromium.js"
import { freePort, Server } from "./Server.js"
import {
  agentOf,
  build as buildOf,
  clientOf,
  firstToken,
  firstUser,
  isRunning,
  templateFrom,
  untilWorkspace,
  workspaceFrom
} from "./Steps.js"

const template = (port: number) => `agents:
  - name: main
    scripts:
      - display_name: Site
        run_on_start: true
        start_blocks_login: true
        script: |
          nohup node -e 'require("http").createServer((_, r) => r.end("<title>site</title>the site")).listen(${port}, "127.0.0.1")' >/dev/null 2>&1 &
    apps:
      - slug: site
        display_name: Site
        url: http://127.0.0.1:${port}
        subdomain: true
`

/** The client for a page, as the variable `atelier`. */
const bundledClient = async (): Promise<string> => {
  const contents = `export { createClient } from "@atelier/client"\nexport { connectPort, fetchApp, openTerminal } from "@atelier/client/reach"`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    globalName: "atelier",
    write: false
  })
  return outputFiles[0]?.text ?? ""
}

/** A program of a page: what a terminal, an app and a port of a workspace send it. */
const reachAll = (input: {
  readonly baseUrl: string
  readonly token: string
  readonly agent: string
  readonly user: string
  readonly port: number
}) => `
  (async ({ agent, baseUrl, port, token, user }) => {
    const client = atelier.createClient({ baseUrl, token })
    const textOf = (stream) => new Response(stream).text()
    const terminal = await atelier.openTerminal(client, { agent, command: "echo from $((20 + 22))" })
    const app = await atelier.fetchApp(client, { user, workspace: "dev", app: "site", path: "/" })
    const connection = await atelier.connectPort(client, { agent, port })
    const writer = connection.writable.getWriter()
    await writer.write(new TextEncoder().encode("GET / HTTP/1.0\\r\\n\\r\\n"))
    return [await textOf(terminal.output), await app.text(), await textOf(connection.readable)]
  })(${JSON.stringify(input)})`

/** What the terminal shows. */
const shown = (page: Page): Promise<string> => page.locator(".xterm-rows").innerText()

const type = async (page: Page, line: string, expected: string): Promise<void> => {
  await page.keyboard.type(line)
  await page.keyboard.press("Enter")
  await expect.poll(() => shown(page)).toContain(expected)
}

it.skipIf(chromiumPath === undefined)(
  "a browser types in a terminal, comes back after a crash of the server, and opens an app and a port",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-browser-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const port = await freePort()
    const base = `http://127.0.0.1:${port}`
    const options = {
      port,
      database: `sqlite:${join(directory, "a.db")}`,
      workspacesDirectory: join(directory, "workspaces"),
      args: ["--wildcard-access-url", `*.apps.localhost:${port}`]
    }
    let server = await Server.start(options)
    onTestFinished(async () => void (await server.stop()))
    const token = await firstToken(server.url)
    const client = clientOf(server.url, token)
    const sitePort = await freePort()
    const source = await templateFrom(client, "site", { files: { "template.yaml": template(sitePort) } })
    const workspace = await workspaceFrom(client, source, "dev")
    const agent = agentOf(await untilWorkspace(client, workspace.id, isRunning)).id

    const browser = await startChromium()
    onTestFinished(() => browser.close())
    const context = await browser.newContext()
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    await page.goto(`${base}/@${workspace.owner_name}/dev/terminal`)
    await page.getByLabel("Email address").fill(firstUser.email)
    await page.getByLabel("Password", { exact: true }).fill(firstUser.password)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.locator(".xterm-rows").waitFor()
    await expectAccessible(page)
    await page.locator(".xterm").click()
    await type(page, "echo hello $((40 + 2))", "hello 42")

    await page.evaluate(await bundledClient())
    const reached = await page.evaluate<ReadonlyArray<string>>(
      reachAll({ baseUrl: base, token, agent, user: workspace.owner_name, port: sitePort })
    )
    const site = "<title>site</title>the site"
    expect(reached).toStrictEqual([expect.stringContaining("from 42"), site, expect.stringMatching(/^HTTP\/1\.1 200 OK[^]*the site$/)])

    await server.kill()
    await page.getByRole("status").filter({ hasText: "The connection is lost" }).waitFor()
    server = await Server.start(options)
    await page.getByRole("status").waitFor({ state: "hidden" })
    await expect.poll(() => shown(page)).toContain("hello 42")
    await type(page, "echo again $((40 + 3))", "again 43")
    await page.reload()
    await expect.poll(() => shown(page)).toContain("again 43")

    const app = `http://site--dev--${workspace.owner_name}.apps.localhost:${port}/`
    await page.goto(app)
    expect([page.url(), await page.title()]).toStrictEqual([app, "site"])
    const open = await context.newPage()
    open.setDefaultTimeout(60_000)
    await open.goto(`${base}/@${workspace.owner_name}/dev/terminal`)
    await open.locator(".xterm").click()
    await type(open, "echo open $((40 + 4))", "open 44")
    await buildOf(client, workspace, "stop")
    await untilWorkspace(client, workspace.id, ({ latest_build }) => latest_build.status === "stopped")
    // An open terminal leads to the same page, once its user asks for another terminal
    await open.getByRole("status").filter({ hasText: "The terminal has ended" }).waitFor()
    await open.keyboard.press("Enter")
    await open.getByRole("heading", { level: 1, name: "Workspace offline" }).waitFor()
    for (const address of [app, `${base}/@${workspace.owner_name}/dev/terminal`]) {
      await page.goto(address)
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Workspace offline")
    }
    expect(problems).toStrictEqual([])
  }
)
