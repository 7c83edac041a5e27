import { ProvisionerDaemonRepository } from "@atelier/core/provisioning"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aDaemon } from "../../../../../test/records/jobs.js"
import { describeServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate, aVersion, ended } from "../../../../../test/http/templates.js"

const Ids = Schema.Array(Schema.Struct({ id: Schema.String }))
const Fields = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })

describeServer(
  "provisioner jobs",
  (server) => {
    const get = (path: string, token = server().owner().token) => server().call("GET", `/organizations/default${path}`, { token })
    const idsOf = async (path: string) => (await get(path)).as(Ids).map(({ id }) => id)

    /** What a socket sends until it is closed, and the code it is closed with. */
    const follow = (path: string) =>
      new Promise<{ readonly code: number; readonly rows: ReadonlyArray<{ readonly id: number; readonly output: string }> }>(
        (resolve, reject) => {
          const rows: Array<{ readonly id: number; readonly output: string }> = []
          const socket = new WebSocket(`${server().url.replace("http", "ws")}/api/v2${path}`, {
            headers: { "Service-Session-Token": server().owner().token }
          })
          socket.on("message", (data) => rows.push(JSON.parse(String(data))))
          socket.on("close", (code) => resolve({ code, rows }))
          socket.on("error", reject)
        }
      )

    it("are listed newest first, with their subjects", async () => {
      const template = await aTemplate(server(), {}, { display_name: "Fine", icon: "/fine.png" })
      const version = await anImportedVersion(server(), {}, { template_id: template.id })
      const [first] = (await get("/provisionerjobs?limit=1")).as(Schema.Array(Schema.Unknown))
      expect(first).toMatchObject({
        id: version.job.id,
        status: "succeeded",
        type: "template_version_import",
        input: { template_version_id: version.id },
        metadata: {
          template_version_name: version.name,
          template_id: template.id,
          template_name: template.name,
          template_display_name: "Fine",
          template_icon: "/fine.png"
        },
        queue_position: 0
      })
      expect(first).toHaveProperty("worker_name")
      expect((await get(`/provisionerjobs/${version.job.id}`)).body).toStrictEqual(first)
    })

    it("are filtered by everything they can be filtered by", async () => {
      const failed = await anImportedVersion(server(), { fails: "plan" })
      const waiting = await aVersion(server(), {}, { tags: { nobody: "has" } })
      expect(await idsOf(`/provisionerjobs?ids=${failed.job.id},${waiting.job.id}`)).toStrictEqual([waiting.job.id, failed.job.id])
      expect(await idsOf(`/provisionerjobs?status=pending&tags=${encodeURIComponent('{"nobody":"has"}')}`)).toStrictEqual([waiting.job.id])
      expect(await idsOf(`/provisionerjobs?ids=${failed.job.id}&status=failed,canceled`)).toStrictEqual([failed.job.id])
      expect(await idsOf("/provisionerjobs?initiator=7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e")).toStrictEqual([])
      expect(await idsOf(`/provisionerjobs?initiator=${server().owner().user.id}&limit=1`)).toStrictEqual([waiting.job.id])
      expect((await get(`/provisionerjobs?ids=${waiting.job.id}`)).body).toMatchObject([{ queue_position: 1, queue_size: 1 }])
      // Empty values are sent on purpose
      expect((await idsOf("/provisionerjobs?ids=&status=&tags=&limit=")).length).toBeGreaterThan(1)
      expect((await get("/provisionerjobs/7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e")).status).toBe(404)
    })

    it.each([
      ["foo=1", "foo"],
      ["status=sleeping", "status"],
      ["tags=x", "tags"],
      ["limit=-1", "limit"],
      ["limit=many", "limit"],
      ["initiator=me", "initiator"]
    ])("refuse the query %s", async (query, field) => {
      const refused = await get(`/provisionerjobs?${query}`)
      expect([refused.status, refused.as(Fields).validations.map((validation) => validation.field)]).toStrictEqual([400, [field]])
    })

    it("are not filtered by tags that no job can have", async () => {
      for (const value of ["\0", "\ud800", "x".repeat(5_000)]) {
        const tags = encodeURIComponent(JSON.stringify({ a: value }))
        for (const list of ["provisionerjobs", "provisionerdaemons"]) {
          const answer = await get(`/${list}?tags=${tags}`)
          expect([answer.status, answer.as(Fields).validations.map(({ field }) => field)]).toStrictEqual([400, ["tags"]])
        }
      }
    })

    it("are shown to template administrators of the organization only", async () => {
      const member = await server().aMember()
      const siteAdmin = await server().aMember({ rbac_roles: ["template-admin"] })
      const administrator = await server().aMember({}, ["organization-template-admin"])
      for (const path of ["/provisionerjobs", "/provisionerdaemons"]) {
        expect((await get(path, member.token)).status).toBe(404)
        expect((await get(path, siteAdmin.token)).status).toBe(404)
        expect((await get(path, administrator.token)).status).toBe(200)
      }
    })

    it("stream their log to followers: stored lines, new lines, and the end", async () => {
      const done = await anImportedVersion(server(), { logs: ["first", "second"] })
      const all = await follow(`/templateversions/${done.id}/logs?follow`)
      expect([all.code, all.rows.length]).toStrictEqual([1000, 11])
      const rest = await follow(`/templateversions/${done.id}/logs?follow=false&after=${all.rows[7]?.id}`)
      expect([rest.code, rest.rows.map(({ output }) => output)]).toStrictEqual([1000, ["first", "second", ""]])
      const running = await aVersion(server(), { logs: ["live"] })
      const live = await follow(`/templateversions/${running.id}/logs?follow&after=0`)
      expect([live.code, live.rows.filter(({ output }) => output === "live").length]).toStrictEqual([1000, 2])
    })

    it("end a follower's wait when they are canceled before anybody took them", async () => {
      const { id, job } = await aVersion(server(), {}, { tags: { nobody: "has" } })
      const following = follow(`/templateversions/${id}/logs?follow`)
      await server().call("PATCH", `/templateversions/${id}/cancel`, { token: server().owner().token })
      await ended(server(), job)
      expect(await following).toStrictEqual({ code: 1000, rows: [] })
    })
  },
  { provisioner: testEngines }
)

