import { resourcesViolation } from "@atelier/core/agents"
import { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { anAgent, anApp, aResource } from "../../../../../test/records/resources.js"

const withAgents = (...agents: ReadonlyArray<Parameters<typeof anAgent>[0]>) => aResource({ agents: agents.map(anAgent) })
const withApps = (...apps: ReadonlyArray<Parameters<typeof anApp>[0]>) => withAgents({ apps: apps.map(anApp) })
const id = Uuid.Uuid.make("01020304-0506-0708-090a-0b0c0d0e0f10")

describe("a job's resources", () => {
  it("may be stored when they keep to the rules", () => {
    expect(resourcesViolation([withAgents({ name: "Main-2" }, { name: "other" }), aResource({ agents: [] })])).toBeUndefined()
    expect(resourcesViolation([withApps({ slug: "a" }), withApps({ slug: "a" })])).toBeUndefined()
  })

  it.each([
    ["an agent's name with an underscore", withAgents({ name: "my_agent" }), "name"],
    ["an agent's name with two hyphens in a row", withAgents({ name: "a--b" }), "name"],
    ["an agent without a name", withAgents({ name: "" }), "name"],
    ["an agent's name that is too long", withAgents({ name: "a".repeat(65) }), "name"],
    ["two agents whose names differ in case", withAgents({ name: "main" }, { name: "MAIN" }), "name"],
    ["an app without a slug", withApps({ slug: "" }), "slug"],
    ["a slug in upper case", withApps({ slug: "Code" }), "slug"],
    ["a slug that ends with a hyphen", withApps({ slug: "code-" }), "slug"],
    ["two apps of one agent with one slug", withApps({ slug: "a" }, { slug: "a" }), "slug"],
    ["two apps of one resource with one slug", withAgents({ name: "a", apps: [anApp()] }, { name: "b", apps: [anApp()] }), "slug"],
    ["two apps with one id", withApps({ slug: "a", id }, { slug: "b", id }), "id"],
    ["a tooltip that is too long", withApps({ tooltip: "t".repeat(2049) }), "tooltip"],
    ["a troubleshooting address that runs a script", withAgents({ troubleshooting_url: " java\tscript:alert(1)" }), "troubleshooting_url"],
    [
      "two metadata items with one key",
      withAgents({
        metadata: [1, 2].map((order) => ({ key: "cpu", display_name: "", script: "", interval: 1, timeout: 1, order }))
      }),
      "key"
    ]
  ])("are refused with %s", (_, resource, field) => {
    expect(resourcesViolation([resource])?.validations?.map((validation) => validation.field)).toStrictEqual([field])
  })

  it("are refused with a character that no store keeps", () => {
    expect(resourcesViolation([withAgents({ environment_variables: { KEY: "a\0" } })])?.message).toContain("NUL")
    expect(resourcesViolation([withAgents({ environment_variables: { KEY: String.raw`\u0000` } })])).toBeUndefined()
  })

  it("are refused when there are too many", () => {
    expect(resourcesViolation(Array.from({ length: 5001 }, () => aResource()))?.message).toContain("10000")
  })
})
