import { Access, SystemActor } from "@atelier/core/access"
import { SecretValues, Sessions, UserLinkRepository } from "@atelier/core/identity"
import { Encryption } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { databaseUrl, sqliteIn } from "../../../../../test/store/databases.js"
import { aHostProvider, browserOf, type DescribedIdentity, logInAs, sessionOf } from "../../../../../test/outside/hostLogins.js"
import { describeServerOnEach, startServer, type TestServer } from "../../../../../test/http/server.js"
import { statementsOf } from "../../../../../test/store/statements.js"

let people = 0
/** A user whose access token ends in a minute and a half: it is renewed in its last minute. */
const somebody = (fields: Partial<DescribedIdentity> = {}): DescribedIdentity => {
  const name = `person${++people}`
  return { linked_id: name, email: `${name}@example.com`, username: name, seconds: 90, refresh_token: `token of ${name}`, ...fields }
}

const logIn = async (server: TestServer, identity: DescribedIdentity): Promise<string> => {
  const browser = browserOf(server)
  expect((await logInAs(browser, identity)).status).toBe(307)
  return sessionOf(browser) ?? ""
}

const statusOf = async (server: TestServer, token: string): Promise<number> => (await server.call("GET", "/users/me", { token })).status

const provider = aHostProvider()

describeServerOnEach(
  "a session of somebody who logged in at a provider",
  (server, once) => {
    once("lasts as long as the provider renews its token", async () => {
      provider.renewals.length = 0
      const token = await logIn(server(), somebody({ refresh_token: "first" }))
      expect([await statusOf(server(), token), provider.renewals]).toStrictEqual([200, []])
      server().advance("2 minutes")
      expect([await statusOf(server(), token), provider.renewals]).toStrictEqual([200, ["first"]])
      expect([await statusOf(server(), token), provider.renewals]).toStrictEqual([200, ["first"]])
      server().advance("2 hours")
      expect([await statusOf(server(), token), provider.renewals]).toStrictEqual([200, ["first", "after first"]])
    })

    once("continues with new tokens if the old ones were encrypted again", async () => {
      provider.renewals.length = 0
      const token = await logIn(server(), somebody({ linked_id: "sealed anew", refresh_token: "sealed anew" }))
      server().advance("2 minutes")
      let answer = (): void => {}
      provider.held = new Promise((resolve) => (answer = resolve))
      const waiting = statusOf(server(), token)
      while (provider.renewals.length === 0) await new Promise(setImmediate)
      await server().run(
        Effect.gen(function* () {
          const [links, encryption] = [yield* UserLinkRepository, yield* Encryption]
          const link = yield* Effect.flatten(links.byLinkedId("oidc", "sealed anew"))
          const sealed = yield* Effect.flatten(links.sealedOf(link.user_id, "oidc"))
          const place = `user_links.tokens/${link.user_id}/${link.id}`
          const again = yield* encryption.seal(yield* encryption.open(sealed.value, place), place)
          expect(yield* links.reseal(link.id, sealed.value, again)).toBe(true)
        })
      )
      answer()
      expect(await waiting).toBe(200)
      server().advance("2 hours")
      expect(await statusOf(server(), token)).toBe(200)
      expect(provider.renewals).toStrictEqual(["sealed anew", "after sealed anew"])
    })

    it("is renewed once by any number of requests at once", async () => {
      provider.renewals.length = 0
      const token = await logIn(server(), somebody({ refresh_token: "one" }))
      server().advance("2 minutes")
      let answer = (): void => {}
      provider.held = new Promise((resolve) => (answer = resolve))
      const waiting = Promise.all(Array.from({ length: 10 }, () => statusOf(server(), token)))
      answer()
      expect(await waiting).toStrictEqual(Array.from({ length: 10 }, () => 200))
      expect(provider.renewals).toStrictEqual(["one"])
    })

    once("stores the provider's answer even if the caller stops waiting", async () => {
      provider.renewals.length = 0
      const token = await logIn(server(), somebody({ refresh_token: "left" }))
      server().advance("2 minutes")
      let answer = (): void => {}
      provider.held = new Promise((resolve) => (answer = resolve))
      const leaving = new AbortController()
      const request = fetch(`${server().url}/api/v2/users/me`, { headers: { "Service-Session-Token": token }, signal: leaving.signal })
      leaving.abort()
      await expect(request).rejects.toThrow()
      answer()
      expect(await statusOf(server(), token)).toBe(200)
      server().advance("2 hours")
      expect(await statusOf(server(), token)).toBe(200)
      expect(new Set(provider.renewals).size).toBe(provider.renewals.length)
    })

    once("ends when the provider refuses, which is not asked again with the same token", async () => {
      provider.renewals.length = 0
      const token = await logIn(server(), somebody({ refresh_token: "refused" }))
      server().advance("2 minutes")
      provider.renewal = "refused"
      const answer = await server().call("GET", "/users/me", { token })
      expect([answer.status, answer.headers.get("www-authenticate")]).toStrictEqual([401, expect.stringContaining("invalid_token")])
      provider.renewal = "granted"
      expect(await statusOf(server(), token)).toBe(401)
      expect(provider.renewals).toStrictEqual(["refused"])
      expect((await server().call("GET", "/users/authmethods", { token })).status).toBe(200)
    })

    once("is refused while the provider does not answer", async () => {
      provider.renewals.length = 0
      const token = await logIn(server(), somebody({ refresh_token: "unreachable" }))
      server().advance("2 minutes")
      provider.renewal = "unreachable"
      expect([await statusOf(server(), token), await statusOf(server(), token)]).toStrictEqual([401, 401])
      expect(provider.renewals).toHaveLength(1)
      provider.renewal = "granted"
      server().advance("11 seconds")
      expect(await statusOf(server(), token)).toBe(200)
    })

    once("ends with a token that cannot be renewed, and goes on with the next login", async () => {
      const person = somebody({ refresh_token: "" })
      const token = await logIn(server(), person)
      server().advance("2 minutes")
      expect(await statusOf(server(), token)).toBe(401)
      const next = await logIn(server(), person)
      expect([await statusOf(server(), next), await statusOf(server(), token)]).toStrictEqual([200, 200])
    })

    it("costs one statement more than a session of a password user", async () => {
      const count = (key: string) =>
        server().run(
          Effect.gen(function* () {
            const { authenticate } = yield* Sessions
            const { statements } = yield* statementsOf(authenticate(Redacted.make(key), {}))
            return statements.length
          })
        )
      const token = await logIn(server(), somebody())
      await Promise.all([statusOf(server(), token), statusOf(server(), server().owner().token)])
      expect([await count(server().owner().token), await count(token)]).toStrictEqual([1, 2])
    })
  },
  { loginProviders: [provider] }
)

