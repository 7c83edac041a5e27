import type { TemplateView } from "@atelier/core/templates"
import type { RequestedWorkspace } from "@atelier/core/workspaces"
import { expect, it } from "vitest"
import { workspaces } from "@atelier/client"
import { testEngines } from "../../../../../test/outside/engine.js"
import { type Answer, describeServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate } from "../../../../../test/http/templates.js"
import { aName, requestWorkspace } from "../../../../../test/http/workspaceCalls.js"
import { Workspace } from "../../../src/contract/workspaces/workspaces.js"
import { Response } from "../../../src/wire/errors.js"

const asked: Array<RequestedWorkspace> = []
let answer: () => string | undefined | Promise<string | undefined> = () => undefined

describeServer(
  "a host's rule about new workspaces",
  (server) => {
    it("is asked about a workspace that every other rule allows", async () => {
      const template = await aTemplate(server())
      const { token, user } = await server().aMember()
      answer = () => undefined
      asked.length = 0
      const name = aName()
      const { id } = (await requestWorkspace(server(), template, { token }, { name })).as(Workspace)
      expect((await requestWorkspace(server(), template, { token }, { name: "no name" })).status).toBe(400)
      expect((await requestWorkspace(server(), template, { token }, { name })).status).toBe(409)
      expect(id).toBeDefined()
      expect(asked).toStrictEqual([
        {
          name,
          owner: { id: user.id, username: user.username },
          organization: { id: template.organization_id, name: template.organization_name },
          template: { id: template.id, name: template.name },
          initiator_id: user.id,
          is_task: false,
          rich_parameter_values: []
        }
      ])
    })

    it("refuses callers of the API and of the client in this process", async () => {
      const template = await aTemplate(server())
      const { token, user } = await server().aMember()
      answer = async () => "Your team has used up its budget."
      const refused = await requestWorkspace(server(), template, { token })
      expect([refused.status, refused.as(Response).message]).toStrictEqual([403, "Your team has used up its budget."])
      const client = server().atelier.client({ user: user.username })
      const created = workspaces.createWorkspace(client, { user: "me", body: { name: aName(), template_id: template.id } })
      await expect(created).rejects.toMatchObject({ status: 403, message: "Your team has used up its budget." })
      expect((await workspaces.listWorkspaces(client)).count).toBe(0)
    })

    it("creates nothing where the host fails to say", async () => {
      const template = await aTemplate(server())
      const { token } = await server().aMember()
      answer = () => {
        throw new Error("the budgets are away")
      }
      const failed = await requestWorkspace(server(), template, { token })
      expect([failed.status, failed.text.includes("budgets")]).toStrictEqual([500, false])
      answer = () => undefined
      expect((await server().call("GET", "/workspaces", { token })).text).toContain('"count":0')
    })

    it("cannot keep a template in use that is taken back while the host decides", async () => {
      const owner = { token: server().owner().token }
      const { token } = await server().aMember()
      const createdDuring = async (change: (template: TemplateView, version: string) => Promise<Answer>) => {
        const template = await aTemplate(server())
        const { id } = await anImportedVersion(server(), {}, { template_id: template.id })
        answer = async () => {
          expect((await change(template, id)).status).toBe(200)
          return undefined
        }
        const { status } = await requestWorkspace(server(), template, { token }, { template_id: undefined, template_version_id: id })
        answer = () => undefined
        return status
      }
      const patch = (template: TemplateView, body: object) => server().call("PATCH", `/templates/${template.id}`, { ...owner, body })
      const statuses = [
        await createdDuring((template) => patch(template, { deprecation_message: "use the new one" })),
        await createdDuring((template) => patch(template, { disable_everyone_group_access: true })),
        await createdDuring((_, version) => server().call("POST", `/templateversions/${version}/archive`, owner)),
        await createdDuring((template, version) =>
          server().call("PATCH", `/templates/${template.id}/versions`, { ...owner, body: { id: version } })
        )
      ]
      expect(statuses).toStrictEqual([400, 403, 400, 201])
    })
  },
  {
    provisioner: testEngines,
    admitWorkspace: (workspace) => {
      asked.push(workspace)
      return answer()
    }
  }
)
