import { Access, agentActor, sessionActor, SystemActor } from "@atelier/core/access"
import { AiProviders } from "@atelier/core/ai"
import { type ExternalAuthProvider, ExternalAuthRepository, ExternalAuthTokens } from "@atelier/core/externalAuth"
import { CryptoKeys } from "@atelier/core/deployment"
import { GitSshKey, GitSshKeys, SecretValues, type UserId, UserSecretRepository } from "@atelier/core/identity"
import { Cryptography, Encryption, Ids, StartError, Timestamp, Uuid } from "@atelier/core/platform"
import { NodeEncryption } from "@atelier/node"
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Layer, Logger, LogLevel, Option, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { databaseUrl, sqlite, sqliteIn } from "../../../../../test/store/databases.js"
import { onceOn, startServer, type TestServer } from "../../../../../test/http/server.js"

/** Keys of the service itself, for apps and for terminals, which are encrypted beside the values of the tests. */
const signingKeys = 2

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-keys-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** Stores that outlive the server on them. */
const stores = [
  ["SQLite", Effect.map(directory, (path) => sqliteIn(path))],
  ["PostgreSQL", Effect.map(databaseUrl, (url) => Postgres.layer({ url, maxConnections: 5 }))]
] as const

const aKey = (): string => randomBytes(32).toString("base64")

const reseal = (server: TestServer) =>
  server.run(Effect.flatMap(SecretValues, ({ reseal }) => reseal()).pipe(Access.actingAs(SystemActor.cryptoKeyRotator)))

const delivered = (server: TestServer, userId: UserId) =>
  server.run(
    Effect.map(
      Effect.flatMap(SecretValues, ({ ofAgent }) => ofAgent(userId)).pipe(
        Access.actingAs({ ...SystemActor.systemRestricted, userId, agentId: userId })
      ),
      (secrets) => secrets.map(({ value }) => new TextDecoder().decode(Redacted.value(value)))
    )
  )

const anAgent = (id: UserId) => ({ agentId: id, workspaceId: id, templateId: id, templateVersionId: id, apiKeyScope: "all" as const })

const create = async (server: TestServer, token: string, name: string) => {
  const body = { name, env_name: name, value: `value of ${name}` }
  expect((await server.call("POST", "/users/me/secrets", { token, body })).status).toBe(201)
}

/** A secret of a user, as embedding code would copy it from elsewhere. */
const insert = (user_id: UserId, name: string, id: Uuid.Uuid) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const value = yield* (yield* SecretValues).seal({ id, user_id }, Redacted.make(name))
    const secret = { id, user_id, name, description: "", env_name: "", file_path: `/${name}`, enabled: true, value_size: name.length }
    const hash = yield* (yield* Cryptography).sha256(new TextEncoder().encode(`/${name}`))
    yield* (yield* UserSecretRepository).insert({ ...secret, created_at: now, updated_at: now }, value, hash)
  })

