import { Argon2Hasher } from "@atelier/http/node"
import { PasswordHasher, UserRepository } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aUser } from "../../../../test/builders.js"
import { sqlite } from "../../../../test/databases.js"
import { startServer, type TestServer } from "../../../../test/server.js"

/** Calls of each kind: enough for some of them to meet no other work of the machine. */
const rounds = 12

/** How much the times of two kinds may differ, as a part of the longer one. Answers that leave out a hash differ by more than four fifths. */
const tolerance = 0.5

/** The time in milliseconds that a quarter of the calls stays below; work of others only makes calls longer. */
const lowerQuartile = (times: ReadonlyArray<number>): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 4)] ?? 0

/** Calls in turn, so that what slows one kind slows every kind. */
const timesOf = async (kinds: ReadonlyArray<() => Promise<unknown>>): Promise<ReadonlyArray<number>> => {
  const times = kinds.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, call] of kinds.entries()) {
      const start = performance.now()
      await call()
      times[index]?.push(performance.now() - start)
    }
  }
  return times.map(lowerQuartile)
}

const expectAlike = (times: ReadonlyArray<number>): void => {
  expect(Math.min(...times) / Math.max(...times), `milliseconds: ${times.map((time) => time.toFixed(1)).join(", ")}`).toBeGreaterThan(
    1 - tolerance
  )
}

describe("how long an answer takes says nothing of who has an account", () => {
  let running: TestServer | undefined
  const server = (): TestServer => {
    if (running === undefined) throw new Error("the server has not started")
    return running
  }
  beforeAll(async () => {
    running = await startServer(sqlite, { passwordHasher: Argon2Hasher.layer })
    await running.run(
      Effect.gen(function* () {
        const hash = yield* (yield* PasswordHasher).hash(Redacted.make("TheRightPassword!1"))
        const users = yield* UserRepository
        yield* users.insert(yield* aUser({ email: "known@example.com", username: "known" }), hash)
        yield* users.insert(yield* aUser({ email: "oidc@example.com", username: "oidc", login_type: "oidc" }), null)
        yield* users.insert(yield* aUser({ email: "asked@example.com", username: "asked" }), hash)
      })
    )
  })
  afterAll(() => running?.close())

  const post = (path: string, body: object, status: number) => async () => {
    expect((await server().call("POST", path, { body })).status).toBe(status)
  }
  const addresses = ["nobody@example.com", "known@example.com", "oidc@example.com"]

  it("when it logs in", async () => {
    const kinds = addresses.map((email) => post("/users/login", { email, password: "AWrongPassword!2" }, 401))
    expectAlike(await timesOf(kinds))
  })

  it("when it asks for a one-time passcode", async () => {
    expectAlike(await timesOf(addresses.map((email) => post("/users/otp/request", { email }, 204))))
  })

  it("when it has a wrong one", async () => {
    await post("/users/otp/request", { email: "asked@example.com" }, 204)()
    const body = { one_time_passcode: "00000000-0000-4000-8000-000000000000", password: "TheNextPassword!3" }
    const kinds = [...addresses, "asked@example.com"].map((email) => post("/users/otp/change-password", { email, ...body }, 400))
    expectAlike(await timesOf(kinds))
  })
})
