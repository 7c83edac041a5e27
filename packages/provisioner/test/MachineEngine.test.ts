import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { aTar } from "../../../test/records/archives.js"
import { sqlite } from "../../../test/store/databases.js"
import { testEngines } from "../../../test/outside/engine.js"
import { startServer, type TestServer } from "../../../test/http/server.js"
import { aTemplate, anImportedVersion, fileIdOf, upload } from "../../../test/http/templates.js"
import { aBuild, aWorkspace } from "../../../test/http/workspaceCalls.js"
import * as MachineEngine from "./MachineEngine.js"

const calls: Array<ReadonlyArray<unknown>> = []

const machines: MachineEngine.Machines = {
  start: async (id, image, { SERVICE_AGENT_TOKEN: token }) => {
    if (image === "none") throw new Error("there is no such image")
    calls.push(["start", id, image, token])
  },
  stop: async (id) => void calls.push(["stop", id]),
  remove: async (id) => void calls.push(["remove", id])
}

let server: TestServer
beforeAll(async () => void (server = await startServer(sqlite, { provisioner: [testEngines, MachineEngine.layer(machines)] })))
afterAll(() => server.close())

const Resources = Schema.Array(Schema.Struct({ type: Schema.String, agents: Schema.Array(Schema.Struct({ name: Schema.String })) }))

const source = async (machine: string) => ({
  provisioner: "terraform",
  file_id: fileIdOf(await upload(server, await aTar({ "machine.json": machine })))
})

const aMachine = async (image: string) => {
  const version = await anImportedVersion(server, {}, await source(JSON.stringify({ image })))
  expect(version.job.status).toBe("succeeded")
  const body = { name: `machine-${image.length}`, template_version_id: version.id }
  const template = (await server.call("POST", "/organizations/default/templates", { token: server.owner().token, body })).as(
    Schema.Struct({ id: Uuid.Uuid })
  )
  return aWorkspace(server, template, server.owner())
}

it("has its workspaces started, stopped and removed by the host", async () => {
  const { id, latest_build } = await aMachine("debian:13")
  const answer = await server.call("GET", `/workspacebuilds/${latest_build.id}/resources`, { token: server.owner().token })
  expect(answer.as(Resources)).toStrictEqual([{ type: "machine", agents: [{ name: "main" }] }])
  const token = String(calls[0]?.at(-1))
  const own = await fetch(`${server.url}/api/v2/workspaceagents/me/gitsshkey`, { headers: { "service-session-token": token } })
  expect(own.status).toBe(200)
  await aBuild(server, { id }, server.owner(), { transition: "stop" })
  await aBuild(server, { id }, server.owner(), { transition: "delete" })
  expect(calls).toStrictEqual([
    ["start", id, "debian:13", token],
    ["stop", id],
    ["remove", id]
  ])
})

it("says in the build's job why the host has refused", async () => {
  const { latest_build } = await aMachine("none")
  expect(latest_build.job).toMatchObject({ status: "failed", error: "the host: Error: there is no such image" })
})

it("says in the import's job what is wrong with the template", async () => {
  const { job } = await anImportedVersion(server, {}, await source("{}"))
  expect(job.error).toContain("machine.json: ")
})

it("leaves the templates of other engines to them", async () => {
  expect((await aTemplate(server)).active_version_id).toMatch(/^[0-9a-f-]{36}$/)
})
