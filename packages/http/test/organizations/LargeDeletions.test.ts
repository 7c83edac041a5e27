/** Deleting what much belongs to takes as many statements as deleting what nothing does. */
import type { Atelier } from "@atelier/http"
import { CurrentActor, sessionActor } from "@atelier/core/access"
import { GroupChanges } from "@atelier/core/groups"
import { Accounts } from "@atelier/core/identity"
import { CustomRoles, Members, OrganizationChanges } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { manyWorkspaces } from "../../../../test/records/manyWorkspaces.js"
import { describeServerOnEach, type TestServer } from "../../../../test/http/server.js"
import { statementsOf } from "../../../../test/store/statements.js"
import { storedTemplate } from "../../../../test/records/workspaces.js"
import { aMemberOf, anOrganization, licensed } from "./calls.js"
import { Statements } from "@atelier/storage"

const Made = Schema.Struct({ id: Uuid.Uuid })

const sqlClient = Effect.flatten(Effect.serviceOption(Statements))

let from = 1

/**
 * An organization with that many members, all in one group and with one role, and that many workspaces, shared with the group and with one
 * member. This member also has that many keys, groups and deleted workspaces.
 */
const aWorld = async (server: TestServer, count: number) => {
  const { token, user: owner } = server.owner()
  const { id: organization } = await anOrganization(server)
  const made = async (path: string, body: object) =>
    (await server.call("POST", `/organizations/${organization}/${path}`, { token, body })).as(Made).id
  const organization_permissions = [{ negate: false, resource_type: "template", action: "read" }]
  const role = { name: "held", display_name: "", organization_permissions }
  await server.call("POST", `/organizations/${organization}/members/roles`, { token, body: role })
  const group = await made("groups", { name: "large" })
  const { user } = await aMemberOf(server, organization, ["held"])
  const other = await aMemberOf(server, organization)
  await server.run(
    Effect.gen(function* () {
      const sql = yield* sqlClient
      const now = yield* Timestamp.now
      const ids = JSON.stringify(Array.from({ length: count }, () => crypto.randomUUID()))
      const items = sql.dialect({
        postgres: () => sql`(SELECT CAST(value AS uuid) AS value FROM jsonb_array_elements_text(CAST(${ids} AS jsonb)))`,
        sqlite: () => sql`(SELECT value FROM json_each(${ids}))`
      })
      const text = (expression: string) => sql.literal(`CAST(${expression} AS TEXT)`)
      const profile = sql.literal(
        `avatar_url, status, login_type, rbac_roles, created_at, updated_at, last_seen_at, deleted, is_system, is_service_account,
         theme_preference, quiet_hours_schedule`
      )
      yield* sql`INSERT INTO users (id, email, username, name, ${profile})
        SELECT i.value, '', ${text("i.value")}, '', ${profile} FROM users u, ${items} i WHERE u.id = ${owner.id}`
      yield* sql`INSERT INTO organization_members (organization_id, user_id, created_at, updated_at, roles)
        SELECT m.organization_id, i.value, m.created_at, m.updated_at, m.roles FROM organization_members m, ${items} i
        WHERE m.user_id = ${user.id} AND m.organization_id = ${organization}`
      yield* sql`INSERT INTO group_members (group_id, user_id)
        SELECT g.id, m.user_id FROM groups g JOIN organization_members m ON m.organization_id = g.organization_id WHERE g.id = ${group}`
      yield* sql`INSERT INTO groups (id, organization_id, name, display_name, avatar_url, quota_allowance, source)
        SELECT i.value, g.organization_id, ${text("i.value")}, '', '', 0, 'user' FROM groups g, ${items} i WHERE g.id = ${group}`
      yield* sql`INSERT INTO group_members (group_id, user_id) SELECT i.value, u.id FROM users u, ${items} i WHERE u.id = ${user.id}`
      yield* sql`INSERT INTO api_keys (id, user_id, hashed_secret, created_at, updated_at, last_used, expires_at, lifetime_seconds, login_type,
          ip, token_name, scopes, allow_list)
        SELECT ${text("i.value")}, ${user.id}, k.hashed_secret, k.created_at, k.updated_at, k.last_used, k.expires_at, k.lifetime_seconds,
          k.login_type, k.ip, k.token_name, k.scopes, k.allow_list
        FROM (SELECT * FROM api_keys WHERE user_id = ${other.user.id} LIMIT 1) k, ${items} i`
      for (const owners of [[user.id], [owner.id]]) {
        const template = yield* storedTemplate({ organization_id: organization, created_by: owner.id })
        const { active_version_id: template_version_id, id: template_id } = template
        const many = { count, from, owners, organization_id: organization, template_id, template_version_id }
        yield* Effect.provideService(manyWorkspaces(many), Statements, sql)
        from += count
      }
      yield* sql`UPDATE workspaces SET deleted = (1 = 1) WHERE owner_id = ${user.id}`
      const acls = { user_acl: JSON.stringify({ [user.id]: ["read"] }), group_acl: JSON.stringify({ [group]: ["read"] }) }
      yield* sql`UPDATE workspaces SET ${sql.update(acls)} WHERE organization_id = ${organization}`
      yield* sql`UPDATE templates SET ${sql.update({ ...acls, updated_at: now })} WHERE organization_id = ${organization}`
    })
  )
  return { organization, group, user: user.id, member: other.user.id }
}

/** How many statements each deletion takes, in an order that leaves the next something to do. */
const statementsTaken = async (server: TestServer, count: number) => {
  const { group, member, organization, user } = await aWorld(server, count)
  const actor = sessionActor({ userId: server.owner().user.id, siteRoles: ["owner"], memberships: [] })
  const taken = <E>(deletion: Effect.Effect<unknown, E, Atelier.Services | CurrentActor>) =>
    server.run(Effect.map(Effect.provideService(statementsOf(deletion), CurrentActor, actor), ({ statements }) => statements.length))
  const role = await taken(Effect.flatMap(CustomRoles, (roles) => roles.delete(organization, "held")))
  const ofGroup = await taken(Effect.flatMap(GroupChanges, (groups) => groups.delete(group)))
  const membership = await taken(Effect.flatMap(Members, (members) => members.remove(organization, member)))
  const ofUser = await taken(Effect.flatMap(Accounts, (accounts) => accounts.delete(user)))
  await server.run(
    Effect.gen(function* () {
      const sql = yield* sqlClient
      for (const table of ["workspaces", "templates"]) {
        yield* sql`UPDATE ${sql(table)} SET deleted = (1 = 1) WHERE organization_id = ${organization}`
      }
      yield* sql`DELETE FROM groups WHERE organization_id = ${organization} AND id <> organization_id`
      yield* sql`DELETE FROM organization_members WHERE organization_id = ${organization} AND user_id <> ${server.owner().user.id}`
    })
  )
  const ofOrganization = await taken(Effect.flatMap(OrganizationChanges, (changes) => changes.delete(organization)))
  return { role, group: ofGroup, membership, user: ofUser, organization: ofOrganization }
}

describeServerOnEach(
  "deletions",
  (server) => {
    it("take a fixed number of statements", async () => {
      expect(await statementsTaken(server(), 50)).toStrictEqual(await statementsTaken(server(), 3))
    })
  },
  licensed
)
