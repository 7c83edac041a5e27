/** The user's own account, as its owner sees and changes it. */
import { expect, it } from "vitest"
import { ownerPassword } from "../../../test/http/server.js"
import { describeConsole, expectWellMade } from "./browser.js"
import { visitorOf } from "./visiting.js"

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqfD5pQ0oQy6bqQ2yS6n1dDPCs7B1Wq8oA0P5tq1pGm ada@laptop"

describeConsole("the settings of a user", (console) => {
  it("show each part, also without a barrier and a sideways scroll where there is nothing yet", async () => {
    const { open } = console()
    const { close, go, page } = await open("member")
    await go("/settings")
    const visit = visitorOf(page)
    // `everyScreen.test.ts` measures the screens of a deployment with data
    const measured = ["/settings/tokens", "/settings/secrets", "/settings/external-auth"]
    for (const [path, heading] of [
      ["/settings", "Profile"],
      ["/settings/security", "Password"],
      ["/settings/tokens", "You have no tokens"],
      ["/settings/tokens/new", "New token"],
      ["/settings/ssh-keys", "Key for git"],
      ["/settings/secrets", "You have no secrets"],
      ["/settings/external-auth", "This deployment is connected to no other service"],
      ["/settings/notifications", "Workspace Events"],
      ["/settings/appearance", "Theme"],
      ["/settings/schedule", "Quiet hours"]
    ] as const) {
      await visit(path)
      await page.getByRole("heading", { level: 2, name: heading, exact: true }).waitFor()
      if (measured.includes(path)) await expectWellMade(page)
    }
    await close()
  })

  it("change the profile, and say what is wrong with it", async () => {
    const { open, server } = console()
    const { close, go, page } = await open("member")
    await go("/settings/account")
    await page.getByLabel("Username").fill("not a name!")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("alert").first().waitFor()
    expect(await page.getByLabel("Username").getAttribute("aria-invalid")).toBe("true")
    await page.getByLabel("Username").fill("member")
    await page.getByLabel("Name optional").fill('<img src="x" onerror="alert(1)">')
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    const { token } = await console().person("member")
    expect((await server.call("GET", "/users/me", { token })).body).toMatchObject({ name: '<img src="x" onerror="alert(1)">' })
    await close()
  })

  it("make a token within limits, show it once, and delete it", async () => {
    const { open, server } = console()
    const { close, go, page } = await open("owner")
    await go("/settings/tokens/new")
    await page.getByLabel("Name", { exact: false }).first().fill("laptop")
    await page.getByLabel("Lifetime").selectOption("7")
    await page.getByRole("combobox", { name: "Scopes" }).click()
    await page.getByRole("option", { name: "user:read", exact: true }).click()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Create token" }).click()
    await page.getByRole("heading", { level: 1, name: "Your new token" }).waitFor()
    await expectWellMade(page)
    const token = (await page.locator("pre").textContent()) ?? ""
    expect((await server.call("GET", "/users/me", { token })).status).toBe(200)
    expect((await server.call("POST", "/users/me/keys/tokens", { token, body: {} })).status).toBe(403)

    await page.getByRole("link", { name: "Back to the tokens" }).click()
    const row = page.getByRole("row", { name: /laptop/ })
    await row.waitFor()
    expect(await page.content()).not.toContain(token)
    await row.getByRole("button", { name: "Actions for laptop" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("laptop is deleted").waitFor()
    expect((await server.call("GET", "/users/me", { token })).status).toBe(401)
    await close()
  })

  it("hold keys of computers, and refuse what is no key", async () => {
    const { open } = console()
    const { close, go, page } = await open("owner")
    await go("/settings/ssh-keys")
    await page.getByRole("button", { name: "Add key" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Public key").fill("no key")
    await dialog.getByRole("button", { name: "Add key" }).click()
    await dialog.getByRole("alert").first().waitFor()
    await dialog.getByLabel("Public key").fill(publicKey)
    await dialog.getByRole("button", { name: "Add key" }).click()
    await page.getByText("ada@laptop").waitFor()
    await page.getByRole("button", { name: "Delete ada@laptop" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("Key deleted").waitFor()
    await close()
  })

  it("hold secrets: make, import, turn off, change and delete them, and never show a value", async () => {
    const { open, server } = console()
    const { token } = await console().person("member")
    const { close, go, page } = await open("member")
    const dialog = page.getByRole("dialog")
    await go("/settings/secrets")
    await page.getByRole("button", { name: "New secret" }).click()
    await dialog.waitFor()
    await expectWellMade(page)
    await dialog.getByLabel("Name", { exact: true }).fill("PATH")
    await dialog.getByLabel("Value").fill("hush-1")
    expect(await dialog.getByRole("textbox", { name: /Variable/ }).inputValue()).toBe("PATH")
    await dialog.getByRole("button", { name: "Add secret" }).click()
    await dialog.getByRole("alert").filter({ hasText: "reserved" }).waitFor()
    await dialog.getByLabel("Name", { exact: true }).fill("NPM_TOKEN")
    await dialog.getByRole("button", { name: "Add secret" }).click()
    await page.getByText("NPM_TOKEN was added").waitFor()
    await page.getByRole("row", { name: /NPM_TOKEN/ }).waitFor()
    expect(new URL(page.url()).search).toBe("")

    await page.goto(`${console().base}/settings/secrets?open=import`)
    await dialog.waitFor()
    await expectWellMade(page)
    await dialog.getByLabel("File optional").setInputFiles({
      name: "team.json",
      mimeType: "application/json",
      buffer: Buffer.from('{ "DEPLOY_KEY": "hush-2", "a.b": "hush-3" }')
    })
    await expect.poll(() => dialog.getByLabel("Format").inputValue()).toBe("json")
    await dialog.getByRole("button", { name: "Import" }).click()
    await page.getByText("2 secrets were added").waitFor()
    await expectWellMade(page)

    await page
      .getByRole("row", { name: /NPM_TOKEN/ })
      .getByRole("button", { name: "Actions for NPM_TOKEN" })
      .click()
    await page.getByRole("menuitem", { name: "Turn off" }).click()
    await page.getByText("Workspaces do not get NPM_TOKEN").waitFor()
    await page
      .getByRole("row", { name: /DEPLOY_KEY/ })
      .getByRole("button", { name: "Actions for DEPLOY_KEY" })
      .click()
    await page.getByRole("menuitem", { name: "Change" }).click()
    await dialog.getByRole("textbox", { name: /File/ }).fill("~/.deploy")
    await dialog.getByRole("button", { name: "Save" }).click()
    await page.getByText("DEPLOY_KEY was changed").waitFor()
    await page.getByRole("row", { name: /a\.b/ }).getByRole("button", { name: "Actions for a.b" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByText("a.b was deleted").waitFor()
    expect((await server.call("GET", "/users/me/secrets", { token })).body).toMatchObject([
      { name: "DEPLOY_KEY", env_name: "DEPLOY_KEY", file_path: "~/.deploy", enabled: true },
      { name: "NPM_TOKEN", env_name: "NPM_TOKEN", file_path: "", enabled: false }
    ])
    expect(await page.content()).not.toContain("hush-")
    await close()
  })

  it("switch notifications of an event off by a message's link", async () => {
    const { open, server } = console()
    const { token } = server.owner()
    const templates = (await server.call("GET", "/notifications/templates/system", { token })).body as ReadonlyArray<{
      readonly id: string
      readonly name: string
    }>
    const { id = "", name = "" } = templates.find((template) => template.name === "Workspace Deleted") ?? {}
    const { close, go, page } = await open("owner")
    await go(`/settings/notifications?disabled=${id}`)
    await page.getByRole("button", { name: "Stop them" }).click()
    await page.getByText("Saved").waitFor()
    expect(await page.getByRole("switch", { name }).isChecked()).toBe(false)
    // What programs of the user send can be switched off too
    const [custom] = (await server.call("GET", "/notifications/templates/custom", { token })).body as typeof templates
    await go(`/settings/notifications?disabled=${custom?.id ?? ""}`)
    await page.getByRole("button", { name: "Stop them" }).click()
    await expect.poll(() => page.getByRole("switch", { name: custom?.name ?? "" }).isChecked()).toBe(false)
    await close()
  })

  it("change the password, which ends the session", async () => {
    const { open } = console()
    const { close, go, page } = await open("owner")
    await go("/settings/security")
    await page.getByLabel("Current password").fill("wrong")
    await page.getByLabel("New password", { exact: true }).fill("AnotherSecurePassword!")
    await page.getByLabel("New password again").fill("Different")
    await page.getByRole("button", { name: "Change password" }).click()
    await page.getByText("The two new passwords differ.").waitFor()
    await page.getByLabel("New password again").fill("AnotherSecurePassword!")
    await page.getByRole("button", { name: "Change password" }).click()
    await page.getByRole("alert").first().waitFor()
    await page.getByLabel("Current password").fill(ownerPassword)
    await page.getByRole("button", { name: "Change password" }).click()
    await page.waitForURL(/\/login\?redirect=/)
    await close()
  })
})