describeServer(
  "provisioner daemons",
  (server) => {
    const daemons = async (query = "") => {
      const answer = await server().call("GET", `/organizations/default/provisionerdaemons${query}`, { token: server().owner().token })
      return answer
    }
    const Daemons = Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, status: Schema.String }))

    it("of the server itself are alive, with their last job", async () => {
      const { job } = await anImportedVersion(server())
      const list = (await daemons()).as(Schema.Array(Schema.Unknown))
      expect(list.length).toBe(3)
      expect(list).toContainEqual(
        expect.objectContaining({
          key_name: "built-in",
          status: "idle",
          tags: { scope: "organization", owner: "" },
          current_job: null,
          previous_job: expect.objectContaining({ id: job.id, status: "succeeded" })
        })
      )
    })

    it("that are offline are shown on request", async () => {
      const { id } = await server().run(
        Effect.gen(function* () {
          const organization = yield* Effect.flatMap(OrganizationRepository, (repository) => Effect.flatten(repository.default))
          const now = yield* Timestamp.now
          return yield* aDaemon({
            organization_id: organization.id,
            last_seen_at: Timestamp.minus(now, "91 seconds"),
            tags: { where: "far" }
          })
        })
      )
      const statusOf = async (query: string) => (await daemons(query)).as(Daemons).find((daemon) => daemon.id === id)?.status
      expect(await statusOf("")).toBeUndefined()
      expect(await statusOf("?offline=true")).toBe("offline")
      expect(await statusOf("?status=offline")).toBe("offline")
      expect(await statusOf("?status=idle,busy")).toBeUndefined()
      expect(await statusOf("?offline=true&max_age=1m")).toBeUndefined()
      expect(await statusOf("?offline=true&max_age=1h30m")).toBe("offline")
      expect(await statusOf("?offline=true&max_age=-1h")).toBe("offline")
      expect(await statusOf(`?offline=true&tags=${encodeURIComponent('{"where":"far"}')}`)).toBe("offline")
      expect(await statusOf(`?offline=true&tags=${encodeURIComponent('{"where":"near"}')}`)).toBeUndefined()
      expect((await daemons(`?offline=true&ids=${id}&limit=1`)).as(Daemons).map((daemon) => daemon.id)).toStrictEqual([id])
      expect((await daemons("?max_age=soon")).status).toBe(400)
      expect((await daemons("?foo=1")).status).toBe(400)
    })

    it("stay known as long as the server shows that they live", async () => {
      const names = await server().run(
        Effect.gen(function* () {
          const repository = yield* ProvisionerDaemonRepository
          const organization = yield* Effect.flatMap(OrganizationRepository, (organizations) => Effect.flatten(organizations.default))
          yield* repository.deleteUnseen(Timestamp.minus(yield* Timestamp.now, "7 days"))
          const now = yield* Timestamp.now
          return yield* repository.list({
            organization_id: organization.id,
            statuses: ["idle"],
            alive_since: Timestamp.minus(now, "1 minute"),
            limit: 0
          })
        })
      )
      expect(names.map(({ name }) => name.replace(/^.*-/, "")).toSorted()).toStrictEqual(["0", "1", "2"])
    })
  },
  { provisioner: testEngines }
)
