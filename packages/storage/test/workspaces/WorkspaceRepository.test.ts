import { AccessPredicate } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { BuildTransition, type JobEvent, type JobProgress, jobStatus, progress, ProvisionerJobRepository } from "@atelier/core/provisioning"
import {
  buildStatus,
  WorkspaceBuildRepository,
  type WorkspaceFilter,
  type WorkspaceQuery,
  WorkspaceRepository
} from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { aJob, storedBuild, storedTemplate, storedWorkspace, type WorkspaceParts } from "../../../../test/records/workspaces.js"
import { Statements } from "../../src/platform/Statements.js"

const { AclEveryoneHas, AclGroupHas, AclUserHas, And, False, IdIn, Or, OrgIn, OwnerIs, True } = AccessPredicate

/** An organization with a template and a member. */
const aPlace = Effect.gen(function* () {
  const users = yield* UserRepository
  const organizations = yield* OrganizationRepository
  const organization = yield* anOrganization()
  const owner = yield* aUser()
  yield* organizations.insert(organization)
  yield* users.insert(owner, null)
  const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner.id })
  return { organization, owner, template }
})

const anOwner = (username: string) =>
  Effect.gen(function* () {
    const user = yield* aUser({ username })
    yield* (yield* UserRepository).insert(user, null)
    return user
  })

/** The names and count in the list of an actor who may read all of an organization. */
const listed = (organizationId: Uuid.Uuid, query: Partial<WorkspaceQuery> = {}) =>
  Effect.gen(function* () {
    const { page } = yield* WorkspaceRepository
    const { count, workspaces } = yield* page({
      readable: True(),
      requester: Uuid.nil,
      limit: 0,
      offset: 0,
      now: yield* Timestamp.now,
      inactive: Duration.seconds(30),
      ...query,
      filter: { organization_id: organizationId, ...query.filter }
    })
    return { count, names: workspaces.map(({ name }) => name) }
  })

