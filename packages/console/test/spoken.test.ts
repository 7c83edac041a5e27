import { expect, it } from "vitest"
import { spoken } from "../src/ui/page/spoken.js"

it("names of the interface are said in words", () => {
  expect(["display_name", "idpsync_settings", "api_key", "template_rbac", "constructor"].map(spoken)).toStrictEqual([
    "display name",
    "IdP sync settings",
    "API key",
    "template RBAC",
    "constructor"
  ])
})
