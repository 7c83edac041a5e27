/** Users, organizations, groups, roles and the logs, as administrators, auditors and members see them. */
import { expect, it } from "vitest"
import { describeConsole, expectWellMade } from "./browser.js"
import { visitorOf } from "./visiting.js"

const hostile = `<img src="x" onerror="alert(1)">`

describeConsole("the people of a deployment", (console) => {
  it("have screens, also without a barrier and a sideways scroll where there is nothing yet", async () => {
    const { open, server } = console()
    await server.aMember({ username: "hostile", email: "hostile@example.com", name: hostile })
    const { close, go, page } = await open("owner")
    await go("/about")
    const visit = visitorOf(page)
    // `everyScreen.test.ts` measures the screens of a deployment with data
    const measured = ["/organizations/default/groups", "/organizations/default/groups/Everyone", "/connectionlog"]
    for (const [path, heading] of [
      ["/users?filter=hostile", "Users"],
      ["/deployment/users/hostile", hostile],
      ["/organizations", "Organizations"],
      ["/organizations/default", "Default"],
      ["/organizations/default/groups", "Default"],
      ["/organizations/default/groups/Everyone", "Everyone"],
      ["/organizations/default/roles", "Default"],
      ["/organizations/default/create-role", "Create a role"],
      ["/organizations/default/provisioners", "Default"],
      ["/organizations/default/settings", "Default"],
      ["/audit", "Audit log"],
      ["/connectionlog", "Connections"]
    ] as const) {
      await visit(path)
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor()
      if (measured.includes(path)) await expectWellMade(page)
    }
    await close()
  })

  it("are created, suspended, given roles and deleted", async () => {
    const { open, server } = console()
    const { token } = server.owner()
    const { close, go, page } = await open("owner")
    await go("/deployment/users")
    await page.getByRole("button", { name: "New user" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Username").fill("not a name!")
    await dialog.getByLabel("Email").fill("grace@example.com")
    await dialog.getByLabel("Password", { exact: true }).fill("SomeSecurePassword!")
    await dialog.getByRole("button", { name: "Create user" }).click()
    await dialog.getByRole("alert").first().waitFor()
    expect(await dialog.getByLabel("Username").getAttribute("aria-invalid")).toBe("true")
    await dialog.getByLabel("Username").fill("grace")
    await dialog.getByRole("button", { name: "Create user" }).click()
    await page.getByText("grace was created").waitFor()

    // What a row's menu opens does not open the row
    await page.getByRole("button", { name: "Actions for grace" }).click()
    await page.getByRole("menuitem", { name: "Suspend" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(new URL(page.url()).pathname).toBe("/deployment/users")

    await page.getByRole("row", { name: /grace/ }).click()
    await page.getByRole("checkbox", { name: "Auditor" }).check()
    await expect
      .poll(async () => (await server.call("GET", "/users/grace/roles", { token })).body)
      .toMatchObject({ roles: expect.arrayContaining(["auditor"]) })
    await page.getByRole("button", { name: "Actions for grace" }).click()
    await page.getByRole("menuitem", { name: "Suspend" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click()
    await page.getByText("grace was suspended").waitFor()
    expect((await server.call("GET", "/users/grace", { token })).body).toMatchObject({ status: "suspended" })

    await page.getByRole("button", { name: "Actions for grace" }).click()
    await page.getByRole("menuitem", { name: "Delete user" }).click()
    const remove = page.getByRole("dialog").getByRole("button", { name: "Delete user" })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel("Type grace to confirm").fill("grace")
    await remove.click()
    await page.getByText("grace was deleted").waitFor()
    expect((await server.call("GET", "/users/grace", { token })).status).toBe(404)
    await close()
  })

  it("join groups, and hold roles that an organization made", async () => {
    const { open, person, server } = console()
    const { token } = server.owner()
    await person("member")
    const { close, go, page } = await open("owner")
    await go("/organizations/default/groups")
    await page.getByRole("button", { name: "New group" }).click()
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("platform")
    await page.getByRole("dialog").getByRole("button", { name: "Create group" }).click()
    await page.getByRole("heading", { level: 1, name: "platform" }).waitFor()
    await page.getByRole("combobox", { name: "Add a member" }).click()
    await page.getByRole("option", { name: /member@example\.com/ }).click()
    await page.getByText("member was added").waitFor()
    await page.getByRole("row", { name: /member@example\.com/ }).waitFor()

    await go("/organizations/default/create-role")
    await page.getByLabel("Name", { exact: true }).fill("releaser")
    await page.getByRole("checkbox", { name: "Allow update on template" }).check()
    await page.getByRole("button", { name: "Save role" }).click()
    await page.getByText("releaser was created").waitFor()
    const roles = (await server.call("GET", "/organizations/default/members/roles", { token })).body as ReadonlyArray<{
      readonly name: string
      readonly organization_permissions: ReadonlyArray<unknown>
    }>
    expect(roles.find(({ name }) => name === "releaser")?.organization_permissions).toStrictEqual([
      { negate: false, resource_type: "template", action: "update" }
    ])

    await go("/organizations/default/members?filter=member")
    await page.getByRole("button", { name: "Actions for member" }).click()
    await page.getByRole("menuitem", { name: "Roles" }).click()
    await page.getByRole("dialog").getByRole("checkbox", { name: "releaser" }).check()
    await page.getByRole("dialog").getByRole("button", { name: "Save role" }).click()
    await page.getByText("The roles were changed").waitFor()
    await page.getByRole("row", { name: /releaser/ }).waitFor()
    await close()
  })

  it("read the audit log with its differences", async () => {
    const { open, server } = console()
    await server.call("POST", "/organizations/default/groups", { token: server.owner().token, body: { name: "audited" } })
    const { close, go, page } = await open("auditor")
    await go("/audit")
    const filter = page.getByRole("combobox", { name: "Filter entries" })
    await filter.fill("resource_type:group action:create")
    await filter.press("Enter")
    await page.getByRole("row", { name: /created group audited/ }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("row", { name: /name empty audited/ }).waitFor()
    await page.keyboard.press("Escape")
    await filter.fill("foo:bar")
    await filter.press("Enter")
    await page.getByRole("alert").waitFor()
    await close()
  })

  it("ask again who they are when the first answer was a failure", async () => {
    const { complaints, open } = console()
    const { close, go, page } = await open("member")
    await page.route("**/api/v2/users/me", (route) => route.fulfill({ status: 418, json: { message: "Not now." } }))
    await go("/workspaces")
    await page.getByText("Not now.").waitFor()
    await page.unroute("**/api/v2/users/me")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { level: 1, name: "Workspaces" }).waitFor()
    // The router notes what a screen threw
    expect(complaints.splice(0).filter((complaint) => !complaint.includes("Not now."))).toStrictEqual([])
    await close()
  })

  it("see only what they may", async () => {
    const { open } = console()
    const { close, go, page } = await open("member")
    await go("/organizations")
    expect(await page.getByRole("link", { name: "Users" }).count()).toBe(0)
    expect(await page.getByRole("link", { name: "Audit log" }).count()).toBe(0)
    expect(await page.getByRole("link", { name: "Deployment" }).count()).toBe(0)
    expect(await page.getByRole("button", { name: "New organization" }).count()).toBe(0)
    for (const path of ["/audit", "/health", "/deployment/options", "/organizations/none/members", "/deployment/users/none"]) {
      await go(path)
      await page.getByText("You have no access to this, or it does not exist").first().waitFor()
    }
    await close()
  })
})
