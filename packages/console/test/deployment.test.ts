/** The deployment's settings, as its owner changes them. */
import { InsightsRepository } from "@atelier/core/insights"
import { Timestamp } from "@atelier/core/platform"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { testEngines } from "../../../test/outside/engine.js"
import { aTemplate } from "../../../test/http/templates.js"
import { describeConsole, expectWellMade } from "./browser.js"
import { visitorOf } from "./visiting.js"

describeConsole(
  "what owners set for a deployment",
  (console) => {
    it("tell how the deployment is used, as charts and as tables", async () => {
      const { open, server } = console()
      const { id: template_id } = await aTemplate(server, {}, { name: "used", display_name: "Used" })
      const member = await server.aMember({ username: "worker" })
      const yesterday = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000
      await server.run(
        Effect.flatMap(InsightsRepository, ({ putUsage }) =>
          putUsage(
            [server.owner(), member].map(({ user }, index) => ({
              start_time: Timestamp.fromMillis(yesterday + 3_600_000),
              end_time: Timestamp.fromMillis(yesterday + 5_400_000),
              template_id,
              user_id: user.id,
              median_latency_ms: 20 + 300 * index,
              usage_mins: 30,
              ssh_mins: 12,
              sftp_mins: 0,
              reconnecting_pty_mins: 0,
              vscode_mins: 0,
              jetbrains_mins: 0,
              app_usage_mins: {}
            }))
          )
        )
      )
      const { close, go, page } = await open("auditor")
      await go("/deployment/insights?zone=UTC&range=week")
      const active = page.getByRole("figure", { name: "Active users of templates" })
      await active.getByRole("img").focus()
      for (const key of ["End", "ArrowLeft"]) await page.keyboard.press(key)
      const date = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" }).format(yesterday)
      await active.getByRole("status").getByText(date).waitFor()
      await active.getByRole("button", { name: "Show as a table" }).click()
      await active.getByRole("row", { name: `${date} 2` }).waitFor()
      await page
        .getByRole("table", { name: "Applications" })
        .getByRole("row", { name: /SSH.*24 min/ })
        .waitFor()
      await page
        .getByRole("table", { name: "Latency by user" })
        .getByRole("row", { name: /worker.*320 ms/ })
        .waitFor()
      await expectWellMade(page)
      await page.getByLabel("Range").selectOption("today")
      await page.getByText("No user has used a workspace in this time.").first().waitFor()
      expect(new URL(page.url()).search).toContain("range=today")
      await page.goBack()
      await close()
      const other = await open("member")
      await other.go("/deployment/insights")
      await other.page.getByText("You have no access to this, or it does not exist").waitFor()
      expect(await other.page.getByRole("link", { name: "Insights" }).count()).toBe(0)
      await other.close()
    })

    it("have screens, also without a barrier and a sideways scroll where there is nothing yet", async () => {
      const { open } = console()
      const { close, go, page } = await open("owner")
      await go("/about")
      const visit = visitorOf(page)
      // `everyScreen.test.ts` measures the screens of a deployment with data
      const measured = ["/deployment/oauth2-provider/apps", "/deployment/workspace-proxies", "/organizations/default/idp-sync?part=roles"]
      for (const [path, seen] of [
        ["/deployment", "Access URL"],
        ["/deployment/options", "Access URL"],
        ["/deployment/appearance", "Name and logo"],
        ["/deployment/notifications", "Pause all notifications"],
        ["/deployment/oauth2-provider/apps", "No application"],
        ["/deployment/workspace-proxies", "Workspace proxies"],
        ["/deployment/licenses", "Features"],
        ["/deployment/prebuilds", "Pause the making of prebuilt workspaces"],
        ["/deployment/idp-org-sync", "How memberships follow from claims"],
        ["/organizations/default/idp-sync", "How groups follow from claims"],
        ["/organizations/default/idp-sync?part=roles", "How roles follow from claims"],
        ["/about", "Interface of agents"]
      ] as const) {
        await visit(path)
        await page.getByText(seen, { exact: true }).first().waitFor()
        if (measured.includes(path)) await expectWellMade(page)
      }
      await close()
    })

    it("lead a user to the first part that the user may see", async () => {
      const { open } = console()
      const { close, context, go, page } = await open("auditor")
      await go("/deployment")
      await page.waitForURL(/\/deployment\/options$/)
      const parts = page.getByRole("navigation", { name: "Parts of the deployment" })
      await parts.getByRole("link", { name: "Options" }).waitFor()
      expect(await parts.getByRole("link", { name: "Health" }).count()).toBe(0)
      const places = page.getByRole("navigation", { name: "Main navigation" })
      const current = () => places.locator('[aria-current="page"]').allTextContents()
      // The sidebar asks for itself, and may be answered later
      await expect.poll(current).toStrictEqual(["Deployment"])
      await parts.getByRole("link", { name: "Insights" }).click()
      await expect.poll(current).toStrictEqual(["Insights"])
      await go("/health")
      await page.getByText("You have no access to this, or it does not exist").waitFor()
      await parts.getByRole("link", { name: "Options" }).waitFor()
      expect(await page.getByRole("button", { name: "Check again" }).count()).toBe(0)
      // No tab shows before the answer and goes away with it
      let release = (): void => undefined
      const released = new Promise<void>((resolve) => (release = resolve))
      await context.route("**/api/v2/authcheck", (request) => released.then(() => request.continue()))
      await go("/deployment/options")
      await parts.getByRole("link", { name: "Options" }).waitFor()
      expect(await parts.getByRole("link", { name: "Health" }).count()).toBe(0)
      release()
      await parts.getByRole("link", { name: "Insights" }).waitFor()
      expect(await parts.getByRole("link", { name: "Health" }).count()).toBe(0)
      await close()
    })

    it("give groups by claims, and show beforehand what claims would give", async () => {
      const { open, server } = console()
      const { token } = server.owner()
      await server.call("POST", "/organizations/default/groups", { token, body: { name: "engineering", display_name: "Engineering" } })
      const { close, go, page } = await open("owner")
      await go("/organizations/default/idp-sync")
      const claims = page.getByRole("textbox", { name: "Claims or token" })
      const result = page.getByRole("status").filter({ hasText: "The user would get" })
      await page.getByRole("combobox", { name: "Claim", exact: true }).fill("groups")
      await claims.fill('{"groups": ["engineering", "devs", "<b>other</b>"]}')
      await result.getByText("The user would get Engineering.").waitFor()
      // The preview uses unsaved input, which a refetch keeps
      await page.getByRole("textbox", { name: /^Filter/ }).fill("^dev")
      await page.getByRole("switch", { name: /Create missing groups/ }).check()
      await result.getByText("The user would get devs.").waitFor()
      await page.getByRole("combobox", { name: "Value of the claim" }).fill("devs")
      await page.getByRole("combobox", { name: "Give groups" }).click()
      await page.getByRole("option", { name: "Engineering" }).click()
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Add", exact: true }).click()
      await page.getByRole("row", { name: /devs Engineering/ }).waitFor()
      await result.getByText("The user would get Engineering.").waitFor()
      expect(await page.getByRole("textbox", { name: /^Filter/ }).inputValue()).toBe("^dev")
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("The sync was changed").waitFor()
      const settings = async () => (await server.call("GET", "/organizations/default/settings/idpsync/groups", { token })).body
      expect(await settings()).toMatchObject({
        field: "groups",
        regex_filter: "^dev",
        auto_create_missing_groups: true,
        mapping: { devs: [expect.any(String)] }
      })
      await claims.fill("not claims")
      await page.getByText("This is neither JSON nor a token.").waitFor()
      // An expression of the server's kind is quick there; this one would never end in a browser
      await claims.fill(JSON.stringify({ groups: [`${"a".repeat(60)}!`] }))
      await page.getByRole("textbox", { name: /^Filter/ }).fill(String.raw`^(\w+\s?)+$`)
      await page.getByText("The filter takes too long in the browser.").waitFor()
      await page.getByRole("textbox", { name: /^Filter/ }).fill("(")
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByRole("alert").first().waitFor()
      await expectWellMade(page)
      await page.getByRole("button", { name: "Remove the mapping of devs" }).click()
      await page.getByText("No value is mapped.").waitFor()
      expect(await settings()).toMatchObject({ mapping: {}, regex_filter: "^dev" })
      await close()
      const other = await open("member")
      await other.go("/organizations/default/idp-sync")
      await other.page.getByText("You have no access to this, or it does not exist").waitFor()
      expect(await other.page.getByRole("link", { name: "Provider sync" }).count()).toBe(0)
      await other.go("/about")
      await other.page.getByText("Interface of agents").waitFor()
      await other.close()
    })

    it("pause the making of prebuilt workspaces, and lead there from the palette", async () => {
      const { open, server } = console()
      const { token } = server.owner()
      // As a first attempt may have left it otherwise
      await server.call("PUT", "/prebuilds/settings", { token, body: { reconciliation_paused: false } })
      const { close, go, page } = await open("owner")
      await go("/workspaces")
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog").getByRole("combobox").fill("prebuilds")
      await page.getByRole("option", { name: "Deployment: Prebuilds" }).click()
      const pause = page.getByRole("switch", { name: /Pause the making/ })
      // What was clicked is shown at once, not when the component hears of its own request
      expect(
        await pause.evaluate(async (element: HTMLInputElement) => {
          element.click()
          for (let step = 0; step < 10; step++) await Promise.resolve()
          return element.checked
        })
      ).toBe(true)
      await page.getByText("Saved").waitFor()
      expect((await server.call("GET", "/prebuilds/settings", { token })).body).toStrictEqual({
        reconciliation_paused: true
      })
      await close()
    })

    it("find an option by its words", async () => {
      const { open } = console()
      const { close, go, page } = await open("owner")
      await go("/deployment/options")
      await page.getByLabel("Find an option").fill("wildcard url")
      await page.getByText("Wildcard Access URL").waitFor()
      expect(await page.getByText("Autobuild Poll Interval").count()).toBe(0)
      await close()
    })

    it("announce something to everyone", async () => {
      const { open } = console()
      const { close, go, page } = await open("owner")
      await go("/deployment/appearance")
      await page.getByRole("button", { name: "Add an announcement" }).click()
      await page
        .getByLabel("Message")
        .fill("The databases move on **Sunday**: [the plan](https://example.com/plan), [a trap](javascript:alert(1)) <b>and no tag</b>")
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved").waitFor()
      const other = await open("member")
      await other.go("/workspaces")
      const banner = other.page.locator(".banner")
      await banner.getByRole("link", { name: "the plan" }).waitFor()
      expect(await banner.locator("strong").allTextContents()).toStrictEqual(["Sunday"])
      expect(await banner.textContent()).toBe("The databases move on Sunday: the plan, a trap <b>and no tag</b>")
      const links = await banner.getByRole("link").evaluateAll((all) => all.map((link) => link.getAttribute("href")))
      expect(links).toStrictEqual(["https://example.com/plan"])
      await expectWellMade(other.page)
      await other.close()
      await close()
    })

    it("register an application with a secret that is shown once", async () => {
      const { open } = console()
      const { close, go, page } = await open("owner")
      await go("/deployment/oauth2-provider/apps")
      await page.getByRole("button", { name: "New application" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Name").fill("Dashboard")
      await dialog.getByLabel("Callback URL").fill("https://dashboard.example.com/callback")
      await dialog.getByRole("button", { name: "New application" }).click()
      await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor()
      await page.getByRole("button", { name: "New secret" }).click()
      await page.getByRole("heading", { name: "Copy the secret now" }).waitFor()
      const secret = (await page.locator("pre").textContent()) ?? ""
      expect(secret.length).toBeGreaterThan(20)
      await page.getByRole("button", { name: "Done" }).click()
      await page.getByRole("button", { name: "Delete secret" }).waitFor()
      expect(await page.content()).not.toContain(secret)
      await expectWellMade(page)
      await close()
    })

    it("make a key for provisioners and a token for a proxy", async () => {
      const { open } = console()
      const { close, go, page } = await open("owner")
      await go("/organizations/default/provisioners")
      await page.getByRole("button", { name: "New key" }).click()
      await page.getByRole("dialog").getByLabel("Name").fill("builders")
      await page.getByRole("dialog").getByLabel("Tags optional").fill("zone=north")
      await page.getByRole("dialog").getByRole("button", { name: "New key" }).click()
      await page.getByRole("heading", { name: "Copy the key now" }).waitFor()
      await page.getByRole("button", { name: "Done" }).click()
      await page.getByText("zone=north").waitFor()

      await go("/deployment/workspace-proxies")
      await page.getByRole("button", { name: "New proxy" }).click()
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("north")
      await page.getByRole("dialog").getByRole("button", { name: "New proxy" }).click()
      await page.getByRole("heading", { name: "Copy the token now" }).waitFor()
      await page.getByRole("button", { name: "Done" }).click()
      await page.getByText("Never connected").waitFor()
      await close()
    })
  },
  { provisioner: testEngines }
)
