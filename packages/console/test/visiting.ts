/** Goes from screen to screen without loading the page again, and looks for what no screen may have. */
import type { Page, Request } from "playwright-core"
import { attack } from "./seeded.js"

/** How long a screen may take until it is quiet, in milliseconds. */
const longestWait = 60_000

/** What keeps a screen from being quiet. */
interface Unrest {
  readonly isMoving: boolean
  readonly heading: string | undefined
  readonly placeholders: number
}

/** The router puts itself there for developers' tools. */
interface RouterWindow {
  readonly __TSR_ROUTER__?: {
    readonly state: {
      readonly status: string
      readonly location: { readonly href: string }
      readonly resolvedLocation?: { readonly href: string }
    }
  }
}

const unrest = (): Unrest => {
  const state = (window as unknown as RouterWindow).__TSR_ROUTER__?.state
  return {
    isMoving: state?.status !== "idle" || state.location.href !== state.resolvedLocation?.href,
    heading: document.querySelector("h1")?.textContent ?? undefined,
    placeholders: document.querySelectorAll('main .skeleton, main [aria-busy="true"]').length
  }
}

/** Settles when the browser has drawn. */
export const nextPicture = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
  })

/** Follows the requests of a page. Returns a function that goes to a screen and waits until it is quiet: it has a heading, no skeleton and no request. */
export const visitorOf = (page: Page): ((path: string) => Promise<void>) => {
  const open = new Set<Request>()
  page.on("request", (request) => open.add(request))
  page.on("requestfinished", (request) => open.delete(request))
  page.on("requestfailed", (request) => open.delete(request))
  return async (path) => {
    await page.evaluate((to) => history.pushState(null, "", to), path)
    const end = Date.now() + longestWait
    // A screen that is quiet twice, with a picture between, has drawn the last answer
    for (let quiet = 0; quiet < 2;) {
      await page.evaluate(nextPicture)
      const seen = await page.evaluate(unrest)
      const isQuiet = !seen.isMoving && seen.heading !== undefined && seen.placeholders === 0 && open.size === 0
      quiet = isQuiet ? quiet + 1 : 0
      if (Date.now() > end) {
        const waiting = Array.from(open, (request) => request.url())
        throw new Error(`${path} is not quiet: ${JSON.stringify({ ...seen, waiting })}`)
      }
    }
  }
}

/** The headings of a screen whose user may not see it. */
export const isRefused = (page: Page): Promise<boolean> =>
  page.getByRole("heading", { name: "You have no access to this, or it does not exist" }).first().isVisible()

/** What shows that a text of another person did more than show itself. */
export const harmOf = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const found: Array<string> = []
    if ("attacked" in window) found.push("a script of a text ran")
    for (const element of document.querySelectorAll('img[src="x"], [onerror]')) found.push(element.outerHTML.slice(0, 200))
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const parent = node.parentElement
      // Texts of one author, who may turn them as they like
      const isWhole = parent?.closest(".cm-content, .xterm, .markdown, .diff, pre") !== null
      if (parent === null || isWhole || node.textContent?.includes("\u202E") !== true) continue
      const { display, unicodeBidi } = getComputedStyle(parent)
      // The direction ends with a box of its own, and with an element that isolates it
      const isOpen = display === "inline" && !unicodeBidi.includes("isolate")
      if (isOpen || node.nextSibling !== null) found.push(`turns what follows: ${parent.outerHTML.slice(0, 300)}`)
    }
    for (const row of document.querySelectorAll("main .list-row")) {
      const title = row.querySelector(":scope > .list-main")?.getBoundingClientRect()
      for (const badge of row.querySelectorAll(":scope > .badge")) {
        if (title !== undefined && badge.getBoundingClientRect().top >= title.bottom) found.push(`below its row: ${badge.textContent}`)
      }
    }
    return found
  })

/** Whether a text that attacks is seen on a screen. */
export const showsAttack = (page: Page): Promise<boolean> =>
  page.evaluate((text) => document.querySelector("main")?.textContent.includes(text) === true, attack.slice(0, 20))

/** What lies outside of a screen's width, texts that are squeezed to a few letters a line, and badges that have no room beside their row's title. */
export const misfitsOf = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const found = [document.documentElement, ...document.querySelectorAll("main")]
      .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
      .map(({ clientWidth, scrollWidth, tagName }) => `${tagName.toLowerCase()}: ${scrollWidth} of ${clientWidth} pixels`)
    const texts = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const text = node.textContent?.trim() ?? ""
      if (text.length < 8 || text.length > 100 || node.parentElement?.closest(".visually-hidden, .xterm") !== null) continue
      range.selectNodeContents(node)
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size
      if (lines > 2 && text.length / lines < 5) found.push(`${lines} lines: ${text}`)
    }
    return found
  })
