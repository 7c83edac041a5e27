import { Clock, Effect, Schema } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { postgres, sqliteIn } from "../../../../test/store/databases.js"
import { describeServer, startServer, type TestServer } from "../../../../test/http/server.js"

const List = Schema.Array(Schema.Struct({ id: Schema.String, error: Schema.String, region_id: Schema.Number }))

describeServer("regions", (server) => {
  it("are the deployment itself, for every user", async () => {
    const { token } = await server().aMember()
    expect((await server().call("GET", "/regions", { token })).body).toMatchObject({
      regions: [{ name: "primary", healthy: true, path_app_url: "http://atelier.test", wildcard_hostname: "" }]
    })
    expect((await server().call("GET", "/regions")).status).toBe(401)
  })

  it("have a host of apps where the deployment has a wildcard", async () => {
    const { token } = await server().aMember()
    expect((await server().call("GET", "/applications/host", { token })).body).toStrictEqual({ host: "" })
    expect((await server().call("GET", "/applications/host")).status).toBe(401)
  })

  it("have replicas that only owners see", async () => {
    const list = (token: string) => server().call("GET", "/replicas", { token })
    expect((await list(server().owner().token)).as(List)).toMatchObject([{ error: "", region_id: 999 }])
    expect((await list((await server().aMember()).token)).status).toBe(404)
  })
})

describe("the replicas of a store", () => {
  it("go by the store's clock, whatever theirs show", async () => {
    const live = Clock.make()
    const millis = (): number => live.unsafeCurrentTimeMillis() + 20_000
    const ahead: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: millis,
      unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanos: live.currentTimeNanos,
      sleep: (duration) => live.sleep(duration)
    }
    const server = await startServer(postgres, { empty: true, clock: ahead })
    expect(Math.abs((await server.run(Clock.currentTimeMillis)) - Date.now())).toBeLessThan(5_000)
    await server.close()
  })

  it("are those of its running processes", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-replicas-"))
    const storage = sqliteIn(directory)
    const idsOf = async (server: TestServer, token: string) =>
      (await server.call("GET", "/replicas", { token })).as(List).map(({ id }) => id)
    const first = await startServer(storage)
    const { token } = first.owner()
    const [before] = await idsOf(first, token)
    await first.close()
    const second = await startServer(storage, { empty: true })
    const after = await idsOf(second, token)
    await second.close()
    await rm(directory, { recursive: true })
    expect(after).toHaveLength(1)
    expect(after).not.toContain(before)
  })
})
