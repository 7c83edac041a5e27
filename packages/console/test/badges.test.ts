/** Where badges stand in the rows of a list, at the width of a phone. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { chromiumPath, startChromium } from "../../../test/outside/chromium.js"

const sheet = ["theme/tokens.css", "theme/base.css", "ui/lists/List.css", "ui/page/Badge.css"]
  .map((file) => readFileSync(fileURLToPath(new URL(`../src/${file}`, import.meta.url)), "utf8"))
  .join("\n")

/** A row as `ListRow` makes it: with an icon, and an arrow because it leads somewhere. */
const row = (badge: string): string =>
  `<style>${sheet}</style><ul class="list" style="margin: 16px"><li class="list-item"><a class="list-row list-open">
    <span style="flex: none; width: 30px; height: 30px"></span>
    <span class="list-main"><span class="list-title truncate">Engineering of everything</span><span class="list-second truncate">all</span></span>
    <span class="badge">${badge}</span><svg class="list-chevron"></svg></a></li></ul>`

describe.skipIf(chromiumPath === undefined)("a badge in a row", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser.close())

  it.each(["Default", "Switched off", "Update available"])("stands beside the title at 320 pixels: %s", async (badge) => {
    const page = await browser.newPage({ viewport: { width: 320, height: 600 } })
    await page.setContent(row(badge))
    const place = await page.evaluate(() => {
      const of = (selector: string) => document.querySelector(selector)?.getBoundingClientRect()
      return { badge: of(".badge")?.top ?? 0, title: of(".list-main")?.bottom ?? 0, width: of(".list-main")?.width ?? 0 }
    })
    expect(place.badge).toBeLessThan(place.title)
    expect(place.width).toBeGreaterThan(60)
    await page.close()
  })
})