describe.each(stores)("encryption keys on %s", (kind, store) => {
  const once = onceOn("encryption keys", kind)

  type Start = (...keys: ReadonlyArray<string>) => Promise<TestServer>

  type Restart = (server: TestServer, ...keys: ReadonlyArray<string>) => Promise<TestServer>

  const onOneStore = (test: (start: Start, restart: Restart) => Promise<void>): Promise<void> =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(store, (storage) =>
          Effect.promise(() => {
            const start: Start = async (...keys) => {
              const options = keys.length === 0 ? {} : { options: { externalTokenEncryptionKeys: keys } }
              const server = await startServer(storage, { empty: true, ...options })
              // Their worker's first run may come after a test's last call
              await server.run(Effect.flatMap(CryptoKeys, ({ rotate }) => rotate).pipe(Access.actingAs(SystemActor.cryptoKeyRotator)))
              return server
            }
            return test(start, (server, ...keys) => server.close().then(() => start(...keys)))
          })
        )
      )
    )

  once("can be introduced, replaced and given up without a value being lost", () =>
    onOneStore(async (start, restart) => {
      const [first, second, stranger] = [aKey(), aKey(), aKey()]
      let server = await start()
      const { token, user } = await server.aMember()
      const values = ["value of A", "value of B"]
      await create(server, token, "A")

      server = await restart(server, first)
      expect(await delivered(server, user.id)).toStrictEqual(["value of A"])
      expect(await reseal(server)).toStrictEqual({ resealed: 1 + signingKeys, unreadable: 0 })
      expect(await reseal(server)).toStrictEqual({ resealed: 0, unreadable: 0 })

      server = await restart(server, second, first)
      await create(server, token, "B")
      expect(await delivered(server, user.id)).toStrictEqual(values)
      expect(await reseal(server)).toStrictEqual({ resealed: 1 + signingKeys, unreadable: 0 })

      server = await restart(server, second)
      expect(await delivered(server, user.id)).toStrictEqual(values)

      server = await restart(server, stranger)
      expect(await delivered(server, user.id)).toStrictEqual([])
      expect(await reseal(server)).toStrictEqual({ resealed: 0, unreadable: 2 + signingKeys })

      server = await restart(server, second)
      expect(await delivered(server, user.id)).toStrictEqual(values)
      await server.close()
    })
  )

  once("that are away leave the secrets of AI providers as they are stored", () =>
    onOneStore(async (start) => {
      const [own, stranger] = [aKey(), aKey()]
      const before = await start(own)
      const { token } = await before.aMember({ rbac_roles: ["owner"] })
      const provider = { type: "openai", name: "kept", base_url: "https://api.example.com/v1", api_keys: ["kept-key-0123456789"] }
      const made = await before.call("POST", "/ai/providers", { token, body: provider })
      const { api_keys } = made.as(Schema.Struct({ api_keys: Schema.Array(Schema.Unknown) }))
      const settings = { _type: "bedrock", _version: 1, region: "us-east-1", model: "m", small_fast_model: "s" }
      const bedrock = { type: "bedrock", name: "cloud", base_url: "https://api.example.com", api_keys: [], settings }
      expect((await before.call("POST", "/ai/providers", { token, body: bedrock })).status).toBe(201)
      await before.close()

      const without = await start(stranger)
      const change = async (name: string, body: object) => (await without.call("PATCH", `/ai/providers/${name}`, { token, body })).status
      expect(await change("kept", { api_keys: [] })).toBe(409)
      expect(await change("kept", { api_keys: [{ api_key: "new-key-0123456789" }] })).toBe(409)
      expect(await change("cloud", { settings })).toBe(409)
      expect(await change("kept", { enabled: false })).toBe(200)
      expect(await change("cloud", { display_name: "Cloud" })).toBe(200)
      await without.close()

      const after = await start(own)
      expect((await after.call("GET", "/ai/providers/kept", { token })).body).toMatchObject({ enabled: false, api_keys })
      expect((await after.call("GET", "/ai/providers/cloud", { token })).body).toMatchObject({ display_name: "Cloud", settings })
      await after.close()
    })
  )

  it("are replaced in as many values as there are, by several callers at once", () =>
    onOneStore(async (start) => {
      const key = aKey()
      const before = await start(key)
      const { user } = await before.aMember()
      const names = Array.from({ length: 130 }, (_, index) => `n${String(index).padStart(3, "0")}`)
      await before.run(
        Effect.flatMap(Ids, ({ next }) => Effect.forEach(names, (name) => Effect.flatMap(next, (id) => insert(user.id, name, id))))
      )
      await before.close()
      const after = await start(aKey(), key)
      const results = await Promise.all([reseal(after), reseal(after)])
      expect(results.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(130 + signingKeys)
      expect(await delivered(after, user.id)).toStrictEqual(names)
      await after.close()
    }))

  once("are replaced in tokens of external providers", () =>
    onOneStore(async (start, restart) => {
      const [first, second] = [aKey(), aKey()]
      let server = await start(first)
      const { user } = await server.aMember()
      const given = {
        access_token: Redacted.make("an access token"),
        refresh_token: Redacted.make("a refresh token"),
        expires_at: null,
        extra: { team: "T1" }
      }
      const client = { provider: { id: "git" } as ExternalAuthProvider, revoke: () => Effect.succeed(true) }
      await server.run(Effect.flatMap(ExternalAuthTokens, ({ store }) => store(user.id, client, given)))
      const stored = () =>
        server.run(
          Effect.gen(function* () {
            const link = yield* Effect.flatten((yield* ExternalAuthRepository).find(user.id, "git"))
            return Option.getOrUndefined(yield* (yield* ExternalAuthTokens).open(link))
          })
        )
      server = await restart(server, second, first)
      expect(await stored()).toStrictEqual(given)
      expect(await reseal(server)).toStrictEqual({ resealed: 1 + signingKeys, unreadable: 0 })
      server = await restart(server, second)
      expect(await stored()).toStrictEqual(given)
      server = await restart(server, aKey())
      expect(await stored()).toBeUndefined()
      await server.close()
    })
  )

  once("are replaced in keys of AI providers", () =>
    onOneStore(async (start, restart) => {
      const [first, second] = [aKey(), aKey()]
      let server = await start(first)
      const owner = sessionActor({ userId: Uuid.nil, siteRoles: ["owner"], memberships: [] })
      const asOwner = <A, E, R>(use: (providers: AiProviders["Type"]) => Effect.Effect<A, E, R>) =>
        Effect.flatMap(AiProviders, use).pipe(Access.actingAs(owner))
      const given = { type: "openai", name: "p", display_name: "", icon: "", enabled: true, base_url: "https://api.example.com" }
      const { keys } = await server.run(asOwner(({ create }) => create({ ...given, api_keys: [Redacted.make("a key of a provider")] })))
      const stored = async () => (await server.run(asOwner(({ get }) => get("p")))).keys
      server = await restart(server, second, first)
      expect(await stored()).toStrictEqual(keys)
      expect(await reseal(server)).toStrictEqual({ resealed: 1 + signingKeys, unreadable: 0 })
      server = await restart(server, second)
      expect(await stored()).toStrictEqual(keys)
      server = await restart(server, aKey())
      expect(await stored()).toStrictEqual([])
      await server.close()
    })
  )

  once("are replaced in keys for git, which agents are given all the while", () =>
    onOneStore(async (start, restart) => {
      const [first, second] = [aKey(), aKey()]
      let server = await start(first)
      const { token, user } = await server.aMember()
      const made = await server.call("PUT", "/users/me/gitsshkey", { token })
      const given = () =>
        server.run(
          Effect.flatMap(GitSshKeys, (keys) => Effect.either(keys.ofAgent())).pipe(
            Access.actingAs(agentActor({ ...anAgent(user.id), owner: { userId: user.id, siteRoles: [], memberships: [] } }))
          )
        )
      const pair = await given()
      expect(pair).toMatchObject({ _tag: "Right", right: { public_key: made.as(GitSshKey).public_key } })

      server = await restart(server, second, first)
      expect(await given()).toStrictEqual(pair)
      expect(await reseal(server)).toStrictEqual({ resealed: 1 + signingKeys, unreadable: 0 })
      server = await restart(server, second)
      expect(await given()).toStrictEqual(pair)
      server = await restart(server, aKey())
      expect(await given()).toMatchObject({ _tag: "Left", left: { _tag: "NotFound" } })
      expect(await reseal(server)).toStrictEqual({ resealed: 0, unreadable: 1 + signingKeys })
      await server.close()
    })
  )

  once("are replaced for web push, whose browsers stay subscribed", () =>
    onOneStore(async (start, restart) => {
      const [first, second] = [aKey(), aKey()]
      const pushKey = async (server: TestServer) =>
        Object(await (await fetch(`${server.url}/api/v2/buildinfo`)).json()) as { readonly webpush_public_key: string }
      let server = await start(first)
      const before = await pushKey(server)
      expect(before.webpush_public_key).not.toBe("")
      // Nothing asks for the key of web push before the former key is gone
      server = await restart(server, second, first)
      expect(await reseal(server)).toStrictEqual({ resealed: 1 + signingKeys, unreadable: 0 })
      server = await restart(server, second)
      expect(await pushKey(server)).toStrictEqual(before)
      await server.close()
    })
  )

  once("are replaced only with the right to rotate keys", () =>
    onOneStore(async (start) => {
      const server = await start()
      const { user } = await server.aMember()
      const refused = server.run(
        Effect.flatMap(SecretValues, ({ reseal }) => Effect.flip(reseal())).pipe(
          Access.actingAs(sessionActor({ userId: user.id, siteRoles: [], memberships: [] }))
        )
      )
      expect(await refused).toMatchObject({ _tag: "Forbidden" })
      await server.close()
    })
  )
})

