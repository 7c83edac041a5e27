import { Uuid } from "@atelier/core/platform"
import { expect, it } from "vitest"
import { describeInterface, type Person, type TestServer } from "../../../../test/http/server.js"
import { aMemberOf, aName, anOrganization, licensed } from "./calls.js"

/** The operations on an organization, by the headings of the table's columns. */
const operations = {
  /** Reads the organization. */
  read: (server, { token }, { id }) => server.call("GET", `/organizations/${id}`, { token }),
  /** Changes it. */
  edit: (server, { token }, { id }) => server.call("PATCH", `/organizations/${id}`, { token, body: { description: "x" } }),
  /** Makes another. */
  make: (server, { token }) => server.call("POST", "/organizations", { token, body: { name: aName() } }),
  /** Deletes it, which it is in use for. */
  drop: (server, { token }, { id }) => server.call("DELETE", `/organizations/${id}`, { token }),
  /** Reads all members. */
  list: (server, { token }, { id }) => server.call("GET", `/organizations/${id}/paginated-members`, { token }),
  /** Adds a member, who leaves again. */
  join: async (server, { token }, { id, newcomer }) => {
    const answer = await server.call("POST", `/organizations/${id}/members/${newcomer}`, { token })
    await server.call("DELETE", `/organizations/${id}/members/${newcomer}`, { token: server.owner().token })
    return answer
  },
  /** Gives a member what plain members have. */
  give: (server, { token }, { id, target }) =>
    server.call("PUT", `/organizations/${id}/members/${target}/roles`, { token, body: { roles: ["agents-access"] } }),
  /** Makes a member an administrator, and takes the role again. */
  raise: async (server, { token }, { id, target }) => {
    const path = `/organizations/${id}/members/${target}/roles`
    const answer = await server.call("PUT", path, { token, body: { roles: ["agents-access", "organization-admin"] } })
    await server.call("PUT", path, { token: server.owner().token, body: { roles: ["agents-access"] } })
    return answer
  },
  /** Reads the roles there are. */
  roles: (server, { token }, { id }) => server.call("GET", `/organizations/${id}/members/roles`, { token }),
  /** Makes a role. */
  role: (server, { token }, { id }) => server.call("POST", `/organizations/${id}/members/roles`, { token, body: { name: aName() } }),
  /** Reads whose workspaces are shared. */
  see: (server, { token }, { id }) => server.call("GET", `/organizations/${id}/settings/workspace-sharing`, { token }),
  /** Chooses whose. */
  share: (server, { token }, { id }) => server.call("PATCH", `/organizations/${id}/settings/workspace-sharing`, { token, body: {} })
} satisfies Record<
  string,
  (
    server: TestServer,
    person: Person,
    place: { readonly id: Uuid.Uuid; readonly newcomer: string; readonly target: string }
  ) => ReturnType<TestServer["call"]>
>

/** Statuses by role: of the deployment, and behind a plus those of the organization; "-" is a user outside the organization. */
const table = `
                                       read edit make drop list join give raise roles role see share
owner                                  200  200  201  409  200  200  200  200   200   200  200 200
user-admin                             200  404  403  403  200  200  200  400   200   404  200 403
template-admin                         200  404  403  403  200  404  403  403   200   404  200 403
auditor                                200  404  403  403  200  404  403  403   200   404  200 403
-                                      404  404  403  404  404  404  404  404   404   404  404 404
+                                      200  404  403  403  200  404  403  403   200   404  200 403
+organization-admin                    200  200  403  409  200  200  200  200   200   200  200 200
+organization-user-admin               200  404  403  403  200  200  200  400   200   404  200 403
+organization-auditor                  200  404  403  403  200  404  403  403   200   404  200 403
+organization-template-admin           200  404  403  403  200  404  403  403   200   404  200 403
+organization-workspace-creation-ban   200  404  403  403  200  404  403  403   200   404  200 403
+agents-access                         200  404  403  403  200  404  403  403   200   404  200 403
`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/))

const [columns = [], ...rows] = table

describeInterface(
  "what each role may do with an organization",
  (server) => {
    it.each(rows)("%s", async (role, ...expected) => {
      const { id } = await anOrganization(server())
      const [newcomer, target] = await Promise.all([server().aMember(), aMemberOf(server(), id)])
      const siteRoles = role.startsWith("+") || role === "-" ? [] : [role]
      const person = role.startsWith("+")
        ? await aMemberOf(server(), id, role === "+" ? [] : [role.slice(1)])
        : await server().aMember({ rbac_roles: siteRoles })
      const place = { id, newcomer: newcomer.user.id, target: target.user.id }
      const statuses: Record<string, number> = {}
      for (const [name, call] of Object.entries(operations)) statuses[name] = (await call(server(), person, place)).status
      expect(statuses).toStrictEqual(Object.fromEntries(columns.map((name, index) => [name, Number(expected[index])])))
    })
  },
  licensed
)
