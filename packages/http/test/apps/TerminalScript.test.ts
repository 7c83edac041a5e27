/** When an open page of a terminal is loaded again. The service is answered for by the test. */
import type { Browser } from "playwright-core"
import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { chromiumPath, startChromium } from "../../../../test/outside/chromium.js"

const site = "http://atelier.test"

const script = await readFile(new URL("../../browser/terminal.js", import.meta.url), "utf8")

/** What the script needs of the library. */
const library = `
  export class FitAddon { fit() {} }
  export class Terminal {
    textarea = document.createElement("textarea")
    loadAddon() {}
    open() {}
    focus() {}
    reset() {}
    write() {}
    onData() { return { dispose() {} } }
    onResize() {}
  }`

const pageOf = (agent: string): string => `<!doctype html><title>terminal</title>
<body data-agent="${agent}" data-base=""><div id="terminal"></div><p id="notice" role="status" hidden></p>
<script type="module" src="/terminal/terminal.js"></script></body>`

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const ofService = { "x-service-build-version": "v1", "content-type": "text/html" }

describe.skipIf(chromiumPath === undefined)("the page of a terminal whose connection is lost", () => {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  /**
   * Whether the page is loaded again after an answer, rather than that its script connects a third time; undefined for a request without one. `close` is how
   * its connections end: with a reason, the page shows it while it tries again.
   */
  const isLoadedAgain = async (
    answer: Answer | undefined,
    close: { readonly code: number; readonly reason?: string } = { code: 1011 }
  ): Promise<boolean> => {
    if (browser === undefined) throw new Error("Chromium has not started")
    const context = await browser.newContext()
    const page = await context.newPage()
    const shown = close.reason === undefined ? Promise.resolve() : page.getByText(close.reason).waitFor()
    shown.catch(() => undefined)
    let connections = 0
    let loads = 0
    const isLoaded = new Promise<boolean>((resolve, reject) => {
      const opened = async (): Promise<void> => {
        await page.routeWebSocket("**/pty**", (socket) => {
          if (++connections === 3) void shown.then(() => resolve(false), reject)
          else void socket.close(close)
        })
        await page.route(`${site}/**`, (route) => {
          const { pathname } = new URL(route.request().url())
          if (pathname.startsWith("/terminal/")) {
            return route.fulfill({ contentType: "text/javascript", body: pathname.endsWith("terminal.js") ? script : library })
          }
          if (!route.request().isNavigationRequest()) return answer === undefined ? undefined : route.fulfill(answer)
          if (++loads === 2) resolve(true)
          return route.fulfill({ headers: ofService, body: pageOf("one") })
        })
        await page.goto(`${site}/@ada/dev/terminal`)
      }
      opened().catch(reject)
    })
    return isLoaded.finally(() => context.close())
  }

  it.concurrent.each<readonly [string, Answer]>([
    ["the page of the agent of a new build", { status: 200, headers: ofService, body: pageOf("two") }],
    ["the page of a stopped workspace", { status: 400, headers: ofService }],
    ["the page of a workspace that is gone", { status: 404, headers: ofService }],
    ["a redirect to the login", { status: 303, headers: { location: "/login" } }]
  ])("is loaded again after %s", async (_, answer) => {
    expect(await isLoadedAgain(answer)).toBe(true)
  })

  it.concurrent.each<readonly [string, Answer | undefined]>([
    ["the page itself", { status: 200, headers: ofService, body: pageOf("one") }],
    ["a proxy that has no service", { status: 404, headers: { "content-type": "text/html" } }],
    ["a refusal for a while", { status: 429, headers: ofService }],
    ["a failure", { status: 503, headers: ofService }],
    ["a request without an answer", undefined]
  ])("tries again after %s", async (_, answer) => {
    expect(await isLoadedAgain(answer)).toBe(false)
  })

  const away = { code: 1008, reason: "The workspace's agent has lost its connection." }

  it("says why the service has ended the terminal while it tries again", async () => {
    expect(await isLoadedAgain({ status: 200, headers: ofService, body: pageOf("one") }, away)).toBe(false)
  })

  it("is loaded again once the service has ended the terminal of a workspace that is gone", async () => {
    expect(await isLoadedAgain({ status: 404, headers: ofService }, away)).toBe(true)
  })
})
