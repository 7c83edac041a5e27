/** Makes pictures of all screens: `npm run screenshots`. Each is made in both themes and at each width, over a deployment with something to see. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, it } from "vitest"
import { databases } from "../../../test/store/databases.js"
import { canBrowse, startConsole, widths } from "./browser.js"
import type { Window } from "./windows.js"
import { addressOf, screens, serverPages } from "./screens.js"
import { plain, seed, seededOptions } from "./seeded.js"
import { nextPicture, visitorOf } from "./visiting.js"

/** Where the pictures go; without it none are made. */
const folder = process.env["SCREENSHOTS"]

/** Names of screens to make alone, with commas between them. */
const wanted = process.env["SCREENS"]?.split(",")

/** Takes pictures of what a window shows. */
const picture = async ({ page }: Window, name: string): Promise<void> => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    for (const width of widths) {
      await page.setViewportSize({ width, height: width === 320 ? 720 : 900 })
      // Charts are drawn again in the other colours and width
      await page.evaluate(nextPicture)
      await page.screenshot({ path: join(folder ?? "", `${name}-${colorScheme}-${width}.png`) })
    }
  }
}

describe.skipIf(folder === undefined || !canBrowse)("the pictures", () => {
  it("show each screen", { timeout: 1_800_000 }, async () => {
    mkdirSync(folder ?? "", { recursive: true })
    const console = await startConsole(databases[0][1], seededOptions)
    try {
      let passed = 0
      const places = await seed(console, plain, (hours) => {
        passed += hours * 3_600_000
        console.server.advance(hours * 3_600_000)
      })
      const [signedIn, signedOut] = [await console.open("owner"), await console.open()]
      for (const { page } of [signedIn, signedOut]) await page.clock.setFixedTime(Date.now() + passed)
      const isWanted = (name: string): boolean => wanted === undefined || wanted.includes(name)
      for (const [name, path, needsUser] of serverPages.filter(([name]) => isWanted(name))) {
        const window = needsUser ? signedIn : signedOut
        await window.page.goto(`${console.base}${path}`)
        await picture(window, name)
      }
      await signedIn.go("/about")
      const visit = visitorOf(signedIn.page)
      for (const [name, path] of screens.filter(([name]) => isWanted(name))) {
        await visit(addressOf(path, places))
        await picture(signedIn, name)
      }
      process.stderr.write(console.complaints.map((line) => `${line}\n`).join(""))
    } finally {
      await console.close()
    }
  })
})
