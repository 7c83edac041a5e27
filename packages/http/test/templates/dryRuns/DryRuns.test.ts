import { JobLog, JobView, MatchedProvisionersView } from "@atelier/core/provisioning"
import { Schema } from "effect"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { testEngines } from "../../../../../test/outside/engine.js"
import { describeInterface } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate, aVersion, ended } from "../../../../../test/http/templates.js"

const source = {
  parameters: [{ name: "size", type: "number", validation_min: 1, validation_max: 9 }],
  resources: [
    {
      name: "main",
      type: "thing",
      icon: "",
      hide: false,
      daily_cost: 3,
      instance_type: "",
      module_path: "",
      metadata: [{ key: "k", value: "v", sensitive: false }],
      agents: []
    }
  ],
  logs: ["planned"],
  hangs_for: "slow"
} as const

describeInterface(
  "a dry run",
  (server) => {
    const call = (
      method: "GET" | "POST" | "PATCH",
      path: string,
      { token = server().owner().token, body }: { token?: string; body?: unknown } = {}
    ) => server().call(method, `/templateversions/${path}`, body === undefined ? { token } : { token, body })

    const aDryRun = async (version: string, body: object = {}, token = server().owner().token): Promise<JobView> => {
      const answer = await call("POST", `${version}/dry-run`, { token, body: { workspace_name: "dry", ...body } })
      expect(answer.status).toBe(201)
      return answer.as(JobView)
    }

    it("plans a workspace of a version, with resources and a log, and makes none", async () => {
      const { id, job: source_job } = await anImportedVersion(server(), source)
      const body = { name: "planned", template_version_id: id }
      await server().call("POST", "/organizations/default/templates", { token: server().owner().token, body })
      const job = await aDryRun(id, {
        rich_parameter_values: [{ name: "size", value: "3" }],
        user_variable_values: [{ name: "v", value: "1" }]
      })
      expect(job).toMatchObject({
        status: "pending",
        type: "template_version_dry_run",
        input: { template_version_id: id },
        file_id: source_job.file_id,
        tags: source_job.tags,
        queue_position: 0,
        queue_size: 0
      })
      await ended(server(), job)
      expect((await call("GET", `${id}/dry-run/${job.id}`)).body).toMatchObject({ id: job.id, status: "succeeded" })
      expect((await call("GET", `${id}/dry-run/${job.id}/resources`)).body).toMatchObject([
        { name: "main", job_id: job.id, workspace_transition: "start", daily_cost: 3, metadata: [{ key: "k", value: "v" }] }
      ])
      const logs = (await call("GET", `${id}/dry-run/${job.id}/logs`)).as(Schema.Array(JobLog))
      expect(logs.map(({ output, stage }) => `${stage}: ${output}`)).toStrictEqual([
        "Setting up: ",
        "Detecting persistent resources: ",
        "Planning Infrastructure: ",
        "Planning Infrastructure: planned"
      ])
      expect((await call("GET", `${id}/dry-run/${job.id}/logs?format=text&after=${logs[2]?.id}`)).text).toMatch(/planned\n$/)
      const matched = (await call("GET", `${id}/dry-run/${job.id}/matched-provisioners`)).as(MatchedProvisionersView)
      expect(matched.available).toBeGreaterThan(0)
      const listed = await server().call("GET", `/organizations/default/provisionerjobs/${job.id}`, { token: server().owner().token })
      expect(listed.body).toMatchObject({ metadata: { template_name: "planned" } })
      const workspaces = await server().call("GET", "/workspaces?q=name:dry", { token: server().owner().token })
      expect(workspaces.body).toMatchObject({ count: 0 })
    })

    it("fails for a value that breaks a rule, and goes on without a required one", async () => {
      const { id } = await anImportedVersion(server(), source)
      const wrong = await aDryRun(id, { rich_parameter_values: [{ name: "size", value: "12" }] })
      await ended(server(), wrong)
      const failed = (await call("GET", `${id}/dry-run/${wrong.id}`)).as(JobView)
      expect([failed.status, failed.error]).toStrictEqual(["failed", "parameter size: value 12 is more than the maximum 9"])
      expect((await call("GET", `${id}/dry-run/${wrong.id}/resources`)).body).toStrictEqual([])
      const without = await aDryRun(id)
      await ended(server(), without)
      expect((await call("GET", `${id}/dry-run/${without.id}`)).body).toMatchObject({ status: "succeeded" })
    })

    it("is followed over a WebSocket until it is canceled, which happens once", async () => {
      const { id } = await anImportedVersion(server(), source)
      const job = await aDryRun(id, { workspace_name: "slow" })
      const stages: Array<string> = []
      const url = `${server().url.replace("http", "ws")}/api/v2/templateversions/${id}/dry-run/${job.id}/logs?follow`
      const socket = new WebSocket(url, { headers: { "Service-Session-Token": server().owner().token } })
      const closed = new Promise<number>((resolve) => socket.on("close", resolve))
      await new Promise<void>((resolve) =>
        socket.on("message", (data) => {
          stages.push(Schema.decodeUnknownSync(Schema.parseJson(JobLog))(String(data)).stage)
          if (stages.includes("Detecting persistent resources")) resolve()
        })
      )
      expect((await call("GET", `${id}/dry-run/${job.id}/resources`)).status).toBe(400)
      expect((await call("PATCH", `${id}/dry-run/${job.id}/cancel`)).status).toBe(200)
      expect(await closed).toBe(1000)
      expect((await call("GET", `${id}/dry-run/${job.id}`)).body).toMatchObject({ status: "canceled" })
      expect((await call("PATCH", `${id}/dry-run/${job.id}/cancel`)).status).toBe(400)
    })

    it("needs an import that has ended, and a version that the caller may read", async () => {
      const waiting = await aVersion(server(), {}, { tags: { gpu: "yes" } })
      const member = await server().aMember()
      expect((await call("POST", `${waiting.id}/dry-run`, { body: {} })).status).toBe(425)
      expect((await call("POST", `${waiting.id}/dry-run`, { body: {}, token: member.token })).status).toBe(404)
      expect((await call("POST", "44444444-4444-4444-8444-444444444444/dry-run", { body: {} })).status).toBe(404)
    })

    it("is seen by its initiator and those who may read the initiator's workspaces", async () => {
      const { active_version_id: id } = await aTemplate(server(), source)
      const [ann, bob] = await Promise.all([server().aMember(), server().aMember()])
      const job = await aDryRun(id, { workspace_name: "slow" }, ann.token)
      const statuses = async (token: string) => [
        (await call("GET", `${id}/dry-run/${job.id}`, { token })).status,
        (await call("GET", `${id}/dry-run/${job.id}/logs`, { token })).status,
        (await call("GET", `${id}/dry-run/${job.id}/matched-provisioners`, { token })).status,
        (await call("PATCH", `${id}/dry-run/${job.id}/cancel`, { token })).status
      ]
      expect(await statuses(bob.token)).toStrictEqual([403, 403, 403, 403])
      expect(await statuses(ann.token)).toStrictEqual([200, 200, 200, 200])
      expect((await call("GET", `${id}/dry-run/${job.id}`)).status).toBe(200)
    })

    it("is a job of this version, not another job or another version's", async () => {
      const [one, other] = [await anImportedVersion(server(), source), await anImportedVersion(server(), source)]
      const job = await aDryRun(one.id)
      const statusOf = async (version: string, id: string) => (await call("GET", `${version}/dry-run/${id}`)).status
      expect(await statusOf(other.id, job.id)).toBe(403)
      expect(await statusOf(one.id, one.job.id)).toBe(403)
      expect(await statusOf(one.id, "44444444-4444-4444-8444-444444444444")).toBe(404)
      expect(await statusOf(one.id, "x")).toBe(400)
    })
  },
  { provisioner: testEngines, logLevel: "error" }
)
