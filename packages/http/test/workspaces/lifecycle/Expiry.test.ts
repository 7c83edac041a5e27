import { SqlClient } from "@effect/sql"
import { notificationEvents } from "@atelier/core/notifications"
import { Timestamp } from "@atelier/core/platform"
import { WorkspaceExpiry } from "@atelier/core/workspaces"
import { Postgres } from "@atelier/storage-postgres"
import { Duration, Effect, Exit, Layer, Schema, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Workspace } from "../../../src/contract/workspaces/workspaces.js"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeServerOnEach, type Person, startServer, type TestServer } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import {
  aBuild,
  aQueuedWorkspace,
  aWorkspace,
  buildEnded,
  getWorkspace,
  requestWorkspace
} from "../../../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { databaseUrl } from "../../../../../test/store/databases.js"

const hour = 3_600_000

const Quota = Schema.Struct({ credits_consumed: Schema.Number })

const stored = <A>(server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

/** Starts a run of the worker, after the daemons were seen: a clock that was moved has left their signs of life behind. */
const look = async (server: TestServer, seenAgo: Duration.DurationInput = 0) => {
  const seen = Timestamp.minus(await server.run(Timestamp.now), seenAgo)
  await stored(server, (sql) => sql`UPDATE provisioner_daemons SET last_seen_at = ${seen}`)
  await server.run(Effect.flatMap(WorkspaceExpiry, ({ worker }) => worker.run))
}

/** The workspace once its latest build has ended. */
const rested = async (server: TestServer, id: string, person: Person) => {
  await buildEnded(server, (await getWorkspace(server, id, person)).latest_build)
  return getWorkspace(server, id, person)
}

const states = ({ latest_build: { build_number, reason, status } }: typeof Workspace.Type) => ({ build_number, reason, status })

const setTimeoutOf = (server: TestServer, id: string, timeout_ms: number | null, { token }: Person) =>
  server.call("PUT", `/workspaces/${id}/timeout`, { token, body: { timeout_ms } })

describeServerOnEach(
  "a workspace that lives for a time",
  (server, once) => {
    it("is deleted at its end, and its quota comes back", async () => {
      const member = await server().aMember()
      const { body } = await server().call("GET", "/organizations/default", { token: member.token })
      const { id: organization } = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(body)
      const consumed = async () => {
        const path = `/organizations/${organization}/members/me/workspace-quota`
        return (await server().call("GET", path, { token: member.token })).as(Quota).credits_consumed
      }
      const template = await aTemplate(server(), { daily_cost: { start: 5 } })
      await server().call("PATCH", `/groups/${organization}`, { token: server().owner().token, body: { quota_allowance: 10 } })
      const { created_at, expires_at, id } = await aWorkspace(server(), template, member, { timeout_ms: hour })
      expect(Date.parse(expires_at ?? "") - Date.parse(created_at)).toBe(hour)
      expect(await consumed()).toBe(5)

      server().advance(Duration.minutes(59))
      await look(server())
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(1)
      server().advance(Duration.minutes(2))
      await look(server())
      expect(states(await rested(server(), id, member))).toStrictEqual({ build_number: 2, reason: "autodelete", status: "deleted" })
      expect(await consumed()).toBe(0)

      const entries = await server().run(auditEntries({ user_id: member.user.id }))
      expect(entries.at(-1)).toMatchObject({ action: "delete", status_code: 200, additional_fields: { build_reason: "autodelete" } })
      const messages = await stored(
        server(),
        (sql) => sql`SELECT * FROM notification_messages
          WHERE user_id = ${member.user.id} AND template_id = ${notificationEvents.workspaceDeleted.id}`
      )
      expect(JSON.stringify(messages)).toContain("autodeleted at the end of its time")
    })

    once("refuses times out of bounds", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const refused = await requestWorkspace(server(), template, member, { timeout_ms: 10 })
      expect([refused.status, refused.body]).toMatchObject([400, { validations: [{ field: "timeout_ms" }] }])
      const { expires_at, id } = await aWorkspace(server(), template, member)
      expect(expires_at).toBeUndefined()
      expect((await setTimeoutOf(server(), id, 2 ** 40, member)).status).toBe(400)
    })

    once("is extended, kept for good, and ended sooner, by users who may delete it", async () => {
      const member = await server().aMember()
      const { id } = await aWorkspace(server(), await aTemplate(server()), member, { timeout_ms: hour })
      server().advance(Duration.minutes(50))
      const extended = await setTimeoutOf(server(), id, 2 * hour, member)
      expect([extended.status, typeof extended.as(Workspace).expires_at]).toStrictEqual([200, "string"])
      server().advance(Duration.minutes(20))
      await look(server())
      expect((await setTimeoutOf(server(), id, null, member)).as(Workspace).expires_at).toBeUndefined()
      server().advance(Duration.hours(3))
      await look(server())
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(1)

      const key = await server().call("POST", "/users/me/keys/tokens", {
        token: member.token,
        body: { scopes: ["workspace:read", "workspace:update", "template:read"] }
      })
      const { key: token } = key.as(Schema.Struct({ key: Schema.String }))
      expect((await setTimeoutOf(server(), id, 1_000, { ...member, token })).status).toBe(403)
      expect((await setTimeoutOf(server(), id, 1_000, await server().aMember())).status).toBe(404)
      expect((await setTimeoutOf(server(), id, 1_000, member)).status).toBe(200)
      server().advance(Duration.seconds(2))
      await look(server())
      expect((await rested(server(), id, member)).latest_build.status).toBe("deleted")
      expect((await setTimeoutOf(server(), id, hour, member)).status).toBe(409)
    })

    it("is either extended or deleted when both happen at its end", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const made = await Promise.all(Array.from({ length: 5 }, () => aWorkspace(server(), template, member, { timeout_ms: hour })))
      server().advance(Duration.minutes(61))
      const answers = await Promise.all([look(server()), ...made.map(({ id }) => setTimeoutOf(server(), id, hour, member))])
      for (const [at, { id }] of made.entries()) {
        const extension = answers[at + 1]
        if (extension === undefined) throw new Error("no answer")
        expect([200, 409]).toContain(extension.status)
        const { build_number } = (await getWorkspace(server(), id, member)).latest_build
        expect(build_number).toBe(extension.status === 200 ? 1 : 2)
      }
    })

    once("is deleted while its build waits or runs, which is canceled", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), { parameters: [{ name: "hangs", default_value: "1" }], hangs_by: "hangs" })
      const { id, latest_build } = await aQueuedWorkspace(server(), template, member, { timeout_ms: hour })
      server().advance(Duration.minutes(61))
      await look(server())
      await buildEnded(server(), latest_build)
      await look(server())
      expect(states(await rested(server(), id, member))).toStrictEqual({ build_number: 2, reason: "autodelete", status: "deleted" })
    })

    once("is tried to be deleted again after a pause until it is gone", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), { parameters: [{ name: "fails", default_value: "delete" }], fails_by: "fails" })
      const { id } = await aWorkspace(server(), template, member, { timeout_ms: hour })
      server().advance(Duration.minutes(61))
      await look(server())
      expect(states(await rested(server(), id, member))).toStrictEqual({ build_number: 2, reason: "autodelete", status: "failed" })
      await look(server())
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(2)
      await stored(server(), (sql) => sql`UPDATE workspace_build_parameters SET value = 'never' WHERE name = 'fails'`)
      server().advance(Duration.minutes(3))
      await look(server())
      expect(states(await rested(server(), id, member))).toStrictEqual({ build_number: 3, reason: "autodelete", status: "deleted" })
    })

    once("waits for a daemon, and is looked at again after a pause", async () => {
      const member = await server().aMember()
      const { id } = await aWorkspace(server(), await aTemplate(server()), member, { timeout_ms: hour })
      server().advance(Duration.minutes(61))
      await look(server(), "1 hour")
      await look(server())
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(1)
      server().advance(Duration.seconds(11))
      await look(server())
      expect((await rested(server(), id, member)).latest_build).toMatchObject({ build_number: 2, status: "deleted" })
    })

    once("is deleted when a user's own deletion has failed before", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), { parameters: [{ name: "fails", default_value: "delete" }], fails_by: "fails" })
      const { id } = await aWorkspace(server(), template, member, { timeout_ms: hour })
      await aBuild(server(), { id }, member, { transition: "delete" })
      server().advance(Duration.minutes(61))
      await look(server())
      expect((await rested(server(), id, member)).latest_build.build_number).toBe(3)
    })
  },
  { provisioner: testEngines }
)

