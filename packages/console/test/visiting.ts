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

/** Settles when the browser has drawn. */
export const nextPicture = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
  })

/**
 * Goes to a screen, if one is given, and waits until it has a heading and no skeleton. A screen that is quiet twice, with a picture between, has drawn
 * what it was given. Answers what keeps it from being quiet after so many milliseconds. It runs in the page: each question from outside takes as long
 * as a picture.
 */
const rest = async ([path, longest]: readonly [path: string | undefined, longest: number]): Promise<Unrest | undefined> => {
  if (path !== undefined) history.pushState(null, "", path)
  const end = performance.now() + longest
  for (let looks = 0, quiet = 0; ; looks++) {
    await new Promise<void>((resolve) => {
      if (looks > 0 && quiet === 0) setTimeout(resolve, 25)
      else requestAnimationFrame(() => setTimeout(resolve))
    })
    const state = (window as unknown as RouterWindow).__TSR_ROUTER__?.state
    const seen = {
      isMoving: state?.status !== "idle" || state.location.href !== state.resolvedLocation?.href,
      heading: document.querySelector("h1")?.textContent ?? undefined,
      placeholders: document.querySelectorAll('main .skeleton, main [aria-busy="true"]').length
    }
    quiet = !seen.isMoving && seen.heading !== undefined && seen.placeholders === 0 ? quiet + 1 : 0
    if (quiet === 2) return undefined
    if (performance.now() > end) return seen
  }
}

/** Follows the requests of a page. Returns a function that goes to a screen and waits until it is quiet: it has a heading, no skeleton and no request. */
export const visitorOf = (page: Page): ((path: string) => Promise<void>) => {
  const open = new Set<Request>()
  let begun = 0
  let heard = (): void => {}
  page.on("request", (request) => {
    begun += 1
    open.add(request)
  })
  const ended = (request: Request): void => {
    open.delete(request)
    if (open.size === 0) heard()
  }
  page.on("requestfinished", ended)
  page.on("requestfailed", ended)
  const answered = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      heard = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return async (path) => {
    const end = Date.now() + longestWait
    let before: number
    let target: string | undefined = path
    do {
      before = begun
      const seen = await page.evaluate(rest, [target, end - Date.now()] as const)
      target = undefined
      if (open.size > 0) await answered(end - Date.now())
      if (seen !== undefined || open.size > 0) {
        const waiting = Array.from(open, (request) => request.url())
        throw new Error(`${path} is not quiet: ${JSON.stringify({ ...seen, waiting })}`)
      }
      // A request that began during the drawing is drawn after its answer
    } while (begun !== before)
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