const stopped: WorkspaceParts = { build: { transition: "stop" } }

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`workspaces on ${name}`, (it) => {
    it.effect("are read as they were stored, with their joined fields", () =>
      Effect.gen(function* () {
        const { organization, owner, template } = yield* aPlace
        const repository = yield* WorkspaceRepository
        const { build, workspace } = yield* storedWorkspace(template, owner.id, {
          workspace: { name: "Box", ttl_ms: 60_000, autostart_schedule: "0 9 * * *", user_acl: { [owner.id]: ["read"] } }
        })
        expect(yield* repository.byId(workspace.id)).toStrictEqual(Option.some(workspace))
        const details = yield* Effect.flatten(repository.details(workspace.id))
        expect(details).toMatchObject({
          ...workspace,
          owner_username: owner.username,
          organization_name: organization.name,
          template: { id: template.id, name: template.name, active_version_id: template.active_version_id },
          latest_build: { ...build, initiator_username: owner.username, job: { id: build.job_id } },
          latest_app_status: null,
          shared_with: [{ actor_type: "user", id: owner.id, name: owner.name, avatar_url: owner.avatar_url }]
        })
      })
    )

    it.effect("are the same records until a row of theirs changes", () =>
      Effect.gen(function* () {
        const { organization, owner, template } = yield* aPlace
        const sql = yield* Statements
        const repository = yield* WorkspaceRepository
        const { build, workspace } = yield* storedWorkspace(template, owner.id, {})
        const { workspace: other } = yield* storedWorkspace(template, owner.id, {})
        const read = (id: Uuid.Uuid) => Effect.flatten(repository.details(id))
        const [first, another] = [yield* read(workspace.id), yield* read(other.id)]
        expect(
          [yield* read(workspace.id), yield* read(other.id)].map((details, index) => details === [first, another][index])
        ).toStrictEqual([true, true])
        const changes: ReadonlyArray<readonly [table: string, id: string, change: Readonly<Record<string, string>>]> = [
          ["workspaces", workspace.id, { name: "changed" }],
          ["users", owner.id, { avatar_url: "/changed" }],
          ["organizations", organization.id, { name: `changed-${organization.id}` }],
          ["templates", template.id, { icon: "changed" }],
          ["workspace_builds", build.id, { initiator_ip: "192.0.2.1" }],
          ["provisioner_jobs", build.job_id, { error: "changed" }],
          ["template_versions", build.template_version_id, { name: "changed" }]
        ]
        for (const [table, id, change] of changes) yield* sql`UPDATE ${sql(table)} SET ${sql.update(change)} WHERE id = ${id}`
        const changed = yield* read(workspace.id)
        expect(changed).toStrictEqual({
          ...first,
          name: "changed",
          owner_avatar_url: "/changed",
          organization_name: `changed-${organization.id}`,
          template: { ...first.template, icon: "changed" },
          latest_build: {
            ...first.latest_build,
            initiator_ip: "192.0.2.1",
            job: { ...first.latest_build.job, error: "changed" },
            template_version_name: "changed"
          }
        })
        expect(yield* read(workspace.id)).toBe(changed)
      })
    )

    it.effect("have unique names of an owner in any case", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const other = yield* anOwner("other-owner")
        const repository = yield* WorkspaceRepository
        const { workspace } = yield* storedWorkspace(template, owner.id, { workspace: { name: "Box" } })
        const again = Effect.asVoid(storedWorkspace(template, owner.id, { workspace: { name: "bOX" } }))
        expect((yield* Effect.flip(again)).constraint).toBe("workspaces_owner_id_name_key")
        yield* storedWorkspace(template, other.id, { workspace: { name: "box" } })
        expect(yield* repository.markDeleted(workspace.id, workspace.updated_at)).toBe(true)
        expect(yield* repository.markDeleted(workspace.id, workspace.updated_at)).toBe(false)
        expect(yield* repository.idByName(owner.id, "BOX", false)).toStrictEqual(Option.none())
        expect(yield* repository.idByName(owner.id, "BOX", true)).toStrictEqual(Option.some(workspace.id))
        yield* again
        expect(yield* repository.idByName(owner.id, "box", true)).not.toStrictEqual(Option.some(workspace.id))
      })
    )

    it.effect("are listed by favorite, running, owner and name", () =>
      Effect.gen(function* () {
        const { organization, template } = yield* aPlace
        const me = yield* anOwner("Middle")
        const last = yield* anOwner("zzz")
        const make = (owner: Uuid.Uuid, name: string, parts: WorkspaceParts = {}) =>
          storedWorkspace(template, owner, { ...parts, workspace: { name, ...parts.workspace } })
        yield* make(last.id, "e")
        yield* make(last.id, "d")
        yield* make(me.id, "B", stopped)
        yield* make(me.id, "c")
        yield* make(me.id, "f", { ...stopped, workspace: { favorite: true } })
        yield* make(me.id, "A")
        const list = (query: Partial<WorkspaceQuery>) => listed(organization.id, query)
        expect(yield* list({ requester: me.id })).toStrictEqual({ count: 6, names: ["f", "A", "c", "d", "e", "B"] })
        expect((yield* list({ requester: last.id })).names).toStrictEqual(["A", "c", "d", "e", "B", "f"])
        expect((yield* list({ requester: me.id, limit: 2, offset: 1 })).names).toStrictEqual(["A", "c"])
        expect((yield* list({ requester: me.id, limit: 2, offset: 4 })).names).toStrictEqual(["e", "B"])
        expect(yield* list({ requester: me.id, offset: 6 })).toStrictEqual({ count: 6, names: [] })
        expect(yield* list({ requester: me.id, limit: 5, offset: 9 })).toStrictEqual({ count: 6, names: [] })
      })
    )

    it.effect("yield the same list for every page size and direction", () =>
      Effect.gen(function* () {
        const { organization, owner, template } = yield* aPlace
        const second = yield* anOwner("second-owner")
        for (let index = 0; index < 23; index++) {
          yield* storedWorkspace(template, index % 2 === 0 ? owner.id : second.id, {
            workspace: { name: `w${index}`, favorite: index % 5 === 0 },
            build: { transition: index % 3 === 0 ? "stop" : "start" }
          })
        }
        const whole = yield* listed(organization.id, { requester: owner.id })
        expect(new Set(whole.names).size).toBe(23)
        const own = whole.names.filter((name) => Number(name.slice(1)) % 2 === 0)
        for (const { expected, readable } of [
          { expected: whole.names, readable: True() },
          { expected: own, readable: OwnerIs({ userId: owner.id }) }
        ]) {
          for (const limit of [1, 4, 7, 30]) {
            const pages: Array<string> = []
            for (let offset = 0; offset < 23; offset += limit) {
              const { count, names } = yield* listed(organization.id, { requester: owner.id, readable, limit, offset })
              expect(count).toBe(expected.length)
              pages.push(...names)
            }
            expect(pages).toStrictEqual(expected)
          }
        }
      })
    )

    it.effect("are exactly those that a predicate admits, and so is their count", () =>
      Effect.gen(function* () {
        const { organization, owner, template } = yield* aPlace
        const elsewhere = yield* aPlace
        const reader = yield* anOwner(`reader-${organization.id.slice(-6)}`)
        const sharedWithReader = { user_acl: { [reader.id]: ["read"] } }
        const sharedWithMembers = { group_acl: { [organization.id]: ["read", "ssh"] } }
        yield* storedWorkspace(template, owner.id, { workspace: { name: "other" } })
        yield* storedWorkspace(template, owner.id, { workspace: { name: "shared", ...sharedWithReader } })
        yield* storedWorkspace(template, owner.id, { workspace: { name: "everyone", ...sharedWithMembers } })
        yield* storedWorkspace(template, owner.id, {
          workspace: { name: "asleep", ...sharedWithReader, dormant_at: template.created_at }
        })
        yield* storedWorkspace(template, owner.id, { workspace: { name: "useless", user_acl: { [reader.id]: ["ssh"] } } })
        yield* storedWorkspace(template, reader.id, { workspace: { name: "mine", ...sharedWithReader } })
        yield* storedWorkspace(elsewhere.template, reader.id, { workspace: { name: "far" } })
        yield* storedWorkspace(template, owner.id, { workspace: { name: "gone", deleted: true } })

        const here = OrgIn({ organizationIds: [organization.id] })
        const there = OrgIn({ organizationIds: [elsewhere.organization.id] })
        const own = OwnerIs({ userId: reader.id })
        const acl = Or({ predicates: [AclUserHas({ userId: reader.id, action: "read" }), AclEveryoneHas({ action: "read" })] })
        const read = (readable: AccessPredicate, limit = 0) =>
          Effect.gen(function* () {
            const { page } = yield* WorkspaceRepository
            const now = yield* Timestamp.now
            const query = { readable, requester: reader.id, filter: {}, offset: 0, now, inactive: Duration.seconds(30) }
            const all = yield* page({ ...query, limit })
            // A page that is full counts by another way than one that ends the list
            const first = yield* page({ ...query, limit: 1 })
            expect(first.count).toBe(all.count)
            return all.workspaces.map(({ name }) => name).toSorted()
          })
        expect(yield* read(False())).toStrictEqual([])
        expect(yield* read(here)).toStrictEqual(["asleep", "everyone", "mine", "other", "shared", "useless"])
        expect(yield* read(And({ predicates: [own, here] }))).toStrictEqual(["mine"])
        expect(yield* read(own)).toStrictEqual(["far", "mine"])
        expect(yield* read(And({ predicates: [here, acl] }))).toStrictEqual(["everyone", "mine", "shared"])
        expect(yield* read(Or({ predicates: [And({ predicates: [own, there] }), And({ predicates: [here, acl] })] }))).toStrictEqual([
          "everyone",
          "far",
          "mine",
          "shared"
        ])
        expect(yield* read(Or({ predicates: [there, And({ predicates: [own, here] })] }))).toStrictEqual(["far", "mine"])
        expect(yield* read(And({ predicates: [here, AclGroupHas({ groupIds: [organization.id], action: "ssh" })] }))).toStrictEqual([
          "everyone"
        ])
        expect(yield* read(And({ predicates: [here, IdIn({ ids: [elsewhere.template.id] })] }))).toStrictEqual([])
      })
    )

    it.effect("are filtered by everything that is stored of them", () =>
      Effect.gen(function* () {
        const { organization, owner, template } = yield* aPlace
        const ids = yield* Ids
        const builds = yield* WorkspaceBuildRepository
        const jobs = yield* ProvisionerJobRepository
        const colleague = yield* anOwner(`Colleague-${organization.id.slice(-6)}`)
        const old = yield* ids.next
        const early = Timestamp.fromMillis(Date.parse("1969-07-20T20:17:40Z"))
        const dev = yield* storedWorkspace(template, owner.id, {
          workspace: { name: "Dev_Box", last_used_at: early, group_acl: { [organization.id]: ["read"] } },
          build: { template_version_id: template.active_version_id, has_external_agent: true }
        })
        yield* storedWorkspace(template, colleague.id, {
          workspace: { name: "devXbox", dormant_at: early, task_id: old, user_acl: { [owner.id]: ["read"] } },
          ...stopped
        })
        const job = (fields: object) => ({ organization_id: organization.id, initiator_id: owner.id, ...fields })
        yield* storedWorkspace(template, colleague.id, {
          workspace: { name: "broken" },
          build: { transition: "delete" },
          job: job({ error: "boom" })
        })
        expect(Option.isSome(yield* jobs.byId(dev.build.job_id))).toBe(true)
        // Another build becomes the latest one: of an older version, with parameters
        const again = yield* ids.next
        const { job_id } = yield* storedBuild(dev.workspace, { template_version_id: template.active_version_id, build_number: 2 })
        expect(job_id).not.toBe(dev.build.job_id)
        const third = { build_number: 3, job_id: yield* aQueuedJob(organization.id, owner.id), has_external_agent: null }
        yield* builds.insert([{ build: { ...dev.build, ...third, id: again }, parameters: [{ name: "Region", value: "EU" }], state: null }])

        const names = (filter: WorkspaceFilter) => Effect.map(listed(organization.id, { filter }), (list) => list.names.toSorted())
        expect(yield* names({})).toStrictEqual(["Dev_Box", "broken", "devXbox"])
        expect(yield* names({ name: "v_b" })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ name: "100%" })).toStrictEqual([])
        expect(yield* names({ owner_id: colleague.id })).toStrictEqual(["broken", "devXbox"])
        expect(yield* names({ owner_username: colleague.username.toLowerCase() })).toStrictEqual(["broken", "devXbox"])
        expect(yield* names({ owner_username: "nobody" })).toStrictEqual([])
        expect(yield* names({ template_ids: [template.id, old] })).toHaveLength(3)
        expect(yield* names({ template_ids: [old] })).toStrictEqual([])
        expect(yield* names({ template_ids: [] })).toStrictEqual([])
        expect(yield* names({ organization_id: old })).toStrictEqual([])
        expect(yield* names({ ids: [dev.workspace.id, old] })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ status: "pending" })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ status: "stopped" })).toStrictEqual(["devXbox"])
        expect(yield* names({ status: "failed" })).toStrictEqual(["broken"])
        expect(yield* names({ is_dormant: true })).toStrictEqual(["devXbox"])
        expect(yield* names({ last_used_after: early, last_used_before: early })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ last_used_after: Timestamp.plus(early, "1 second") })).toStrictEqual(["broken", "devXbox"])
        expect(yield* names({ is_outdated: true })).toStrictEqual([])
        expect(yield* names({ is_outdated: false })).toHaveLength(3)
        expect(yield* names({ has_task: true })).toStrictEqual(["devXbox"])
        expect(yield* names({ has_task: false })).toStrictEqual(["Dev_Box", "broken"])
        expect(yield* names({ has_external_agent: true })).toStrictEqual([])
        expect(yield* names({ has_external_agent: false })).toHaveLength(3)
        expect(yield* names({ is_shared: true })).toStrictEqual(["Dev_Box", "devXbox"])
        expect(yield* names({ is_shared: false })).toStrictEqual(["broken"])
        expect(yield* names({ shared_with_user: owner.id })).toStrictEqual(["devXbox"])
        expect(yield* names({ shared_with_group: organization.id })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ parameter_names: ["region", "size"] })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ parameter_values: [{ name: "region", value: "eu" }] })).toStrictEqual(["Dev_Box"])
        expect(yield* names({ parameter_values: [{ name: "region", value: "us" }] })).toStrictEqual([])
        expect(yield* names({ agent_status: [] })).toStrictEqual([])
        expect(yield* names({ status: "pending", owner_id: owner.id, name: "dev" })).toStrictEqual(["Dev_Box"])
      })
    )

    it.effect("have the status of their latest build for every job status", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const workspaces = yield* WorkspaceRepository
        const jobs = yield* ProvisionerJobRepository
        const sql = yield* Statements
        const { workspace } = yield* storedWorkspace(template, owner.id)
        const fresh: JobProgress = { started_at: null, completed_at: null, canceled_at: null, error: "" }
        const histories: ReadonlyArray<ReadonlyArray<JobEvent>> = [
          [],
          ["acquire"],
          ["acquire", "requeue"],
          ["acquire", "complete"],
          ["acquire", "cancel"],
          ["acquire", "cancel", "complete"],
          ["acquire", "cancel", "acknowledge_cancel"],
          ["acquire", "cancel", "fail"],
          ["acquire", "fail"],
          ["cancel"],
          ["reap"]
        ]
        const seen = new Set<string>()
        let build_number = 1
        for (const transition of BuildTransition.literals) {
          for (const history of histories) {
            build_number++
            const build = yield* storedBuild(
              workspace,
              { template_version_id: template.active_version_id, transition, build_number },
              fresh
            )
            let job = fresh
            for (const event of ["none", ...history] as const) {
              const now = yield* Timestamp.now
              if (event !== "none") job = progress(job, event, now, "it failed") ?? job
              yield* jobs.update(build.job_id, { ...job, ...nobody, updated_at: now })
              const [row] = yield* sql<{ latest_status: string }>`SELECT latest_status FROM workspaces WHERE id = ${workspace.id}`
              expect(row?.latest_status).toBe(buildStatus(jobStatus(job), transition))
              seen.add(`${jobStatus(job)} ${transition}`)
            }
            expect((yield* Effect.flatten(workspaces.details(workspace.id))).latest_build.id).toBe(build.id)
          }
        }
        expect(seen.size).toBe(18)
      })
    )

    it.effect("keep copied fields current", () =>
      Effect.gen(function* () {
        const { organization, owner, template } = yield* aPlace
        const sql = yield* Statements
        const workspaces = yield* WorkspaceRepository
        const first = yield* storedWorkspace(template, owner.id, { workspace: { name: "first" } })
        const second = yield* anOwner(`b-${organization.id.slice(-6)}`)
        yield* storedWorkspace(template, second.id, { workspace: { name: "second" } })
        const names = Effect.map(listed(organization.id), (list) => list.names)
        const counted = Effect.map(
          sql<{ count: number }>`SELECT coalesce(sum(count), 0) AS count FROM workspace_counts WHERE organization_id = ${organization.id}`,
          ([row]) => Number(row?.count)
        )
        expect(yield* names).toStrictEqual(["second", "first"])
        yield* sql`UPDATE users SET username = ${`A-${organization.id.slice(-6)}`} WHERE id = ${owner.id}`
        expect(yield* names).toStrictEqual(["first", "second"])
        expect(yield* counted).toBe(2)
        yield* workspaces.markDeleted(first.workspace.id, first.workspace.updated_at)
        expect(yield* counted).toBe(1)
      })
    )

    it.effect("note when they were used, and never an earlier time", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const workspaces = yield* WorkspaceRepository
        const { workspace } = yield* storedWorkspace(template, owner.id)
        const later = Timestamp.plus(workspace.last_used_at, "1 minute")
        const usedAt = Effect.map(Effect.flatten(workspaces.byId(workspace.id)), ({ last_used_at }) => last_used_at)
        yield* workspaces.markUsed([workspace.id], later)
        expect(yield* usedAt).toBe(later)
        yield* workspaces.markUsed([workspace.id], workspace.last_used_at)
        expect(yield* usedAt).toBe(later)
      })
    )

    it.effect("have unique build numbers and guarded deadlines", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const builds = yield* WorkspaceBuildRepository
        const { build, workspace } = yield* storedWorkspace(template, owner.id)
        const version = { template_version_id: template.active_version_id }
        const clash = yield* Effect.flip(storedBuild(workspace, { ...version, build_number: 1 }))
        expect(clash.constraint).toBe("workspace_builds_workspace_id_build_number")
        const at = (minutes: number) => Timestamp.plus(build.created_at, Duration.minutes(minutes))
        yield* builds.complete(build.id, {
          deadline: at(10),
          max_deadline: at(30),
          has_ai_task: false,
          has_external_agent: false,
          state: { key_id: "k", ciphertext: Uint8Array.of(1, 2, 3) },
          updated_at: at(1)
        })
        const sealed = { id: build.id, user_id: build.initiator_id, value: { key_id: "k", ciphertext: Buffer.from([1, 2, 3]) } }
        expect(yield* builds.state(build.id)).toStrictEqual(Option.some(sealed))
        expect(yield* builds.moveDeadline(build.id, at(10), at(20), at(2))).toBe(true)
        expect(yield* builds.moveDeadline(build.id, at(10), at(25), at(2))).toBe(false)
        expect(yield* builds.moveDeadline(build.id, at(20), at(40), at(2))).toBe(false)
        expect(Option.map(yield* builds.latest(workspace.id), ({ deadline }) => deadline)).toStrictEqual(Option.some(at(20)))
        const isRunning = Effect.map(builds.running(Uuid.nil, 100), (all) =>
          all.filter(({ workspace_id }) => workspace_id === workspace.id)
        )
        expect(yield* isRunning).toStrictEqual([{ workspace_id: workspace.id, state: sealed }])
        expect((yield* builds.running(workspace.id, 100)).filter(({ workspace_id }) => workspace_id === workspace.id)).toStrictEqual([])
        yield* storedBuild(workspace, { ...version, build_number: 2, transition: "stop" })
        expect(yield* isRunning).toStrictEqual([])
        const numbers = (page: { since?: Timestamp.Timestamp; after_number?: number; limit?: number; offset?: number }) =>
          Effect.map(builds.list(workspace.id, { limit: 0, offset: 0, ...page }), (list) => list.map(({ build_number }) => build_number))
        expect(yield* numbers({})).toStrictEqual([2, 1])
        expect(yield* numbers({ limit: 1, offset: 1 })).toStrictEqual([1])
        expect(yield* numbers({ after_number: 1 })).toStrictEqual([2])
        expect(yield* numbers({ since: build.created_at })).toStrictEqual([])
      })
    )

    it.effect("are gone for their engine once they are deleted and their builds have ended", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const stored = (parts: WorkspaceParts) => Effect.map(storedWorkspace(template, owner.id, parts), ({ workspace }) => workspace.id)
        const kept = yield* stored({ workspace: { name: "kept" } })
        const deleted = yield* stored({ workspace: { name: "deleted", deleted: true } })
        const working = yield* stored({ workspace: { name: "working", deleted: true }, job: { completed_at: null } })
        const unknown = yield* (yield* Ids).next
        const { gone } = yield* WorkspaceBuildRepository
        expect(yield* gone([kept, deleted, working, unknown])).toStrictEqual([deleted])
        expect(yield* gone([])).toStrictEqual([])
      })
    )

    it.effect("are read and locked one by one and together with the same result", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const [first, second] = [yield* storedWorkspace(template, owner.id), yield* storedWorkspace(template, owner.id)]
        const workspaces = yield* WorkspaceRepository
        const builds = yield* WorkspaceBuildRepository
        const third = { ...first.build, id: yield* (yield* Ids).next, build_number: 2 }
        const job_id = yield* aQueuedJob(template.organization_id, owner.id)
        const state = { key_id: "key", ciphertext: new Uint8Array([1, 2]) }
        yield* builds.insert([{ build: { ...third, job_id }, parameters: [{ name: "region", value: "eu" }], state }])
        const both = [first.workspace.id, second.workspace.id]
        const latest = [third.id, second.build.id]
        const eachOf = <A, B>(ids: ReadonlyArray<A>, read: (id: A) => Effect.Effect<Option.Option<B>>) =>
          Effect.map(Effect.forEach(ids, read), (found) => found.map(Option.getOrThrow))
        const sorted = <A extends { readonly id: Uuid.Uuid }>(rows: ReadonlyArray<A>) =>
          rows.toSorted((one, other) => [...both, ...latest].indexOf(one.id) - [...both, ...latest].indexOf(other.id))
        expect(sorted(yield* workspaces.detailsOf(both))).toStrictEqual(yield* eachOf(both, workspaces.details))
        expect(sorted(yield* workspaces.lockFree(both))).toStrictEqual(yield* eachOf(both, workspaces.lock))
        expect(sorted(yield* builds.lockFreeLatest(both))).toStrictEqual(yield* eachOf(both, builds.lockLatest))
        expect(sorted(yield* builds.statesOf(latest))).toStrictEqual(yield* eachOf(latest, builds.state))
        expect(yield* builds.parametersOf(latest)).toStrictEqual([{ workspace_build_id: third.id, name: "region", value: "eu" }])
        expect(yield* (yield* UserRepository).byIds([owner.id])).toStrictEqual(yield* eachOf([owner.id], (yield* UserRepository).byId))
      })
    )

    it.effect("have unsuccessful builds once these have failed or were canceled", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aPlace
        const now = yield* Timestamp.now
        const stored = (name: string, job: NonNullable<WorkspaceParts["job"]>) =>
          Effect.map(storedWorkspace(template, owner.id, { workspace: { name }, job }), ({ build }) => build.id)
        const succeeded = yield* stored("succeeded", { completed_at: now })
        const failed = yield* stored("failed", { completed_at: now, error: "the image is missing" })
        const canceled = yield* stored("canceled", { completed_at: now, canceled_at: now })
        const canceling = yield* stored("canceling", { completed_at: null, canceled_at: now })
        const unknown = yield* (yield* Ids).next
        const { unsuccessful } = yield* WorkspaceBuildRepository
        expect(new Set(yield* unsuccessful([succeeded, failed, canceled, canceling, unknown]))).toStrictEqual(new Set([failed, canceled]))
      })
    )
  })
}

const nobody = { error_code: "", worker_id: null, claim_id: null, lease_expires_at: null }

/** A job that waits. */
const aQueuedJob = (organizationId: Uuid.Uuid, initiatorId: Uuid.Uuid) =>
  Effect.gen(function* () {
    const jobs = yield* ProvisionerJobRepository
    const job = yield* aJob({ organization_id: organizationId, initiator_id: initiatorId, started_at: null, completed_at: null })
    yield* jobs.insert([job])
    return job.id
  })