describe("two replicas on one PostgreSQL", () => {
  let replicas: ReadonlyArray<TestServer> = []
  const scope = Effect.runSync(Scope.make())
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
    const start = (empty: boolean) =>
      startServer(Layer.orDie(Postgres.layer({ url, maxConnections: 5 })), { provisioner: testEngines, empty })
    replicas = [await start(false), await start(true)]
  })
  afterAll(async () => {
    await Promise.all(replicas.map((server) => server.close()))
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("delete each workspace once, also after one of them has ended", async () => {
    const [one, other] = replicas
    if (one === undefined || other === undefined) throw new Error("the replicas have not started")
    const member = await one.aMember()
    const template = await aTemplate(one)
    const made = await Promise.all([hour, hour, hour, 2 * hour].map((timeout_ms) => aWorkspace(one, template, member, { timeout_ms })))
    for (const server of replicas) server.advance(Duration.minutes(61))
    await Promise.all([look(one), look(other), look(one), look(other)])
    for (const { id } of made.slice(0, 3)) {
      expect(states(await rested(other, id, member))).toStrictEqual({ build_number: 2, reason: "autodelete", status: "deleted" })
    }
    await one.close()
    replicas = [other]
    other.advance(Duration.hours(1))
    await look(other)
    for (const { id } of made.slice(3)) {
      expect(states(await rested(other, id, member))).toStrictEqual({ build_number: 2, reason: "autodelete", status: "deleted" })
    }
  })
})