describe("an encryption key", () => {
  it("is created once by processes that start together on an empty store", () =>
    Effect.gen(function* () {
      const url = yield* databaseUrl
      const process = NodeEncryption.layer().pipe(
        Layer.provide(Postgres.layer({ url, maxConnections: 2 })),
        Layer.provide(Cryptography.layerWeb)
      )
      const [one, other] = yield* Effect.all([Layer.build(process), Layer.build(Layer.fresh(process))], { concurrency: 2 })
      const sealed = yield* Effect.provide(
        Effect.flatMap(Encryption, ({ seal }) => seal(new Uint8Array([1, 2]), "here")),
        one
      )
      const opened = yield* Effect.provide(
        Effect.flatMap(Encryption, ({ open }) => open(sealed, "here")),
        other
      )
      expect(opened).toStrictEqual(new Uint8Array([1, 2]))
      const elsewhere = yield* Effect.provide(
        Effect.flatMap(Encryption, ({ open }) => Effect.flip(open(sealed, "there"))),
        other
      )
      expect(elsewhere).toMatchObject({ _tag: "Undecipherable", reason: "not authentic" })
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None), Effect.scoped, Effect.runPromise))

  it("is 32 bytes in base64, and appears in no error or inspection", async () => {
    const short = randomBytes(31).toString("base64")
    for (const text of ["", short, `${aKey()}!`, randomBytes(32).toString("hex")]) {
      expect(() => NodeEncryption.parseKey(text)).toThrow("options.externalTokenEncryptionKeys: each key must be 32 bytes in base64")
    }
    await expect(startServer(sqlite, { options: { externalTokenEncryptionKeys: [Redacted.make(short)] } })).rejects.toThrow(StartError)
    const bytes = randomBytes(32)
    const key = NodeEncryption.parseKey(bytes.toString("base64"))
    for (const shown of [inspect(key, { depth: 9, showHidden: true }), JSON.stringify(key)]) {
      expect(shown).not.toContain(bytes.toString("hex"))
      expect(shown).not.toContain(bytes.toString("base64"))
    }
    expect(NodeEncryption.parseKey(bytes.toString("base64")).id).toBe(key.id)
    expect(NodeEncryption.parseKey(aKey()).id).not.toBe(key.id)
  })
})
