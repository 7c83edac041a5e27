/** The entries of the sidebar: each address of a screen belongs to at most one. */
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { folder, listPath, parseSite } from "../src/index.js"
import { navigation } from "../src/app/navigation.js"

const list = new URL(listPath, folder)

const isAt = (path: string) =>
  navigation
    .flatMap(({ destinations }) => destinations)
    .filter(({ isAt, link }) => isAt?.(path) ?? `${path}/`.startsWith(`${link.to ?? ""}/`))
    .map(({ label }) => label)

describe("an address of a screen", () => {
  it.each([
    ["/workspaces", "Workspaces"],
    ["/new", "Workspaces"],
    ["/@ada/web/settings/schedule", "Workspaces"],
    ["/tasks/ada/one", "Tasks"],
    ["/templates/default/node/versions", "Templates"],
    ["/starter-templates", "Templates"],
    ["/deployment/users/ada", "Users"],
    ["/organizations/default/groups", "Organizations"],
    ["/deployment/insights", "Insights"],
    ["/health", "Deployment"],
    ["/deployment", "Deployment"],
    ["/deployment/oauth2-provider/apps/1", "Deployment"],
    ["/settings/security", "Settings"]
  ])("%s is in the place %s", (path, place) => {
    expect(isAt(path)).toStrictEqual([place])
  })

  it.skipIf(!existsSync(list))("is in one place", () => {
    const { routes } = parseSite(readFileSync(list, "utf8"))
    const paths = routes.map((route) => route.replace(/\{-?\$\w+\}|\$\w*/g, "x"))
    // What the service is, and the address that leads on
    expect(paths.filter((path) => isAt(path).length !== 1).toSorted()).toStrictEqual(["/", "/about", "/users"])
  })
})
