import { CurrentActor } from "@atelier/core/access"
import { IdpSyncSettings, Sessions } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, type Person, type TestServer } from "../../../../../test/http/server.js"
import { aMemberOf, anOrganization, licensed } from "../../organizations/calls.js"

const ofDeployment = "/settings/idpsync/organization"
const rolesOf = (organization: string) => `/organizations/${organization}/settings/idpsync/roles`

const patch = (server: TestServer, path: string, body: object, { token }: Pick<Person, "token"> = server.owner()) =>
  server.call("PATCH", path, { token, body })

const map = (Given: string, Gets: string) => ({ Add: [{ Given, Gets }] })
const unmap = (Given: string, Gets: string) => ({ Remove: [{ Given, Gets }] })

const aRole = (server: TestServer, organization: string, name: string, resource_type: string, action: string) =>
  server.call("POST", `/organizations/${organization}/members/roles`, {
    token: server.owner().token,
    body: { name, organization_permissions: [{ resource_type, action }] }
  })

describeInterface(
  "what claims mean",
  (server) => {
    it("gives and takes only roles that its author may give and take", async () => {
      const { id } = await anOrganization(server())
      const userAdmin = await aMemberOf(server(), id, ["organization-user-admin"])
      const deploymentAdmin = await server().aMember({ rbac_roles: ["user-admin"] })
      await patch(server(), rolesOf(id), { field: "roles", mapping: { lead: ["organization-admin"], crew: ["agents-access"] } })
      for (const person of [userAdmin, deploymentAdmin]) {
        const refused = [
          await patch(server(), `${rolesOf(id)}/mapping`, map("me", "organization-admin"), person),
          await patch(server(), `${rolesOf(id)}/mapping`, unmap("lead", "organization-admin"), person),
          // A value that is mapped to something stands for the role of its name no more
          await patch(server(), `${rolesOf(id)}/mapping`, map("organization-auditor", "agents-access"), person),
          await patch(server(), rolesOf(id), { field: "roles", mapping: { me: ["organization-template-admin"] } }, person),
          // Users choose the values of some claims
          await patch(server(), `${rolesOf(id)}/config`, { field: "nickname" }, person)
        ]
        expect(refused.map(({ status }) => status)).toStrictEqual([403, 403, 403, 403, 403])
        expect(refused[0]?.text).toContain("organization-admin")
      }
      const mapped = await patch(
        server(),
        `${rolesOf(id)}/mapping`,
        { ...map("ops", "agents-access"), ...unmap("crew", "agents-access") },
        userAdmin
      )
      expect([mapped.status, mapped.body]).toStrictEqual([
        200,
        { field: "roles", mapping: { lead: ["organization-admin"], crew: [], ops: ["agents-access"] } }
      ])
      expect((await patch(server(), `${rolesOf(id)}/config`, { field: "" }, userAdmin)).status).toBe(200)
      expect((await patch(server(), `${rolesOf(id)}/config`, { field: "roles" }, userAdmin)).status).toBe(403)
      const entries = await server().run(auditEntries({ user_id: userAdmin.user.id, resource_type: "idp_sync_settings_role" }))
      expect(entries.map(({ status_code }) => status_code)).toStrictEqual([403, 403, 403, 403, 403, 200, 200, 403])
    })

    it("gives roles of the organization by those who hold what they allow", async () => {
      const { id } = await anOrganization(server())
      const admin = await aMemberOf(server(), id, ["organization-admin"])
      expect((await patch(server(), rolesOf(id), { field: "roles", mapping: { a: ["organization-admin"] } }, admin)).status).toBe(200)
      await aRole(server(), id, "library", "template", "read")
      await aRole(server(), id, "vault", "workspace", "ssh")
      expect((await patch(server(), `${rolesOf(id)}/mapping`, map("a", "library"), admin)).status).toBe(200)
      const refused = await patch(server(), `${rolesOf(id)}/mapping`, map("a", "vault"), admin)
      expect([refused.status, refused.text]).toStrictEqual([403, expect.stringContaining("vault")])
      // The values of another claim may name it
      expect((await patch(server(), `${rolesOf(id)}/config`, { field: "nickname" }, admin)).status).toBe(403)
      expect((await patch(server(), `${rolesOf(id)}/mapping`, map("a", "vault"))).status).toBe(200)
      expect((await patch(server(), `${rolesOf(id)}/mapping`, unmap("a", "vault"), admin)).status).toBe(200)
    })

    it("may map a role that does not exist yet if its author is an owner", async () => {
      const { id } = await anOrganization(server())
      const admin = await aMemberOf(server(), id, ["organization-admin"])
      await patch(server(), rolesOf(id), { field: "roles" })
      const early = await patch(server(), `${rolesOf(id)}/mapping`, map("me", "later"), admin)
      expect([early.status, early.text]).toStrictEqual([403, expect.stringContaining("later")])
      const replaced = { field: "roles", mapping: { me: ["organization-auditor", "later"] } }
      expect((await patch(server(), rolesOf(id), replaced, admin)).status).toBe(403)
      expect((await patch(server(), `${rolesOf(id)}/mapping`, map("ops", "later"))).status).toBe(200)
      // Existing mappings stay when an actor without the right changes another field
      const beside = await patch(server(), `${rolesOf(id)}/mapping`, map("me", "organization-auditor"), admin)
      expect(beside.body).toStrictEqual({ field: "roles", mapping: { ops: ["later"], me: ["organization-auditor"] } })
      expect((await patch(server(), `${rolesOf(id)}/mapping`, unmap("ops", "later"), admin)).status).toBe(200)
    })

    it("adds members if its author may add them, with the roles that all members have", async () => {
      const [open, led] = [await anOrganization(server()), await anOrganization(server())]
      const admin = await server().aMember({ rbac_roles: ["user-admin"] })
      await server().call("PATCH", `/organizations/${led.id}`, {
        token: server().owner().token,
        body: { default_org_member_roles: ["organization-admin"] }
      })
      const gone = "00000000-0000-4000-8000-000000000001"
      expect((await patch(server(), `${ofDeployment}/mapping`, map("me", led.id), admin)).status).toBe(403)
      expect((await patch(server(), `${ofDeployment}/mapping`, map("me", open.id), admin)).status).toBe(200)
      expect((await patch(server(), `${ofDeployment}/mapping`, map("me", gone), admin)).status).toBe(200)
      expect((await patch(server(), `${ofDeployment}/config`, { field: "orgs", assign_default: true }, admin)).status).toBe(200)
      expect((await patch(server(), `${ofDeployment}/mapping`, map("leads", led.id))).status).toBe(200)
      expect((await patch(server(), `${ofDeployment}/mapping`, map("others", open.id), admin)).status).toBe(200)
      expect((await patch(server(), `${ofDeployment}/config`, { field: "nickname", assign_default: true }, admin)).status).toBe(403)
      await patch(server(), ofDeployment, {})
    })

    it("is authorized with the rights at the time of storing", async () => {
      const { id } = await anOrganization(server())
      const admin = await aMemberOf(server(), id, ["organization-admin"])
      const actor = await server().run(Effect.flatMap(Sessions, ({ authenticate }) => authenticate(Redacted.make(admin.token), {})))
      await server().call("PUT", `/organizations/${id}/members/${admin.user.id}/roles`, {
        token: server().owner().token,
        body: { roles: [] }
      })
      const settings = { field: "roles", mapping: { a: ["organization-admin"] } }
      const said = await server().run(
        Effect.flatMap(IdpSyncSettings, ({ replaceRoles }) => Effect.either(replaceRoles(id, settings))).pipe(
          Effect.provideService(CurrentActor, actor)
        )
      )
      expect(said).toMatchObject({ left: { _tag: "Forbidden" } })
    })
  },
  licensed
)
