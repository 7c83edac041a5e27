import { Argon2Hasher } from "@atelier/node"
import { PasswordHasher, UserRepository } from "@atelier/core/identity"
import { Context, Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aUser } from "../../../../../test/records/builders.js"
import { sqlite } from "../../../../../test/store/databases.js"
import { startServer, type TestServer } from "../../../../../test/http/server.js"

/** Hashes made or compared so far: all of an answer's work that takes long enough to be measured from outside. */
let hashes = 0

/** The hasher, with its uses counted. The dummy hash of an unknown user is compared like any other. */
const counted = Layer.map(Argon2Hasher.layer, (context) => {
  const hasher = Context.get(context, PasswordHasher)
  const count = Effect.sync(() => void hashes++)
  return Context.make(PasswordHasher, {
    ...hasher,
    hash: (password) => Effect.zipRight(count, hasher.hash(password)),
    verify: (password, stored) => Effect.zipRight(count, hasher.verify(password, stored))
  })
})

/** The number of hashes of each call. */
const hashesOf = async (calls: ReadonlyArray<() => Promise<unknown>>): Promise<ReadonlyArray<number>> => {
  const counts: Array<number> = []
  for (const call of calls) {
    const before = hashes
    await call()
    counts.push(hashes - before)
  }
  return counts
}

describe("an answer takes as many hashes for an unknown user as for a known one", () => {
  let running: TestServer | undefined
  const server = (): TestServer => {
    if (running === undefined) throw new Error("the server has not started")
    return running
  }
  beforeAll(async () => {
    running = await startServer(sqlite, { passwordHasher: counted })
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
    expect(await hashesOf(kinds)).toStrictEqual(kinds.map(() => 1))
  })

  it("when it asks for a one-time passcode", async () => {
    const kinds = addresses.map((email) => post("/users/otp/request", { email }, 204))
    expect(await hashesOf(kinds)).toStrictEqual(kinds.map(() => 1))
  })

  it("when it has a wrong one", async () => {
    await post("/users/otp/request", { email: "asked@example.com" }, 204)()
    const body = { one_time_passcode: "00000000-0000-4000-8000-000000000000", password: "TheNextPassword!3" }
    const kinds = [...addresses, "asked@example.com"].map((email) => post("/users/otp/change-password", { email, ...body }, 400))
    expect(await hashesOf(kinds)).toStrictEqual(kinds.map(() => 1))
  })
})
