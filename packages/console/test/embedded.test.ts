/** The console as a host embeds it: at a path of its own, with the host's name, logo, colours and a link back. */
import { expect, it } from "vitest"
import { describeConsole, expectWellMade } from "./browser.js"

describeConsole(
  "the console of a host",
  (console) => {
    it("has the host's path, name, colours and entry, in both themes", async () => {
      const { base, open } = console()
      const { close, go, page } = await open("owner")
      await go("/workspaces")
      expect(new URL(page.url()).pathname).toBe("/desk/workspaces")
      expect(await page.title()).toBe("Workspaces · Example")
      const sidebar = page.getByLabel("Main navigation")
      expect(await sidebar.getByRole("link", { name: "Back to Example" }).getAttribute("href")).toBe("/example")
      const accent = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim())
      const onAccent = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--on-accent").trim())
      for (const [colorScheme, colour, text] of [
        ["dark", "#5fd0a5", "#000000"],
        ["light", "#0b6e4f", "#ffffff"]
      ] as const) {
        await page.emulateMedia({ colorScheme })
        await expect.poll(accent).toBe(colour)
        expect(await onAccent()).toBe(text)
      }
      await sidebar.getByRole("link", { name: "Templates" }).click()
      await page.waitForURL(`${base}/desk/templates`)
      await page.reload()
      await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor()
      await expectWellMade(page)
      await close()
    })

    it("has the product's mark in place of a logo that does not load", async () => {
      const { close, go, page } = await console().open("owner")
      const logo = "**/icon/widgets.svg"
      await page.route(logo, (route) => route.fulfill({ contentType: "image/svg+xml", body: "no picture" }))
      await go("/desk/workspaces")
      await page.locator(".brand svg.mark").waitFor()
      expect(await page.locator(".brand img").count()).toBe(0)
      await page.unroute(logo)
      await close()
    })

    it("moves nothing for users who want no motion", async () => {
      const { close, go, page } = await console().open("owner")
      await go("/desk/workspaces")
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog").waitFor()
      const longest = () =>
        page.evaluate(() => Math.max(0, ...document.getAnimations().map((each) => Number(each.effect?.getComputedTiming().duration ?? 0))))
      expect(await longest()).toBeLessThan(1)
      await close()
    })
  },
  {
    console: { path: "/desk", navigation: [{ label: "Back to Example", address: "/example", icon: "/icon/widgets.svg" }] },
    appearance: { name: "Example", logo: "/icon/widgets.svg", accent: { light: "#0b6e4f", dark: "#5fd0a5" } }
  }
)
