import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { type DescribedOperation, describedIn } from "../../../../test/description/description.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { startServer } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"

const Refusal = Schema.Struct({
  validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String, detail: Schema.String })))
})

/** Operations that ask for their fields where no test can send an empty body without more: at a provider, with a key, as an agent. */
const elsewhere = /^\w+ \/scim\/|\/workspaceagents\/me\//

const methods = ["POST", "PUT", "PATCH"] as const

describe("the fields that the description calls required", () => {
  it("are those without which a body is refused", async () => {
    const server = await startServer(sqlite, { entitlements: { has: () => true }, provisioner: testEngines })
    try {
      const owner = server.owner()
      const member = await server.aMember()
      const { token } = owner
      const template = await aTemplate(server, { resources: [aResource({ agents: [anAgent()] })] })
      const workspace = await aWorkspace(server, template, owner)
      const group = (await server.call("POST", "/organizations/default/groups", { token, body: { name: "described" } })).as(
        Schema.Struct({ id: Schema.String })
      )
      await server.call("POST", "/users/me/secrets", { token, body: { name: "described", value: "x" } })
      const ids: Readonly<Record<string, string>> = {
        user: member.user.id,
        organization: "default",
        group: group.id,
        template: template.id,
        templateversion: template.active_version_id,
        workspace: workspace.id,
        name: "described"
      }
      const { components, paths } = describedIn("standard")
      const requiredIn = ({ requestBody }: DescribedOperation): ReadonlyArray<string> | undefined => {
        const schema = requestBody?.content["application/json"]?.schema
        const name = typeof schema?.["$ref"] === "string" ? (schema["$ref"].split("/").at(-1) ?? "") : undefined
        const { required = [] } = (name === undefined ? schema : components.schemas[name]) ?? {}
        return schema === undefined ? undefined : Schema.decodeUnknownSync(Schema.Array(Schema.String))(required)
      }
      const differences: Array<object> = []
      for (const [path, operations] of Object.entries(paths)) {
        for (const method of methods) {
          const operation = operations[method.toLowerCase()]
          const required = operation === undefined ? undefined : requiredIn(operation)
          if (required === undefined || elsewhere.test(`${method} ${path}`)) continue
          const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)
          const caller = /\/(?:secrets|convert-login|password)/.test(path) ? target.replace(member.user.id, "me") : target
          const { body, status } = await server.call(method, `/${caller}`, { token, body: {} })
          const { validations = [] } = status === 400 ? Schema.decodeUnknownSync(Refusal)(body) : {}
          const missing = validations.filter(
            ({ detail, field }) => /^(is required|must not be empty)$/.test(detail) && !required.includes(field)
          )
          if (missing.length > 0) differences.push({ operation: `${method} ${path}`, missing })
          if (required.length > 0 && status < 400) differences.push({ operation: `${method} ${path}`, unneeded: required })
        }
      }
      expect(differences).toEqual([])
    } finally {
      await server.close()
    }
  })
})
