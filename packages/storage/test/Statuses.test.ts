/** Statuses that statements derive are those that core derives, over every combination of what they follow from. */
import { AccessPredicate } from "@atelier/core/access"
import { AgentStatus, statusAt } from "@atelier/core/agents"
import { DormancyRepository, statusAfter, type User, UserRepository, UserStatus } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import {
  BuildTransition,
  DaemonStatus,
  daemonStatus,
  type JobProgress,
  jobStatus,
  JobStatus,
  JobQueueRepository,
  progress,
  ProvisionerDaemonRepository,
  ProvisionerJobRepository,
  untagged
} from "@atelier/core/provisioning"
import { TaskRepository, taskStatus } from "@atelier/core/tasks"
import { TemplateRepository } from "@atelier/core/templates"
import {
  buildStatus,
  dueAction,
  type LifeCycleSubject,
  WorkspaceLifeCycleRepository,
  type WorkspaceQuery,
  WorkspaceRepository
} from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Array, Duration, Effect, Option } from "effect"
import { aBuild, aWorkspace } from "../../../test/records/agentWorkspaces.js"
import { aUser, anOrganization } from "../../../test/records/builders.js"
import { databases } from "../../../test/store/databases.js"
import { aDaemon, aFreshOrganization, aWaitingJob } from "../../../test/records/jobs.js"
import { anAgent, aResource } from "../../../test/records/resources.js"

import { storedTemplate, storedWorkspace } from "../../../test/records/workspaces.js"
import { agentServices } from "./agents/services.js"
import { Statements } from "../src/platform/Statements.js"

const instant = Timestamp.Timestamp.make("2026-03-01T12:00:00.000Z")
const before = (milliseconds: number): Timestamp.Timestamp => Timestamp.minus(instant, milliseconds)

const long = before(86_400_000 * 2)

/** Every combination of empty and filled columns. */
const everyProgress = (at: Timestamp.Timestamp): ReadonlyArray<JobProgress> =>
  Array.cartesianWith(
    Array.cartesian([null, at], [null, at]),
    Array.cartesian([null, at], ["", "it failed"]),
    ([started_at, canceled_at], [completed_at, error]) => ({ started_at, canceled_at, completed_at, error })
  )

const progressOf = ({ canceled_at, completed_at, error, started_at }: JobProgress): JobProgress => ({
  started_at,
  canceled_at,
  completed_at,
  error
})