it("the tokens that a provider gave outlive the key they were encrypted with", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-links-"))
  const [first, second] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")]
  const start = (...encryptionKeys: ReadonlyArray<string>) =>
    startServer(sqliteIn(directory), {
      empty: true,
      options: { externalTokenEncryptionKeys: encryptionKeys },
      loginProviders: [provider]
    })
  provider.renewals.length = 0

  const before = await start(first)
  const token = await logIn(before, somebody({ refresh_token: "kept" }))
  await before.close()

  const between = await start(second, first)
  const resealed = await between.run(
    Effect.flatMap(SecretValues, ({ reseal }) => reseal()).pipe(Access.actingAs(SystemActor.cryptoKeyRotator))
  )
  // The two tokens, and the keys of the service itself for apps and for terminals
  expect(resealed).toStrictEqual({ resealed: 4, unreadable: 0 })
  await between.close()

  const after = await start(second)
  after.advance("2 minutes")
  expect([await statusOf(after, token), provider.renewals]).toStrictEqual([200, ["kept"]])
  await after.close()
  await rm(directory, { recursive: true })
})

it("a token is renewed once by several processes on one store", () =>
  Effect.gen(function* () {
    const url = yield* databaseUrl
    const [one, other] = [aHostProvider(), aHostProvider()]
    yield* Effect.promise(async () => {
      const start = (own: typeof one) =>
        startServer(Postgres.layer({ url, maxConnections: 5 }), {
          empty: true,
          loginProviders: [own],
          options: { externalTokenEncryptionKeys: [key] }
        })
      const key = randomBytes(32).toString("base64")
      const servers = [await start(one), await start(other)] as const
      const token = await logIn(servers[0], somebody({ refresh_token: "shared" }))
      for (const server of servers) server.advance("2 minutes")
      let answer = (): void => {}
      one.held = new Promise((resolve) => (answer = resolve))
      other.held = one.held
      const waiting = Promise.all(servers.flatMap((server) => [statusOf(server, token), statusOf(server, token)]))
      answer()
      expect(await waiting).toStrictEqual([200, 200, 200, 200])
      expect([...one.renewals, ...other.renewals]).toStrictEqual(["shared"])
      for (const server of servers) await server.close()
    })
  }).pipe(Effect.scoped, Effect.runPromise))
