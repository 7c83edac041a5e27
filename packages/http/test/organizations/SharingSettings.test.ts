import { Uuid } from "@atelier/core/platform"
import { WorkspaceRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { describeInterface, describeServerOnEach, type Person, type TestServer } from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { aMemberOf, anOrganization, fieldsOf, join, licensed } from "./calls.js"

const everyone = { sharing_globally_disabled: false, sharing_disabled: false, shareable_workspace_owners: "everyone" }
const serviceAccounts = { ...everyone, shareable_workspace_owners: "service_accounts" }
const none = { ...everyone, sharing_disabled: true, shareable_workspace_owners: "none" }

const get = (server: TestServer, organization: string, { token }: Person = server.owner()) =>
  server.call("GET", `/organizations/${organization}/settings/workspace-sharing`, { token })

const patch = (server: TestServer, organization: string, body: object, { token }: Person = server.owner()) =>
  server.call("PATCH", `/organizations/${organization}/settings/workspace-sharing`, { token, body })

/** A workspace of the owner in the organization, shared with a group and a user. */
const aSharedWorkspace = (server: TestServer, organization_id: Uuid.Uuid, { user }: Pick<Person, "user">) =>
  server.run(
    Effect.gen(function* () {
      const template = yield* storedTemplate({ organization_id, created_by: user.id })
      const acls = { user_acl: { [server.owner().user.id]: ["read"] }, group_acl: { [organization_id]: ["read"] } }
      return (yield* storedWorkspace(template, user.id, { workspace: acls })).workspace
    })
  )

const isShared = (server: TestServer, id: Uuid.Uuid) =>
  server.run(
    Effect.map(
      Effect.flatMap(WorkspaceRepository, ({ byId }) => Effect.flatten(byId(id))),
      ({ group_acl, user_acl }) => [Object.keys(user_acl).length, Object.keys(group_acl).length]
    )
  )

describeServerOnEach(
  "the sharing of an organization's workspaces",
  (server, once) => {
    once("is everyone's by default, and then as set", async () => {
      const { id } = await anOrganization(server())
      expect((await get(server(), id)).body).toStrictEqual(everyone)
      for (const [body, expected] of [
        [{ shareable_workspace_owners: "service_accounts" }, serviceAccounts],
        [{ sharing_disabled: true }, none],
        [{ sharing_disabled: false }, everyone],
        [{ sharing_disabled: true, shareable_workspace_owners: "service_accounts" }, serviceAccounts],
        [{}, everyone]
      ] as const) {
        const answer = await patch(server(), id, body)
        expect([answer.status, answer.body]).toStrictEqual([200, expected])
        expect((await get(server(), id)).body).toStrictEqual(expected)
      }
      expect(fieldsOf(await patch(server(), id, { shareable_workspace_owners: "friends" }))).toStrictEqual([
        400,
        "shareable_workspace_owners"
      ])
      const entries = await server().run(auditEntries({ resource_id: id, resource_type: "organization" }))
      expect(entries[1]).toMatchObject({
        action: "write",
        status_code: 200,
        organization_id: id,
        diff: { shareable_workspace_owners: { old: "everyone", new: "service_accounts" } }
      })
      expect(entries).toHaveLength(6)
    })

    once("ends for all workspaces with the mode, and does not come back", async () => {
      const { id } = await anOrganization(server())
      const elsewhere = await anOrganization(server())
      const robot = await server().aMember({ is_service_account: true, email: "", login_type: "none" })
      await join(server(), id, robot)
      const person = await aMemberOf(server(), id)
      const [theirs, robots, other] = [
        await aSharedWorkspace(server(), id, person),
        await aSharedWorkspace(server(), id, robot),
        await aSharedWorkspace(server(), elsewhere.id, server().owner())
      ]
      const shared = () => Promise.all([theirs, robots, other].map((workspace) => isShared(server(), workspace.id)))
      expect(await shared()).toStrictEqual([
        [1, 1],
        [1, 1],
        [1, 1]
      ])
      await patch(server(), id, { shareable_workspace_owners: "service_accounts" })
      expect(await shared()).toStrictEqual([
        [0, 0],
        [1, 1],
        [1, 1]
      ])
      await patch(server(), id, { sharing_disabled: true })
      await patch(server(), id, {})
      expect(await shared()).toStrictEqual([
        [0, 0],
        [0, 0],
        [1, 1]
      ])
    })

    once("decides what members may share and see from the next request on", async () => {
      const { id } = await anOrganization(server())
      const ada = await aMemberOf(server(), id)
      const workspace = await aSharedWorkspace(server(), id, ada)
      const share = () =>
        server().call("PATCH", `/workspaces/${workspace.id}/acl`, { token: ada.token, body: { group_roles: { [id]: "use" } } })
      const members = async () => (await server().call("GET", `/organizations/${id}/paginated-members`, { token: ada.token })).status
      expect([(await share()).status, await members()]).toStrictEqual([204, 200])
      await patch(server(), id, { shareable_workspace_owners: "service_accounts" })
      expect([(await share()).status, await members()]).toStrictEqual([403, 200])
      await patch(server(), id, { sharing_disabled: true })
      expect([(await share()).status, await members()]).toStrictEqual([403, 404])
      const asOwner = await server().call("PATCH", `/workspaces/${workspace.id}/acl`, {
        token: server().owner().token,
        body: { user_roles: { [ada.user.id]: "use" } }
      })
      expect(asOwner.status).toBe(403)
      await patch(server(), id, {})
      expect([(await share()).status, await members()]).toStrictEqual([204, 200])
    })

    it("leaves no share of a concurrent call", async () => {
      for (const body of [{ sharing_disabled: true }, { shareable_workspace_owners: "service_accounts" }]) {
        const { id } = await anOrganization(server())
        const ada = await aMemberOf(server(), id)
        const workspace = await aSharedWorkspace(server(), id, ada)
        const share = () =>
          server().call("PATCH", `/workspaces/${workspace.id}/acl`, { token: ada.token, body: { group_roles: { [id]: "use" } } })
        const answers = await Promise.all([share(), patch(server(), id, body), share(), share()])
        expect(answers.map(({ status }) => status).filter((status) => status !== 204 && status !== 403)).toStrictEqual([200])
        expect(await isShared(server(), workspace.id)).toStrictEqual([0, 0])
      }
    })

    once("is chosen by administrators, and seen by members", async () => {
      const { id } = await anOrganization(server())
      const [member, admin, outsider] = await Promise.all([
        aMemberOf(server(), id),
        aMemberOf(server(), id, ["organization-admin"]),
        server().aMember()
      ])
      expect([(await get(server(), id, member)).status, (await get(server(), id, outsider)).status]).toStrictEqual([200, 404])
      expect((await patch(server(), id, { sharing_disabled: true }, outsider)).status).toBe(404)
      expect((await patch(server(), id, { sharing_disabled: true }, member)).status).toBe(403)
      expect((await patch(server(), id, { sharing_disabled: true }, admin)).status).toBe(200)
    })
  },
  licensed
)

describeInterface(
  "the sharing of workspaces where the deployment shares none",
  (server) => {
    it("is off for every setting of an organization", async () => {
      const off = { sharing_globally_disabled: true, sharing_disabled: true, shareable_workspace_owners: "none" }
      expect((await get(server(), "default")).body).toStrictEqual(off)
      expect((await patch(server(), "default", { shareable_workspace_owners: "everyone" })).body).toStrictEqual(off)
    })
  },
  { options: { disableWorkspaceSharing: true } }
)