for (const [name, database] of databases) {
  layer(agentServices(database))(`statuses in statements on ${name}`, (it) => {
    it.effect("filter jobs by the status that core derives", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerJobRepository
        const organization_id = yield* aFreshOrganization
        const jobs = yield* Effect.forEach(everyProgress(instant), (each) => aWaitingJob({ organization_id, ...each }))
        for (const status of JobStatus.literals) {
          const listed = yield* repository.list({ organization_id, status: [status], limit: 0 })
          const expected = jobs.filter((job) => jobStatus(job) === status)
          expect(new Set(listed.map(({ id }) => id)), status).toStrictEqual(new Set(expected.map(({ id }) => id)))
        }
      })
    )

    it.effect("give a daemon the jobs that core's table allows", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerJobRepository
        const queue = yield* JobQueueRepository
        const ids = yield* Ids
        for (const each of everyProgress(before(1_000))) {
          const organization_id = yield* aFreshOrganization
          const { id } = yield* aWaitingJob({ organization_id, ...each })
          const { places } = yield* queue.deploymentQueue([id])
          expect(places.length, JSON.stringify(each)).toBe(jobStatus(each) === "pending" ? 1 : 0)
          const taken = yield* queue.acquire({
            organization_id,
            provisioners: ["echo"],
            tags: untagged,
            worker_id: yield* ids.next,
            claim_id: yield* ids.next,
            now: instant,
            lease_expires_at: instant
          })
          const expected = progress(each, "acquire", instant)
          expect(Option.getOrUndefined(Option.map(taken, progressOf)), JSON.stringify(each)).toStrictEqual(expected)
          const stored = yield* Effect.flatten(repository.byId(id))
          expect(progressOf(stored)).toStrictEqual(expected ?? each)
        }
      })
    )

    it.effect("keep the status of a workspace as its latest build changes", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const tasks = yield* TaskRepository
        const stored = yield* aWorkspace()
        const task = {
          id: yield* (yield* Ids).next,
          created_at: instant,
          organization_id: stored.organization.id,
          owner_id: stored.owner.id,
          name: "task",
          display_name: "",
          workspace_id: stored.workspace.id,
          template_version_id: stored.template.active_version_id,
          prompt: "one",
          deleted_at: null
        }
        yield* tasks.insert(task)
        for (const transition of BuildTransition.literals) {
          const { build } = yield* aBuild(stored, { transition })
          for (const each of everyProgress(instant)) {
            yield* sql`UPDATE provisioner_jobs SET ${sql.update({ ...each })} WHERE id = ${build.job_id}`
            const [row] = yield* sql<{ latest_status: string }>`SELECT latest_status FROM workspaces WHERE id = ${stored.workspace.id}`
            const job = jobStatus(each)
            expect(row?.latest_status, JSON.stringify(each)).toBe(buildStatus(job, transition))
            const status = taskStatus({ build: { job, transition }, lifecycle: null, health: null })
            expect(yield* tasks.setPrompt(task.id, "another"), JSON.stringify(each)).toBe(status === "paused")
          }
        }
      })
    )

    it.effect("filter daemons by the status that core derives", () =>
      Effect.gen(function* () {
        const repository = yield* ProvisionerDaemonRepository
        const organization_id = yield* aFreshOrganization
        const alive_since = before(90_000)
        const all = yield* Effect.forEach(
          Array.cartesian([null, before(90_001), alive_since, before(89_999)], everyProgress(instant)),
          ([last_seen_at, job]) =>
            Effect.gen(function* () {
              const daemon = yield* aDaemon({ organization_id, last_seen_at })
              yield* aWaitingJob({ organization_id, worker_id: daemon.id, ...job })
              const current_job_id = job.completed_at === null ? daemon.id : null
              return { id: daemon.id, status: daemonStatus({ current_job_id, last_seen_at }, alive_since) }
            })
        )
        for (const status of DaemonStatus.literals) {
          const listed = yield* repository.list({ organization_id, statuses: [status], alive_since, limit: 0 })
          const expected = all.filter((daemon) => daemon.status === status)
          expect(new Set(listed.map(({ id }) => id)), status).toStrictEqual(new Set(expected.map(({ id }) => id)))
          for (const daemon of listed) expect(daemonStatus(daemon, alive_since)).toBe(status)
        }
      })
    )

    it.effect("filter workspaces by the connection status that core derives of their agents", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const { page } = yield* WorkspaceRepository
        const inactive = Duration.seconds(30)
        const stored = yield* aWorkspace()
        const { agents } = yield* aBuild(stored, { resources: [aResource({ agents: [anAgent()] })] })
        const id = agents[0]?.id ?? Uuid.nil
        const counted = (now: Timestamp.Timestamp, agent_status: ReadonlyArray<AgentStatus>) =>
          Effect.map(page({ ...anyWorkspace, now, inactive, filter: { ids: [stored.workspace.id], agent_status } }), ({ count }) => count)
        const seen = [null, 30_001, 30_000, 1_000]
        const ended = [null, -1, 0, 1]
        const ages = Array.cartesian([0, 60], [59_999, 60_000, 60_001])
        let milliseconds = 0
        for (const [[timeout, age], [isFirst, lastSeen, disconnected]] of Array.cartesian(
          ages,
          Array.cartesianWith([true, false], Array.cartesian(seen, ended), (first, [last, end]) => [first, last, end] as const)
        )) {
          // The first sign of life is also a last one
          if (isFirst !== (lastSeen === null)) continue
          // Fractions of a second show differences that a store computes in floating point
          milliseconds = (milliseconds + 7) % 1_000
          const now = Timestamp.plus(instant, milliseconds)
          const last_connected_at = lastSeen === null ? null : Timestamp.minus(now, lastSeen)
          const agent = {
            created_at: Timestamp.minus(now, age),
            connection_timeout_seconds: timeout,
            first_connected_at: isFirst ? null : Timestamp.minus(now, 40_000),
            last_connected_at,
            disconnected_at: disconnected === null ? null : Timestamp.plus(last_connected_at ?? now, disconnected)
          }
          yield* sql`UPDATE workspace_agents SET ${sql.update({ ...agent })} WHERE id = ${id}`
          const { status } = statusAt(agent, now, inactive)
          expect(yield* counted(now, [status]), JSON.stringify({ now, ...agent, status })).toBe(1)
          expect(
            yield* counted(
              now,
              AgentStatus.literals.filter((other) => other !== status)
            )
          ).toBe(0)
        }
      })
    )

    it.effect("change the status of users whom core's table lets become dormant or wake", () =>
      Effect.gen(function* () {
        const users = yield* UserRepository
        const repository = yield* DormancyRepository
        const stored = yield* Effect.forEach(
          Array.cartesian(Array.cartesian(UserStatus.literals, [long, instant]), Array.cartesian([false, true], [false, true])),
          ([[status, last_seen_at], [deleted, is_system]]) =>
            Effect.tap(aUser({ status, last_seen_at, deleted, is_system }), (user) => users.insert(user, null))
        )
        const statusOf = (user: User) => Effect.map(Effect.flatten(users.byId(user.id)), ({ status }) => status)

        yield* repository.lapse(instant, instant, { limit: 1_000, except: [] })
        for (const user of stored) {
          const lapses = user.last_seen_at < instant && !user.deleted && !user.is_system
          const expected = (lapses ? statusAfter(user.status, "lapse") : undefined) ?? user.status
          const status = yield* statusOf(user)
          expect(status, JSON.stringify(user)).toBe(expected)

          const after = user.deleted ? undefined : statusAfter(status, "see")
          expect(yield* repository.wake(user.id, instant)).toBe(after !== undefined && after !== status)
          expect(yield* statusOf(user)).toBe(after ?? status)
        }
      })
    )

    it.effect("find every workspace that core's life cycle acts on", () =>
      Effect.gen(function* () {
        const organizations = yield* OrganizationRepository
        const users = yield* UserRepository
        const repository = yield* WorkspaceLifeCycleRepository
        const organization = yield* anOrganization()
        yield* organizations.insert(organization)
        const owners = yield* Effect.forEach(UserStatus.literals, (status) =>
          Effect.tap(aUser({ status }), (user) => users.insert(user, null))
        )
        const template = yield* storedTemplate({
          organization_id: organization.id,
          created_by: owners[0]?.id ?? Uuid.nil,
          failure_ttl_ms: 60_000,
          time_til_dormant_ms: 60_000,
          time_til_dormant_autodelete_ms: 60_000
        })
        const policy = yield* Effect.flatten((yield* TemplateRepository).byId(template.id))
        const times = [
          { deadline: null, autostart_schedule: null, next_start_at: null, last_used_at: instant },
          { deadline: long, autostart_schedule: "0 9 * * *", next_start_at: long, last_used_at: instant },
          { deadline: long, autostart_schedule: "0 9 * * *", next_start_at: null, last_used_at: long },
          { deadline: Timestamp.plus(instant, 60_000), autostart_schedule: null, next_start_at: null, last_used_at: long }
        ]
        const jobs = everyProgress(long).filter((job) => isReachable(job))
        const subjects: Array<LifeCycleSubject & { readonly id: Uuid.Uuid }> = []
        for (const [[owner, transition], [job, [{ deadline, ...time }, isAsleep]]] of Array.cartesian(
          Array.cartesian(owners, BuildTransition.literals),
          Array.cartesian(jobs, Array.cartesian(times, [false, true]))
        )) {
          const { build, workspace } = yield* storedWorkspace(template, owner.id, {
            workspace: { ...time, dormant_at: isAsleep ? long : null, deleting_at: isAsleep && deadline !== null ? deadline : null },
            build: { transition, deadline, max_deadline: null, created_at: long },
            job
          })
          subjects.push({ id: workspace.id, workspace, build: { ...build, job }, policy, owner })
        }
        const limits = [{ template_id: template.id, before: before(60_000) }]
        const found = yield* repository.due(
          { tick: instant, policies: true, failed_before: limits, unused_before: limits },
          { after: undefined, limit: 10_000 }
        )
        const acted = subjects.filter((subject) => dueAction(subject, instant) !== null)
        expect(new Set(acted.map((subject) => dueAction(subject, instant)?.build?.reason))).toStrictEqual(
          new Set(["autostop", "autostart", "dormancy", "autodelete", undefined])
        )
        const missed = acted.filter(({ id }) => !found.includes(id))
        expect(missed.map(({ build, owner, workspace }) => ({ build, status: owner.status, workspace }))).toStrictEqual([])
      })
    )
  })
}

/** The query of a reader of all workspaces. */
const anyWorkspace = { readable: AccessPredicate.True(), requester: Uuid.nil, limit: 0, offset: 0 } satisfies Partial<WorkspaceQuery>

/** The combinations that core's events lead to. */
const isReachable = ({ canceled_at, completed_at, error, started_at }: JobProgress): boolean =>
  (error === "" || completed_at !== null) &&
  (started_at !== null || (completed_at === null ? canceled_at === null : canceled_at !== null && error === ""))
