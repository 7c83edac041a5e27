/** The deployment's settings, as its owner changes them. */
import { expect, it } from "vitest"
import { describeConsole, expectWellMade } from "./browser.js"

describeConsole("the settings of a deployment", (console) => {
  it("have screens without a barrier and without a sideways scroll", async () => {
    const { open } = console()
    const { context, go, page } = await open("owner")
    for (const [path, seen] of [
      ["/deployment", "Access URL"],
      ["/deployment/options", "Access URL"],
      ["/deployment/appearance", "Name and logo"],
      ["/deployment/notifications", "Pause all notifications"],
      ["/deployment/oauth2-provider/apps", "No application"],
      ["/deployment/workspace-proxies", "Workspace proxies"],
      ["/deployment/licenses", "Features"]
    ] as const) {
      await go(path)
      await page.getByText(seen, { exact: true }).first().waitFor()
      await expectWellMade(page)
    }
    await context.close()
  })

  it("find an option by its words", async () => {
    const { open } = console()
    const { context, go, page } = await open("owner")
    await go("/deployment/options")
    await page.getByLabel("Find an option").fill("wildcard url")
    await page.getByText("Wildcard Access URL").waitFor()
    expect(await page.getByText("Autobuild Poll Interval").count()).toBe(0)
    await context.close()
  })

  it("announce something to everyone", async () => {
    const { open } = console()
    const { context, go, page } = await open("owner")
    await go("/deployment/appearance")
    await page.getByRole("button", { name: "Add an announcement" }).click()
    await page.getByLabel("Message").fill("The databases move on Sunday.")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    const other = await open("member")
    await other.go("/workspaces")
    await other.page.getByText("The databases move on Sunday.").waitFor()
    await other.context.close()
    await context.close()
  })

  it("register an application with a secret that is shown once", async () => {
    const { open } = console()
    const { context, go, page } = await open("owner")
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
    await context.close()
  })

  it("make a key for provisioners and a token for a proxy", async () => {
    const { open } = console()
    const { context, go, page } = await open("owner")
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
    await context.close()
  })
})
