/**
 * How much work the console gives the browser's main thread, on a list of 10,000 workspaces. Times are of the processor: a busy machine changes them
 * little.
 */
import type { CDPSession, Page } from "playwright-core"
import { expect, it } from "vitest"
import { aTemplate } from "../../../test/http/templates.js"
import { aWorkspace } from "../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../test/outside/engine.js"
import { describeConsole } from "./browser.js"
import type { Window } from "./windows.js"
import { nextPicture } from "./visiting.js"

const count = 10_000

/**
 * Milliseconds of work: until the first paint; from a key to the picture that shows what it did; and for each picture while rows scroll by. On a processor
 * that is four times slower an interaction has 100 milliseconds, and 60 pictures in a second leave 16.7 to each.
 */
const budgets = { load: 600, move: 25, select: 25, menu: 25, frame: 16 }

/** Has the interface answer as many workspaces as the figures are of, each like a real one. */
const answerMany = async ({ context }: Window, one: Readonly<Record<string, unknown>>): Promise<void> =>
  void (await context.route(/\/api\/v2\/workspaces\?/, (route) => {
    const { searchParams } = new URL(route.request().url())
    const [offset, limit] = [Number(searchParams.get("offset") ?? 0), Number(searchParams.get("limit") ?? 0)]
    const workspaces = Array.from({ length: Math.min(limit, count - offset) }, (_, index) => {
      const number = String(offset + index).padStart(12, "0")
      return { ...one, id: `${String(one["id"]).slice(0, 24)}${number}`, name: `w${number}` }
    })
    return route.fulfill({ contentType: "application/json", body: JSON.stringify({ count, workspaces }) })
  }))

/** The function measures the work of the page's main thread, in milliseconds, until the browser has drawn the result. */
const meterOf = async (session: CDPSession, page: Page) => {
  await session.send("Performance.enable", { timeDomain: "threadTicks" })
  const spent = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics")
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000
  }
  return async (act: () => Promise<unknown>): Promise<number> => {
    const before = await spent()
    await act()
    await page.evaluate(nextPicture)
    return (await spent()) - before
  }
}

/** Milliseconds that a page takes for `aFixedPiece` on the processor of the budgets. */
const usualPiece = 22

/** Builds and measures a long list, without the console's code. */
const aFixedPiece = (): void => {
  const list = document.createElement("div")
  list.innerHTML = Array.from({ length: 1_000 }, (_, index) => `<p><b>${index}</b> ${"a word ".repeat(index % 20)}</p>`).join("")
  document.body.append(list)
  list.getBoundingClientRect()
  list.remove()
}

/** The least of up to twenty measurements, which end with the first that is enough: what else the machine does only adds to them. */
const leastOf = async (enough: number, measure: (round: number) => Promise<number>): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 20 && least >= enough; round += 1) least = Math.min(least, await measure(round))
  return least
}

describeConsole(
  "the figures of a long list",
  (console) => {
    it("stay in the budgets of first paint, interaction and scrolling", async () => {
      const { open, server } = console()
      const owner = server.owner()
      const template = await aTemplate(
        server,
        { started: [{ name: "machine", agents: [{ name: "main" }] }] },
        { name: "many", icon: "/icon/nodejs.svg" }
      )
      const { id } = await aWorkspace(server, template, owner, { name: "first" })
      const one = (await server.call("GET", `/workspaces/${id}`, { token: owner.token })).body as Readonly<Record<string, unknown>>
      const window = await open("owner")
      const { context, go, page } = window
      await answerMany(window, one)
      const session = await context.newCDPSession(page)
      const measure = await meterOf(session, page)

      const load = await leastOf(budgets.load, () => measure(() => go("/workspaces")))
      await page.getByRole("row", { name: "w000000000009" }).waitFor()
      const piece = await leastOf(usualPiece, () => measure(() => page.evaluate(aFixedPiece)))
      /** Slower processors have more time, and all have half as much again: programs beside the browser take of its caches. */
      const allowed = 1.5 * Math.max(1, piece / usualPiece)

      const more = (round: number) => page.getByRole("button", { name: `More actions for w${String((round % 8) + 2).padStart(12, "0")}` })
      const menu = await leastOf(budgets.menu, async (round) => {
        await more(round).focus()
        const figure = await measure(() => page.keyboard.press("Enter"))
        // With the picture that ends the measurement
        expect(await page.locator(".menu").count()).toBe(1)
        await page.keyboard.press("Escape")
        await page.getByRole("menu").waitFor({ state: "detached" })
        return figure
      })
      const move = await leastOf(budgets.move, () => measure(() => page.keyboard.press("j")))
      const select = await leastOf(budgets.select, () => measure(() => page.keyboard.press("x")))
      const pictures = 60
      const scroll = await leastOf(budgets.frame * pictures, () =>
        measure(() =>
          page.evaluate(async (left) => {
            for (; left > 0; left -= 1) {
              document.querySelector("main")?.scrollBy(0, 56)
              await new Promise(requestAnimationFrame)
            }
          }, pictures)
        )
      )
      const figures = { piece, load, move, select, menu, frame: scroll / pictures }
      for (const name of ["load", "move", "select", "menu", "frame"] as const)
        expect(figures[name], `${name}: ${JSON.stringify(figures)}`).toBeLessThan(allowed * budgets[name])
      await context.close()
    })
  },
  { provisioner: testEngines }
)
