/** The addresses of screens: each is visited by the tests of every screen, and the audit log leads to those that exist. */
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { folder, isRoute, listPath, parseSite } from "../src/index.js"
import { placeOf } from "../src/screens/logs/place.js"
import { screens } from "./screens.js"

const list = new URL(listPath, folder)

/** Addresses that lead to another one. */
const redirects = ["/", "/deployment", "/organizations/$organization", "/settings", "/users"]

describe("the screens that are checked for each role", () => {
  it.skipIf(!existsSync(list))("are all that have an address", () => {
    const paths = screens.map(([, address]) => new URL(address, "https://console.example").pathname)
    const { routes } = parseSite(readFileSync(list, "utf8"))
    const unvisited = routes.filter((route) => !paths.some((path) => isRoute({ files: [], routes: [route] }, path)))
    expect(unvisited.toSorted()).toStrictEqual(redirects)
  })
})

const entry = { resource_target: "node", organization: { id: "o", name: "team", display_name: "", icon: "" } }

describe("an entry of the audit log", () => {
  it("leads to the template in its organization", () => {
    const about = { ...entry, resource_type: "template", resource_link: "/templates/node" } as const
    expect(placeOf(about)).toStrictEqual({ to: "/templates/$organization/$template", params: { organization: "team", template: "node" } })
    const { organization: _, ...unknown } = about
    expect(placeOf(unknown)).toBeUndefined()
  })

  it("leads to the user", () => {
    expect(placeOf({ ...entry, resource_type: "user", resource_link: "/users?filter=node" })).toStrictEqual({
      to: "/deployment/users/$user",
      params: { user: "node" }
    })
  })

  it("leads to other objects by the path that the service gives", () => {
    expect(placeOf({ ...entry, resource_type: "task", resource_link: "/tasks/ada/1" })).toStrictEqual({ to: "/tasks/ada/1" })
    expect(placeOf({ ...entry, resource_type: "template", resource_link: "" })).toBeUndefined()
  })
})
