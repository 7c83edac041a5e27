/** The typed client reaches every operation of organizations, members, roles, groups and what hangs on them, and reads what they answer. */
import * as Client from "@atelier/http/client"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { startServer } from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

/** The groups of the contract that belong here. */
const areas = [
  "access",
  "organizations",
  "members",
  "groups",
  "organizationGroups",
  "groupAiBudgets",
  "userAiBudgets",
  "organizationAiSpend",
  "aiSpendExport",
  "quotas",
  "templateSharing",
  "workspaceSharing",
  "idpSync"
] as const satisfies ReadonlyArray<keyof Client.Client>

it("the typed client has every operation of organizations, members and groups, and reads its answer", async () => {
  // What a client reads does not depend on the database
  const server = await startServer(sqlite, { entitlements: { has: () => true } })
  try {
    const person = await server.aMember()
    const { template, workspace } = await server.run(
      Effect.gen(function* () {
        const { id } = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
        const template = yield* storedTemplate({ organization_id: id, created_by: person.user.id })
        return { template, ...(yield* storedWorkspace(template, person.user.id)) }
      })
    )
    const plain = await Effect.runPromise(Client.makeFetch({ baseUrl: server.url, sessionToken: server.owner().token }))
    const left = new Set(areas.flatMap((area) => Object.keys(plain[area]).map((operation) => `${area}.${operation}`)))
    /** Notes what is used of a group. */
    const noting = <A extends object>(area: string, group: A): A =>
      new Proxy(group, {
        get: (target, operation, receiver) => {
          left.delete(`${area}.${String(operation)}`)
          return Reflect.get(target, operation, receiver)
        }
      })
    const of = <K extends (typeof areas)[number]>(area: K): Client.Client[K] => noting(area, plain[area])
    const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)
    const id = person.user.id
    const user = { user: id }
    const home = { organization: "default" }

    const object = { resource_type: "template", owner_id: "", organization_id: "", resource_id: "", any_org: true }
    const checks = { see: { object, action: "read" } }
    expect(await run(of("access").checkAuthorization({ payload: { checks } }))).toStrictEqual({ see: true })

    const organizations = of("organizations")
    const made = await run(organizations.createOrganization({ payload: { name: "typed", display_name: "", description: "", icon: "" } }))
    const path = { organization: made.id }
    expect(await run(organizations.listOrganizations())).toContainEqual(made)
    expect(await run(organizations.getOrganization({ path }))).toStrictEqual(made)
    const renamed = await run(organizations.updateOrganization({ path, payload: { icon: "/x.png", default_org_member_roles: [] } }))
    expect(renamed).toMatchObject({ icon: "/x.png", default_org_member_roles: [] })
    const shared = { sharing_disabled: false, shareable_workspace_owners: "everyone" as const }
    expect(await run(organizations.getWorkspaceSharing({ path }))).toMatchObject(shared)
    expect(await run(organizations.updateWorkspaceSharing({ path, payload: shared }))).toMatchObject(shared)

    const members = of("members")
    const member = { ...path, ...user }
    expect(await run(members.addMember({ path: member }))).toMatchObject({ user_id: id, roles: [] })
    const payload = {
      name: "crew",
      display_name: "Crew",
      site_permissions: [],
      user_permissions: [],
      organization_permissions: [{ negate: false, resource_type: "template", action: "read" }],
      organization_member_permissions: []
    }
    expect(await run(members.createCustomRole({ path, payload }))).toMatchObject({ name: "crew" })
    expect(await run(members.updateCustomRole({ path, payload }))).toMatchObject({ display_name: "Crew" })
    expect((await run(members.listOrganizationRoles({ path }))).map(({ name }) => name)).toContain("crew")
    expect(await run(members.updateMemberRoles({ path: member, payload: { roles: ["crew"] } }))).toMatchObject({
      roles: [{ name: "crew" }]
    })
    const seen = { user_id: id, has_ai_seat: false, roles: [{ name: "crew", display_name: "Crew" }] }
    expect(await run(members.getMember({ path: member }))).toMatchObject(seen)
    expect(await run(members.listMembers({ path, urlParams: { q: `user_id:${id}` } }))).toMatchObject([seen])
    expect(await run(members.pageMembers({ path, urlParams: { q: person.user.username, limit: 1, offset: 0 } }))).toMatchObject({
      count: 1,
      members: [seen]
    })
    await run(members.deleteCustomRole({ path: { ...path, roleName: "crew" } }))

    const organizationGroups = of("organizationGroups")
    const groups = of("groups")
    const group = await run(
      organizationGroups.createGroup({ path, payload: { name: "team", display_name: "", avatar_url: "", quota_allowance: 2 } })
    )
    const named = { ...path, groupName: "TEAM" }
    const byId = { group: group.id }
    const all = { exclude_members: false }
    const kept = { name: "", display_name: null, avatar_url: null, quota_allowance: null }
    const joined = await run(groups.updateGroup({ path: byId, payload: { ...kept, add_users: [id], remove_users: [] } }))
    expect(joined).toMatchObject({ id: group.id, total_member_count: 1, members: [{ id }] })
    const everyoneAndTeam = await run(organizationGroups.listOrganizationGroups({ path, urlParams: { has_member: "", group_ids: [] } }))
    expect(everyoneAndTeam.map(({ name }) => name)).toStrictEqual(["Everyone", "team"])
    const sought = { organization: made.id, has_member: person.user.username, group_ids: [group.id] }
    expect(await run(groups.listGroups({ urlParams: sought }))).toStrictEqual([joined])
    expect(await run(groups.getGroup({ path: byId, urlParams: all }))).toStrictEqual(joined)
    expect(await run(organizationGroups.getGroupByName({ path: named, urlParams: all }))).toStrictEqual(joined)
    const page = { q: "", limit: 0, offset: 0 }
    expect(await run(organizationGroups.listGroupsInPages({ path, urlParams: page }))).toMatchObject({ count: 2 })
    expect(await run(groups.listGroupMembers({ path: byId, urlParams: page }))).toMatchObject({ count: 1, users: [{ id }] })
    expect(await run(organizationGroups.listGroupMembersByName({ path: named, urlParams: page }))).toMatchObject({ count: 1 })

    const groupBudgets = of("groupAiBudgets")
    const budget = await run(groupBudgets.setGroupAiBudget({ path: byId, payload: { spend_limit_micros: 5 } }))
    expect(await run(groupBudgets.getGroupAiBudget({ path: byId }))).toStrictEqual(budget)
    expect(await run(groupBudgets.getGroupAiSpend({ path: byId }))).toMatchObject({ spend_limit_micros: 5, current_spend_micros: 0 })
    const spenders = { user_ids: [id] }
    const spent = await run(groupBudgets.getGroupMembersAiSpend({ path: byId, urlParams: spenders }))
    const spending = of("organizationAiSpend")
    expect(await run(spending.getGroupMembersAiSpendByName({ path: named, urlParams: spenders }))).toStrictEqual(spent)
    expect(JSON.stringify(await run(spending.getGroupsAiSpend({ path, urlParams: { group_ids: [group.id] } })))).toContain(group.id)
    const userBudgets = of("userAiBudgets")
    const override = await run(userBudgets.setAiBudgetOverride({ path: user, payload: { group_id: group.id, spend_limit_micros: 1 } }))
    expect(await run(userBudgets.getAiBudgetOverride({ path: user }))).toStrictEqual(override)
    expect(await run(userBudgets.getUserAiSpend({ path: user }))).toMatchObject({
      effective_budget: { spend_limit_micros: 1, limit_source: "user_override" }
    })
    await run(userBudgets.deleteAiBudgetOverride({ path: user }))
    await run(groupBudgets.deleteGroupAiBudget({ path: byId }))
    const csv = await run(of("aiSpendExport").exportAiSpend({ path, urlParams: { period_start: "", period_end: "" } }))
    expect(csv).toMatch(/^user_id,username,group_id/)

    const quotas = of("quotas")
    expect(await run(quotas.getMemberQuota({ path: { ...path, ...user } }))).toStrictEqual({ budget: 2, credits_consumed: 0 })
    expect(await run(quotas.getQuota({ path: user }))).toStrictEqual({ budget: 0, credits_consumed: 0 })

    const templateSharing = of("templateSharing")
    const onTemplate = { template: template.id }
    const perms = { user_perms: { [id]: "use" }, group_perms: {} }
    await run(templateSharing.updateTemplateAcl({ path: onTemplate, payload: perms }))
    expect(await run(templateSharing.getTemplateAcl({ path: onTemplate }))).toMatchObject({ users: [{ id, role: "use" }] })
    const offered = await run(
      templateSharing.listAvailableForTemplate({ path: onTemplate, urlParams: { ...page, q: person.user.username } })
    )
    expect(JSON.stringify(offered)).toContain(id)
    const workspaceSharing = of("workspaceSharing")
    const onWorkspace = { workspace: workspace.id }
    const roles = { user_roles: { [server.owner().user.id]: "admin" }, group_roles: {} }
    await run(workspaceSharing.updateWorkspaceAcl({ path: onWorkspace, payload: roles }))
    expect(await run(workspaceSharing.getWorkspaceAcl({ path: onWorkspace }))).toMatchObject({ users: [{ role: "admin" }], group: [] })
    await run(workspaceSharing.clearWorkspaceAcl({ path: onWorkspace }))

    const sync = of("idpSync")
    const pairs = { add: [{ given: "a", gets: made.id }], remove: [] }
    const names = { add: [{ given: "a", gets: "organization-auditor" }], remove: [] }
    const settings = { field: "f", regex_filter: null, auto_create_missing_groups: false }
    await run(sync.updateOrganizationSync({ payload: { field: "orgs", mapping: {}, organization_assign_default: true } }))
    await run(sync.configureOrganizationSync({ payload: { field: "", assign_default: true } }))
    const mapped = await run(sync.mapOrganizationSync({ payload: pairs }))
    expect(mapped).toStrictEqual({ field: "", mapping: { a: [made.id] }, organization_assign_default: true })
    expect(await run(sync.getOrganizationSync())).toStrictEqual(mapped)
    await run(sync.updateGroupSync({ path, payload: { ...settings, mapping: {}, legacy_group_name_mapping: {} } }))
    await run(sync.configureGroupSync({ path, payload: settings }))
    const groupSync = await run(sync.mapGroupSync({ path, payload: { add: [{ given: "a", gets: group.id }], remove: [] } }))
    expect(await run(sync.getGroupSync({ path }))).toStrictEqual(groupSync)
    await run(sync.updateRoleSync({ path, payload: { field: "r", mapping: {} } }))
    await run(sync.configureRoleSync({ path, payload: { field: "" } }))
    const roleSync = await run(sync.mapRoleSync({ path, payload: names }))
    expect(await run(sync.getRoleSync({ path }))).toStrictEqual(roleSync)
    const claims = [
      sync.listClaims(),
      sync.listClaimValues({ urlParams: { claimField: "groups" } }),
      sync.listOrganizationClaims({ path: home }),
      sync.listOrganizationClaimValues({ path: home, urlParams: { claimField: "groups" } })
    ]
    expect(await run(Effect.all(claims))).toStrictEqual([[], [], [], []])

    expect(await run(groups.deleteGroup({ path: byId }))).toMatchObject({ id: group.id })
    await run(members.removeMember({ path: member }))
    expect(await run(organizations.deleteOrganization({ path }))).toMatchObject({ message: expect.stringContaining("deleted") })
    expect([...left]).toStrictEqual([])
  } finally {
    await server.close()
  }
})
