/** Windows of a browser in which tests use the console. */
import type { Browser, BrowserContext, ConsoleMessage, Page } from "playwright-core"

/** A window of one person, without what other windows have stored. */
export interface Window {
  readonly page: Page
  readonly context: BrowserContext
  /** Goes to an address of the console, and waits for its heading. */
  readonly go: (path: string) => Promise<void>
  /**
   * Ends the window. Another test may be given it, emptied. A test that sets the window's clock or adds scripts to its pages cannot undo that: it closes
   * the context instead.
   */
  readonly close: () => Promise<void>
}

/** Of a new window, in pixels. */
export const size = { width: 1440, height: 900 } as const

/** A refusal of the interface is an answer that the screens show. The browser notes it too. */
const isRefusal = (message: ConsoleMessage): boolean =>
  /^Failed to load resource: .* status of 4\d\d/.test(message.text()) && message.location().url.includes("/api/")

/** The machine got another network, of containers for example. The console asks again. */
const networkChange = "net::ERR_NETWORK_CHANGED"

const isNetworkChange = (message: ConsoleMessage): boolean => message.text().includes(networkChange)

const load = async (page: Page, address: string): Promise<void> => {
  const tried = () => page.goto(address)
  await tried().catch((error: unknown) => {
    if (!String(error).includes(networkChange)) throw error
    return tried()
  })
}

/** Removes what pages of an origin have stored, but for cookies. */
const forget = async (): Promise<void> => {
  localStorage.clear()
  sessionStorage.clear()
  for (const { name } of await indexedDB.databases())
    await new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name ?? "")
      request.addEventListener("success", resolve)
      request.addEventListener("error", () => reject(new Error(`${name} was not deleted`)))
    })
}

const watched = ["console", "pageerror", "request", "requestfinished", "requestfailed"] as const

/**
 * Opens windows of a browser on the console at an address, each with a session of its own. A window that was closed is opened again: a new one has a
 * process of its own, which compiles the console anew, and takes a quarter of a second more of the processor's time.
 */
export const windowsOf = (browser: Browser, base: string, complaints: Array<string>): ((token: string | undefined) => Promise<Window>) => {
  const closed: Array<Pick<Window, "context" | "page">> = []

  const newWindow = async (): Promise<Pick<Window, "context" | "page">> => {
    const context = await browser.newContext({ viewport: size, reducedMotion: "reduce" })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    return { context, page }
  }

  const watch = (page: Page): void => {
    page.on("console", (message) => {
      if (message.type() === "error" && !isRefusal(message) && !isNetworkChange(message))
        complaints.push(`${page.url()}: ${message.text()}`)
    })
    page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`))
    page.on("request", (request) => {
      const url = request.url()
      if (!url.startsWith(`${base}/`) && !/^(?:data|blob|about):/.test(url)) complaints.push(`${page.url()}: a request to ${url}`)
    })
  }

  const empty = async ({ context, page }: Pick<Window, "context" | "page">): Promise<void> => {
    for (const event of watched) page.removeAllListeners(event)
    await Promise.all(context.pages().flatMap((other) => (other === page ? [] : [other.close()])))
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await context.unrouteAll({ behavior: "ignoreErrors" })
    // No script of the console runs there, and stores anything
    await load(page, `${base}/api/v2/buildinfo`)
    await page.evaluate(forget)
    await context.clearCookies()
    await context.clearPermissions()
    await page.emulateMedia({ colorScheme: null })
    await page.setViewportSize(size)
  }

  return async (token) => {
    const window = closed.pop() ?? (await newWindow())
    const { context, page } = window
    if (token !== undefined)
      await context.addCookies([{ name: "service_session_token", value: token, url: base, httpOnly: true, sameSite: "Lax" }])
    watch(page)
    const go = async (path: string): Promise<void> => {
      await load(page, `${base}${path}`)
      await page.getByRole("heading", { level: 1 }).first().waitFor()
    }
    const close = async (): Promise<void> => {
      await empty(window)
      closed.push(window)
    }
    return { page, context, go, close }
  }
}
