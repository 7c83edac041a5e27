import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { JobClaims, ProvisionerJobRepository } from "@atelier/core/provisioning"
import { WorkspaceQuotas } from "@atelier/core/workspaces"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { testEngines } from "../../../../test/outside/engine.js"
import { describeInterface, describeServerOnEach, type Person, type TestServer, unlicensed } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { aBuild, aQueuedWorkspace, aWorkspace, buildEnded, getWorkspace } from "../../../../test/http/workspaceCalls.js"

const entitlements = { has: (feature: string) => feature === "template_rbac" }

const Quota = Schema.Struct({ budget: Schema.Number, credits_consumed: Schema.Number })

const quota = async (server: TestServer, { token }: Person, user = "me") => {
  const answers = await Promise.all(
    [`/organizations/default/members/${user}/workspace-quota`, `/workspace-quota/${user}`].map((path) =>
      server.call("GET", path, { token })
    )
  )
  const [first, second] = answers.map((answer) => answer.as(Quota))
  expect(first).toStrictEqual(second)
  return [first?.credits_consumed, first?.budget]
}

/** A group of the default organization with an allowance. */
const allow = async (server: TestServer, quota_allowance: number, ...people: ReadonlyArray<Person>) => {
  const { token } = server.owner()
  const body = { name: `q${crypto.randomUUID()}`, quota_allowance }
  const { id } = (await server.call("POST", "/organizations/default/groups", { token, body })).as(Schema.Struct({ id: Uuid.Uuid }))
  await server.call("PATCH", `/groups/${id}`, { token, body: { add_users: people.map(({ user }) => user.id) } })
}

const logsOf = async (server: TestServer, { id }: { readonly id: string }, { token }: Person) => {
  const Logs = Schema.Array(Schema.Struct({ stage: Schema.String, output: Schema.String, log_source: Schema.String }))
  const logs = (await server.call("GET", `/workspacebuilds/${id}/logs`, { token })).as(Logs)
  return logs.filter(({ stage }) => stage === "Commit quota").map(({ output }) => output)
}

