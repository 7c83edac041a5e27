import { Locks } from "@atelier/core/platform"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Deferred, Effect, Fiber, Layer, Option, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startServer, type TestServer } from "../../../test/http/server.js"
import * as HostStore from "./HostStore.js"

describe("a store in the host's database", () => {
  let server: TestServer
  beforeAll(async () => void (server = await startServer(HostStore.layer(Layer.orDie(SqliteClient.layer({ filename: ":memory:" }))))))
  afterAll(() => server.close())

  it("holds the service's rows", async () => {
    const answer = await server.call("GET", "/users/me", { token: server.owner().token })
    expect(answer.body).toMatchObject({ username: "owner", email: "owner@example.com" })
  })

  it("refuses a second user of a name", async () => {
    const { token } = server.owner()
    const { id } = (await server.call("GET", "/organizations/default", { token })).as(Schema.Struct({ id: Schema.String }))
    const body = { email: "other@example.com", username: "owner", password: "SomeSecurePassword!", organization_ids: [id] }
    expect((await server.call("POST", "/users", { token, body })).status).toBe(409)
  })

  it("lets one at a time hold a lock", async () => {
    const second = await server.run(
      Effect.gen(function* () {
        const { tryWith } = yield* Locks
        const isHeld = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const first = yield* Effect.fork(tryWith("work", Effect.zipRight(Deferred.succeed(isHeld, undefined), Deferred.await(release))))
        yield* Deferred.await(isHeld)
        const refused = yield* tryWith("work", Effect.void)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(first)
        return [refused, yield* tryWith("work", Effect.void)].map(Option.isSome)
      })
    )
    expect(second).toStrictEqual([false, true])
  })
})
