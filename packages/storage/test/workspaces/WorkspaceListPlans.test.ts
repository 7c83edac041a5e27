import { AccessPredicate } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { type WorkspaceQuery, WorkspaceRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { manyWorkspaces } from "../../../../test/records/manyWorkspaces.js"
import { runtime } from "../../../../test/store/services.js"
import { planOf, type RecordedStatement, statementsOf } from "../../../../test/store/statements.js"
import { storedTemplate } from "../../../../test/records/workspaces.js"
import { Statements } from "../../src/platform/Statements.js"

/** Enough for the databases to prefer indexes where there are some. */
const count = 2000
const ownerCount = 50

interface World {
  readonly base: WorkspaceQuery
  readonly organizationId: Uuid.Uuid
  readonly ownerName: string
  readonly templateId: Uuid.Uuid
}

class Populated extends Context.Tag("Populated")<Populated, World>() {}

const populated = Layer.effect(
  Populated,
  Effect.gen(function* () {
    const users = yield* UserRepository
    const organizations = yield* OrganizationRepository
    const sql = yield* Statements
    const organization = yield* anOrganization()
    yield* organizations.insert(organization)
    const owners = yield* Effect.forEach(Array.from({ length: ownerCount }), () => aUser())
    yield* Effect.forEach(owners, (owner) => users.insert(owner, null), { discard: true })
    const [requester = yield* aUser(), second = yield* aUser()] = owners
    const template = yield* storedTemplate({ organization_id: organization.id, created_by: requester.id })
    yield* manyWorkspaces({
      count,
      owners: owners.map(({ id }) => id),
      organization_id: organization.id,
      template_id: template.id,
      template_version_id: template.active_version_id
    })
    yield* sql`UPDATE workspaces SET user_acl = ${JSON.stringify({ [requester.id]: ["read"] })} WHERE name IN ('w7', 'w8')`
    return {
      base: {
        readable: AccessPredicate.True(),
        requester: requester.id,
        filter: {},
        limit: 25,
        offset: 0,
        now: yield* Timestamp.now,
        inactive: Duration.seconds(30)
      },
      organizationId: organization.id,
      ownerName: second.username,
      templateId: template.id
    }
  })
)

/** A read of a whole table: PostgreSQL's `Seq Scan`, SQLite's `SCAN` without an index. */
const wholeTable = /Seq Scan on (?:workspaces|workspace_builds|provisioner_jobs)\b|^SCAN [wbj]$/gm

/** The reads of whole tables in a plan. SQLite writes the same for the parts of the list that the statement names and has read before. */
const wholeTables = (plan: string, { text }: RecordedStatement): number =>
  (plan.match(wholeTable) ?? []).length -
  (plan.startsWith("SCAN") || plan.startsWith("CO-ROUTINE") ? (text.match(/FROM (favorites|mine) w/g) ?? []).length : 0)

for (const [name, database] of databases) {
  const world = populated.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(world)(`the list of workspaces on ${name}`, (it) => {
    /** Without agents, PostgreSQL reads either of its indexes by their last signs: workspace_agents_seen_jobs or workspace_agents_lost_jobs. */
    const seenAgents = name === "SQLite" ? "workspace_agents_seen" : "_jobs on workspace_agents"

    const plans = (query: (world: World) => Partial<WorkspaceQuery>) =>
      Effect.gen(function* () {
        const { page } = yield* WorkspaceRepository
        const populated = yield* Populated
        const { statements, value } = yield* statementsOf(page({ ...populated.base, ...query(populated) }))
        const plans = yield* Effect.forEach(statements, planOf)
        const whole = statements.map((statement, index) => wholeTables(plans[index] ?? "", statement))
        return { value, plans, whole }
      })

    const member = ({ base, organizationId }: World) => {
      const here = AccessPredicate.OrgIn({ organizationIds: [organizationId] })
      const own = AccessPredicate.And({ predicates: [AccessPredicate.OwnerIs({ userId: base.requester }), here] })
      const shared = AccessPredicate.And({ predicates: [here, AccessPredicate.AclUserHas({ userId: base.requester, action: "read" })] })
      return AccessPredicate.Or({ predicates: [own, shared] })
    }

    const administrator = (world: World) => {
      const here = AccessPredicate.OrgIn({ organizationIds: [world.organizationId] })
      return AccessPredicate.Or({ predicates: [here, member(world)] })
    }

    it.effect.each<readonly [string, (world: World) => Partial<WorkspaceQuery>, ReadonlyArray<string>]>([
      ["the first page", () => ({}), ["workspaces_in_order"]],
      ["a page in the middle", () => ({ offset: count / 2 }), []],
      ["the last page", () => ({ offset: count - 25 }), ["workspaces_in_order"]],
      ["a member's page", (world) => ({ readable: member(world) }), ["workspaces_shared"]],
      ["an administrator's page", (world) => ({ readable: administrator(world) }), []],
      ["a member's search", (world) => ({ readable: member(world), filter: { name: "w5" } }), ["workspaces_shared"]],
      ["one status", () => ({ filter: { status: "stopped" } }), ["workspaces_by_status"]],
      ["an owner", ({ ownerName }) => ({ filter: { owner_username: ownerName } }), []],
      ["a template", ({ templateId }) => ({ filter: { template_ids: [templateId] } }), ["workspaces_by_template"]],
      ["an organization", ({ organizationId }) => ({ filter: { organization_id: organizationId } }), ["workspaces_by_organization"]],
      ["a part of a name", () => ({ filter: { name: "w99" } }), []],
      // So few rows of PostgreSQL may be read by any index
      ["a part of many names", () => ({ filter: { name: "w" } }), name === "SQLite" ? ["workspaces_names"] : []],
      ["outdated ones", () => ({ filter: { is_outdated: true } }), []],
      ["current ones", () => ({ filter: { is_outdated: false } }), name === "SQLite" ? ["workspaces_in_order_with_version"] : []],
      ["those of tasks", () => ({ filter: { has_task: true } }), ["workspaces_of_tasks"]],
      ["dormant ones", () => ({ filter: { is_dormant: true } }), []],
      ["shared ones", () => ({ filter: { is_shared: true } }), []],
      ["used ones", ({ base }) => ({ filter: { last_used_after: base.now } }), []],
      ["connected agents", () => ({ filter: { agent_status: ["connected"] } }), [seenAgents, "workspaces_started"]],
      [
        "disconnected agents",
        () => ({ filter: { agent_status: ["disconnected"] } }),
        ["workspaces_started", name === "SQLite" ? "workspace_agents_with_signs" : seenAgents]
      ],
      [
        "agents that never connected",
        () => ({ filter: { agent_status: ["connecting", "timeout"] } }),
        ["workspace_agents_never_connected"]
      ],
      ["a parameter", () => ({ filter: { parameter_names: ["region"] } }), []]
    ])("reads no whole table for %s", ([, query, indexes]) =>
      Effect.gen(function* () {
        const { plans: found, whole } = yield* plans(query)
        expect(found.length).toBeLessThanOrEqual(2)
        expect(whole).toStrictEqual(found.map(() => 0))
        for (const index of indexes) expect(found.join("\n")).toContain(index)
      })
    )

    it.effect("reads the first page and a known length of the list by one statement", () =>
      Effect.gen(function* () {
        const { plans: found, value } = yield* plans(() => ({}))
        expect(found).toHaveLength(1)
        expect(value).toMatchObject({ count, workspaces: { length: 25 } })
      })
    )

    it.effect("looks for no favorites among the rows before a page, if the requester has none", () =>
      Effect.gen(function* () {
        const { plans: found } = yield* plans(() => ({ offset: count / 2 }))
        expect(found[1]).not.toMatch(/(SCAN|Scan on) favorites(?! w)/)
      })
    )

    it.effect.each<readonly [string, (world: World) => Partial<WorkspaceQuery>]>([
      ["whole", () => ({})],
      ["filtered by it", ({ organizationId }) => ({ filter: { organization_id: organizationId } })]
    ])("counts an organization %s without reading its workspaces", ([, query]) =>
      Effect.gen(function* () {
        const { plans: found, value } = yield* plans((world) => ({ ...query(world), offset: 25 }))
        expect(value.count).toBe(count)
        expect(found[0]).toMatch(/workspace_counts|SCAN c$/m)
        expect(found[0]).not.toMatch(/workspaces_(in_order|by_)/)
      })
    )
  })
}
