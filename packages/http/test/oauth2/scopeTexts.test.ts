import { externalScopes } from "@atelier/core/access"
import { expect, it } from "vitest"
import { permissionOf } from "../../src/oauth2/scopeTexts.js"

it("each scope that an app can ask for is told in words", () => {
  expect(externalScopes.filter((scope) => permissionOf(scope) === scope)).toStrictEqual([])
})
