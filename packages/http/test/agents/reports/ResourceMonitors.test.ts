/** Owners of workspaces hear of machines with little memory or disk left. notifications-audit-insights.md §A2. */
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { describeAgents } from "../AgentServer.js"

const Page = Schema.Struct({
  notifications: Schema.Array(Schema.Struct({ title: Schema.String, content: Schema.String, targets: Schema.Array(Schema.String) }))
})

const memory = "a9d027b4-ac49-4fb1-9f6d-45af15f64e7a"
const disk = "f047f6a3-5713-40f7-85aa-0394cce9fa3a"

describeAgents("a monitored agent", (server) => {
  const told = async (template: string, workspaceId: string) =>
    (await server().call("GET", `/notifications/inbox?templates=${template}&targets=${workspaceId}`, { token: server().owner().token })).as(
      Page
    ).notifications

  it("tells the owner of each threshold once, and all volumes together", async () => {
    const { id, token, workspace } = await server().anAgent({
      monitors: [
        { path: "", enabled: true, threshold: 90 },
        { path: "/", enabled: true, threshold: 80 },
        { path: "/home", enabled: true, threshold: 50 },
        { path: "/off", enabled: false, threshold: 1 }
      ]
    })
    expect(id).toBeDefined()
    const connection = await server().connect(token)
    expect(await Effect.runPromise(connection.agent.GetResourcesMonitoringConfiguration({}))).toMatchObject({
      config: { num_datapoints: 20, collection_interval_seconds: 10 },
      memory: { enabled: true },
      volumes: [
        { enabled: true, path: "/" },
        { enabled: true, path: "/home" },
        { enabled: false, path: "/off" }
      ]
    })
    const push = (percent: number) => {
      const usage = { used: percent, total: 100 }
      const datapoint = {
        collected_at: { seconds: 1, nanos: 0 },
        memory: usage,
        volumes: ["/", "/home", "/off", "/unknown"].map((volume) => ({ volume, ...usage }))
      }
      return Effect.runPromise(connection.agent.PushResourcesMonitoringUsage({ datapoints: Array.from({ length: 20 }, () => datapoint) }))
    }
    await push(10)
    await push(85)
    await push(85)
    await expect.poll(() => told(disk, workspace.id)).toHaveLength(1)
    const [volumes] = await told(disk, workspace.id)
    expect(volumes?.title).toContain(workspace.name)
    expect(volumes?.content).toMatch(/\*\*\/\*\*: 80%\n.*\*\*\/home\*\*: 50%\n/s)
    expect(volumes?.content).not.toContain("/off")
    expect(volumes?.targets).toStrictEqual([workspace.id, workspace.owner_id, workspace.organization_id])
    expect(await told(memory, workspace.id)).toStrictEqual([])

    await push(95)
    await expect.poll(() => told(memory, workspace.id)).toHaveLength(1)
    expect((await told(memory, workspace.id))[0]?.content).toContain("90%")
    expect(await told(disk, workspace.id)).toHaveLength(1)

    // Within half an hour, although it was well in between
    await push(10)
    await push(95)
    server().advance("31 minutes")
    await push(10)
    await push(95)
    await expect.poll(() => told(memory, workspace.id)).toHaveLength(2)
    expect(await told(disk, workspace.id)).toHaveLength(2)
    await connection.close()
  })

  it("without monitors takes reports of its machine", async () => {
    const { token } = await server().anAgent()
    const connection = await server().connect(token)
    expect(await Effect.runPromise(connection.agent.PushResourcesMonitoringUsage({ datapoints: [] }))).toStrictEqual({})
    await connection.close()
  })
})