describeServerOnEach(
  "quotas",
  (server, once) => {
    const everyone = async (quota_allowance: number) => {
      const { id } = await server().run(Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default)))
      await server().call("PATCH", `/groups/${id}`, { token: server().owner().token, body: { quota_allowance } })
    }

    once("are the total allowance of a user's groups, and the cost of its latest builds", async () => {
      await everyone(1)
      const one = await server().aMember()
      await allow(server(), 1, one)
      await allow(server(), 2, one)
      await allow(server(), 8)
      const template = await aTemplate(server(), { daily_cost: { start: 1, stop: 1, delete: 1 } })
      expect(await quota(server(), one)).toStrictEqual([0, 4])
      const made = []
      for (let index = 0; index < 4; index++) made.push(await aWorkspace(server(), template, one))
      expect(made.map(({ latest_build }) => [latest_build.status, latest_build.daily_cost])).toStrictEqual(made.map(() => ["running", 1]))
      expect(await quota(server(), one)).toStrictEqual([4, 4])

      const fifth = await aWorkspace(server(), template, one)
      expect(fifth.latest_build).toMatchObject({
        status: "failed",
        daily_cost: 0,
        job: { error_code: "INSUFFICIENT_QUOTA", error: expect.stringMatching(/quota/) }
      })
      expect(await logsOf(server(), fifth.latest_build, one)).toStrictEqual(["", "Build cost: 1", "Budget: 4", "Credits consumed: 4"])
      expect(await quota(server(), one)).toStrictEqual([4, 4])
      const [first] = made
      if (first !== undefined) await aBuild(server(), first, one, { transition: "delete" })
      expect(await quota(server(), one)).toStrictEqual([3, 4])
      expect(await quota(server(), server().owner(), one.user.id)).toStrictEqual([3, 4])
      expect(await quota(server(), await server().aMember())).toStrictEqual([0, 1])
    })

    once("admit only builds that lower the cost when exceeded", async () => {
      await everyone(4)
      const one = await server().aMember()
      const template = await aTemplate(server(), { daily_cost: { start: 2, stop: 1 } })
      const [first, second] = [await aWorkspace(server(), template, one), await aWorkspace(server(), template, one)]
      expect(await quota(server(), one)).toStrictEqual([4, 4])
      expect((await aWorkspace(server(), template, one)).latest_build.job.error_code).toBe("INSUFFICIENT_QUOTA")
      expect((await aBuild(server(), first, one, { transition: "stop" })).status).toBe("stopped")
      expect(await quota(server(), one)).toStrictEqual([3, 4])
      expect((await aBuild(server(), first, one, { transition: "start" })).status).toBe("running")
      expect(await quota(server(), one)).toStrictEqual([4, 4])
      await everyone(1)
      expect((await aBuild(server(), second, one, { transition: "stop" })).status).toBe("stopped")
      expect(await quota(server(), one)).toStrictEqual([3, 1])
      expect((await aBuild(server(), second, one, { transition: "start" })).job.error_code).toBe("INSUFFICIENT_QUOTA")
    })

    once("let a stop through that costs more than the refused start before it", async () => {
      await everyone(2)
      const one = await server().aMember()
      const template = await aTemplate(server(), { daily_cost: { start: 2, stop: 1 } })
      const workspace = await aWorkspace(server(), template, one)
      await everyone(0)
      expect((await aBuild(server(), workspace, one, { transition: "start" })).job.error_code).toBe("INSUFFICIENT_QUOTA")
      expect((await aBuild(server(), workspace, one, { transition: "stop" })).status).toBe("stopped")
      expect(await quota(server(), one)).toStrictEqual([1, 0])
    })

    it("are not exceeded by builds that are planned at once", async () => {
      await everyone(2)
      const one = await server().aMember()
      const template = await aTemplate(server(), { daily_cost: { start: 1 } })
      const queued = await Promise.all(Array.from({ length: 5 }, () => aQueuedWorkspace(server(), template, one)))
      await Promise.all(queued.map(({ latest_build }) => buildEnded(server(), latest_build)))
      const made = await Promise.all(queued.map(({ id }) => getWorkspace(server(), id, one)))
      expect(made.map(({ latest_build }) => latest_build.status).toSorted()).toStrictEqual([
        "failed",
        "failed",
        "failed",
        "running",
        "running"
      ])
      expect(await quota(server(), one)).toStrictEqual([2, 2])
    })

    it("are not charged by a worker that lost the job", async () => {
      await everyone(5)
      const one = await server().aMember()
      const outcome = await server().run(
        Effect.gen(function* () {
          const organization = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
          const template = yield* storedTemplate({ organization_id: organization.id, created_by: one.user.id })
          const { build, workspace } = yield* storedWorkspace(template, one.user.id)
          const [claims, quotas, jobs] = yield* Effect.all([JobClaims, WorkspaceQuotas, ProvisionerJobRepository])
          // The job has ended in between
          const job = yield* Effect.flatten(jobs.lock(build.job_id))
          const work = {
            announce: () => Effect.void,
            charged: () => Effect.void,
            store: <A, E, R>(write: Effect.Effect<A, E, R>) => claims.store(job, write)
          }
          return yield* Effect.either(quotas.charge(build, workspace, 3, work))
        })
      )
      expect(outcome).toMatchObject({ _tag: "Left", left: { _tag: "ClaimLost" } })
      expect(await quota(server(), one)).toStrictEqual([0, 5])
    })

    once("are readable with the right to read the user, even after it left", async () => {
      await everyone(3)
      const [one, other] = await Promise.all([server().aMember(), server().aMember()])
      for (const path of [`/organizations/default/members/${one.user.id}/workspace-quota`, `/workspace-quota/${one.user.id}`]) {
        expect((await server().call("GET", path, { token: other.token })).status).toBe(404)
        expect((await server().call("GET", path)).status).toBe(401)
      }
      expect((await server().call("GET", `/organizations/nowhere/members/me/workspace-quota`, { token: one.token })).status).toBe(404)
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`DELETE FROM organization_members WHERE user_id = ${one.user.id}`
        })
      )
      expect(await quota(server(), server().owner(), one.user.username)).toStrictEqual([0, 0])
    })
  },
  { entitlements, provisioner: testEngines }
)

describeInterface(
  "quotas without their license",
  (server) => {
    it("have no bound, and builds are not charged", async () => {
      const one = await server().aMember()
      const template = await aTemplate(server(), { daily_cost: { start: 3 } })
      expect((await aWorkspace(server(), template, one)).latest_build).toMatchObject({ status: "running", daily_cost: 0 })
      expect(await quota(server(), one)).toStrictEqual([0, -1])
    })
  },
  { ...unlicensed, provisioner: testEngines }
)
