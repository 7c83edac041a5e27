/** Claims of one pool by two processes of a deployment. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { startTwoServers, type TwoServers } from "../../network/twoServers.js"
import { agentsOf, aPool, template, type Workspace } from "./pool.js"

let servers: TwoServers
let templateId: string
const near = () => servers.near
const far = () => servers.far
// Agents are connected to the near process alone
const { close, create, exec, pause, prebuilt, ready } = aPool(near)

beforeAll(async () => {
  servers = await startTwoServers({
    entitlements: { has: () => true },
    provisioner: testEngines,
    options: { workspacePrebuildsReconciliationInterval: "1 hour" }
  })
  templateId = (await aTemplate(near(), template)).id
  await pause(true)
  await pause(false)
})
afterAll(async () => {
  close()
  // The far process keeps its connection to the agent for further commands
  servers.cut()
  await servers.close()
})

const isRunning = ({ latest_build }: typeof Workspace.Type) => latest_build.status === "running"

it("hands a workspace over by a process that does not have its agent", async () => {
  const before = (await ready()).map(({ id }) => id)
  await pause(true)
  const created = await create(templateId, "far", far())
  expect(before).toContain(created.id)
  expect(created.latest_build).toMatchObject({ build_number: 2, status: "running" })
  expect(agentsOf(created)).toMatchObject([{ status: "connected", lifecycle_state: "ready" }])
  for (const at of [near(), far()]) expect(await exec(created, "echo $OWNER", at)).toMatchObject({ exit_code: 0, stdout: "owner\n" })
})

it("gives the last workspace of a pool to one of two processes", async () => {
  const [last, ...others] = await prebuilt()
  expect(others).toStrictEqual([])
  const created = await Promise.all([create(templateId, "one", near()), create(templateId, "two", far())])
  expect(created.filter(isRunning).map(({ id }) => id)).toStrictEqual([last?.id])
  expect(new Set(created.map(({ id }) => id)).size).toBe(2)
  expect(created.filter((one) => !isRunning(one))).toMatchObject([{ latest_build: { build_number: 1, job: { status: "pending" } } }])
  const [claimed] = created.filter(isRunning)
  if (claimed !== undefined) expect(await exec(claimed, "echo $OWNER")).toMatchObject({ exit_code: 0, stdout: "owner\n" })
})

it("fills the pool up again after a claim by either process", async () => {
  await pause(false)
  await ready()
  const { id } = await create(templateId, "refilled", far())
  expect((await ready()).map((one) => one.id)).not.toContain(id)
})
