import { defaultAppScopes, expandAppScopes, externalScopes } from "@atelier/core/access"
import { expect, it } from "vitest"
import { permissionOf } from "../../src/oauth2/scopeTexts.js"

it("each scope that an app can ask for is told in words", () => {
  expect(externalScopes.filter((scope) => permissionOf(scope) === scope)).toStrictEqual([])
})

it("each scope that leads into a workspace says that it leads to the user's credentials there", () => {
  const reachesInto = (scope: string): boolean => {
    const actions: ReadonlyArray<string> = expandAppScopes([scope]).flatMap(({ workspace = [] }) => workspace)
    return ["*", "ssh", "application_connect"].some((action) => actions.includes(action))
  }
  const told = externalScopes.filter((scope) => permissionOf(scope).includes("the credentials that it finds"))
  expect(told).toStrictEqual(externalScopes.filter(reachesInto))
  expect(told).toContain("workspace:ssh")
  expect(defaultAppScopes.filter(reachesInto)).toStrictEqual([])
})
