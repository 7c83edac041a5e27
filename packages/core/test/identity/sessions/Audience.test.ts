import { expect, it } from "vitest"
import { coversPath } from "../../../src/identity/sessions/Audience.js"

it.each([
  ["https://a.example", "/api/v2/users", true],
  ["https://A.example:443/", undefined, true],
  ["https://a.example/mcp", "/mcp", true],
  ["https://a.example/mcp?tool=1", "/mcp/x", true],
  ["https://a.example/mcp", "/mcpx", false],
  ["https://a.example/mcp", "/mcp/../api/v2/users", false],
  ["https://a.example/mcp", "/mcp/%2e%2e/api/v2/users", false],
  ["https://a.example/mcp", "/@ada/dev/apps/code/../../../../mcp", false],
  ["https://a.example/mcp", "/swagger/..\\mcp", false],
  ["https://a.example/mcp", undefined, false],
  ["https://b.example", "/", false]
])("the resource %s covers %s: %s", (resource, path, covered) => {
  expect(coversPath(resource, "https://a.example", path)).toBe(covered)
})

it("a resource of a deployment below a prefix covers what is below the prefix", () => {
  expect(coversPath("https://a.example/dev/mcp", "https://a.example/dev", "/mcp/x")).toBe(true)
  expect(coversPath("https://a.example/mcp", "https://a.example/dev", "/mcp")).toBe(false)
})
