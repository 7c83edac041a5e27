import {
  type ExternalAuthClient,
  ExternalAuthFailure,
  externalAuthProviderOf,
  ExternalAuthRefused,
  ExternalAuthRepository,
  ExternalAuthTokens,
  type ExternalAuthTokenSet
} from "@atelier/core/externalAuth"
import { UserDeletionRepository, UserRepository } from "@atelier/core/identity"
import { Encryption, StoreUnavailable, Timestamp, type Uuid } from "@atelier/core/platform"
import { NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Option, Redacted, TestClock } from "effect"
import { aUser } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

const provider = externalAuthProviderOf({
  id: "git",
  type: "acme",
  client_id: "id",
  client_secret: "secret",
  auth_url: "https://git.example.com/auth",
  token_url: "https://git.example.com/token",
  validate_url: "https://git.example.com/me",
  revoke_url: "https://git.example.com/revoke"
} as Parameters<typeof externalAuthProviderOf>[0])

const away = new ExternalAuthFailure({ message: "The provider could not be asked.", detail: "", isTransient: false })

/** A provider whose answers the test gives, with the requests it got. */
const aClient = (answers: Partial<Pick<ExternalAuthClient, "refresh" | "validate">> = {}) => {
  const revoked: Array<string> = []
  const validated: Array<string> = []
  const client: ExternalAuthClient = {
    provider,
    authorizationUrl: () => "https://git.example.com/auth",
    exchange: () => away,
    startDevice: away,
    exchangeDevice: () => away,
    refresh: answers.refresh ?? (() => away),
    validate: (token) => {
      validated.push(Redacted.value(token))
      return answers.validate?.(token) ?? Effect.succeed({ isValid: true, user: null })
    },
    installations: () => Effect.succeed(undefined),
    revoke: ({ access_token }) =>
      Effect.sync(() => {
        revoked.push(Redacted.value(access_token))
        return true
      })
  }
  return { client, revoked, validated }
}

const tokensOf = (generation: number, lifetime?: "1 hour") =>
  Effect.map(Timestamp.now, (now): ExternalAuthTokenSet => ({
    access_token: Redacted.make(`access ${generation}`),
    refresh_token: Redacted.make(`refresh ${generation}`),
    expires_at: lifetime === undefined ? null : Timestamp.plus(now, lifetime),
    extra: null
  }))

/** A user with a link whose token has expired. */
const anExpiredLink = (client: ExternalAuthClient) =>
  Effect.gen(function* () {
    const user = yield* aUser()
    yield* (yield* UserRepository).insert(user, null)
    yield* (yield* ExternalAuthTokens).store(user.id, client, yield* tokensOf(1, "1 hour"))
    yield* TestClock.adjust("2 hours")
    return user.id
  })

const accessOf = (userId: Uuid.Uuid) =>
  Effect.gen(function* () {
    const link = yield* Effect.flatten((yield* ExternalAuthRepository).find(userId, "git"))
    const { access_token, refresh_token } = yield* Effect.flatten((yield* ExternalAuthTokens).open(link))
    return [Redacted.value(access_token), Redacted.value(refresh_token), link.refresh_failure]
  })

/** The link's tokens, encrypted anew as the replacement of a key does it. */
const resealed = (userId: Uuid.Uuid) =>
  Effect.gen(function* () {
    const repository = yield* ExternalAuthRepository
    const encryption = yield* Encryption
    const link = yield* Effect.flatten(repository.find(userId, "git"))
    const place = `external_auth_links.tokens/${link.user_id}/${link.id}`
    const again = yield* encryption.seal(yield* encryption.open(link.tokens, place), place)
    expect(yield* repository.reseal(link.id, link.tokens, again)).toBe(true)
  })

/** A store that is away for the next writes of tokens. */
class Outage extends Context.Tag("test/Outage")<Outage, { writes: number }>() {}

const failing = Layer.effect(
  ExternalAuthRepository,
  Effect.gen(function* () {
    const repository = yield* ExternalAuthRepository
    const outage = yield* Outage
    return ExternalAuthRepository.of({
      ...repository,
      replaceTokens: (...given) =>
        Effect.suspend(() =>
          outage.writes-- > 0 ? Effect.die(new StoreUnavailable({ reason: "away", cause: undefined })) : repository.replaceTokens(...given)
        )
    })
  })
).pipe(Layer.provideMerge(Layer.sync(Outage, () => ({ writes: 0 }))))

for (const [name, database] of databases) {
  const services = ExternalAuthTokens.layer.pipe(
    Layer.provideMerge(failing),
    Layer.provideMerge(NodeEncryption.layer()),
    Layer.provideMerge(Layer.merge(database, runtime))
  )
  layer(services)(`tokens of external providers in ${name}`, (it) => {
    /** Renews the token of a user, and runs an effect between the provider's answer and its storage. */
    const renewedDuring = <E, R>(meanwhile: (userId: Uuid.Uuid) => Effect.Effect<unknown, E, R>, refused = false) =>
      Effect.gen(function* () {
        const asked = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const given = yield* tokensOf(2)
        const provided = aClient({
          refresh: () =>
            Effect.zipRight(
              Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(go)),
              refused ? new ExternalAuthRefused({ code: "invalid_grant", detail: "spent" }) : Effect.succeed(given)
            )
        })
        const userId = yield* anExpiredLink(provided.client)
        const current = yield* Effect.fork((yield* ExternalAuthTokens).current(userId, provided.client))
        yield* Deferred.await(asked)
        yield* meanwhile(userId)
        yield* Deferred.succeed(go, undefined)
        return { ...provided, userId, current }
      })

    it.effect("are stored after a renewal though another process encrypted them anew", () =>
      Effect.gen(function* () {
        const { current, userId } = yield* renewedDuring(resealed)
        expect((yield* current).authenticated).toBe(true)
        expect(yield* accessOf(userId)).toStrictEqual(["access 2", "refresh 2", ""])
      })
    )

    it.effect("are renewed in the last minute of their life if the provider renews them", () =>
      Effect.gen(function* () {
        const tokens = yield* ExternalAuthTokens
        const user = yield* aUser()
        yield* (yield* UserRepository).insert(user, null)
        const given = yield* tokensOf(2, "1 hour")
        const renewing = aClient({ refresh: () => Effect.succeed({ ...given, expires_at: null }) })
        const unwilling = aClient()
        yield* tokens.store(user.id, renewing.client, yield* tokensOf(1, "1 hour"))
        yield* TestClock.adjust("58 minutes")
        yield* tokens.current(user.id, renewing.client)
        expect(yield* accessOf(user.id)).toStrictEqual(["access 1", "refresh 1", ""])
        yield* TestClock.adjust("90 seconds")
        expect((yield* tokens.current(user.id, unwilling.client)).authenticated).toBe(true)
        expect(unwilling.validated).toStrictEqual(["access 1"])
        // The provider is left alone for ten seconds after a failure
        yield* TestClock.adjust("11 seconds")
        yield* tokens.current(user.id, renewing.client)
        expect(yield* accessOf(user.id)).toStrictEqual(["access 2", "refresh 2", ""])
      })
    )

    it.effect("that the provider refused are dropped", () =>
      Effect.gen(function* () {
        const { current, userId } = yield* renewedDuring(resealed, true)
        expect((yield* current).authenticated).toBe(false)
        expect(yield* accessOf(userId)).toStrictEqual(["access 1", "", "invalid_grant: spent"])
      })
    )

    it.effect("of a sign-in during a renewal stay", () =>
      Effect.gen(function* () {
        const { current, revoked, userId } = yield* renewedDuring((id) =>
          Effect.gen(function* () {
            yield* (yield* ExternalAuthTokens).store(id, aClient().client, yield* tokensOf(3))
          })
        )
        yield* current
        expect([yield* accessOf(userId), revoked]).toStrictEqual([["access 3", "refresh 3", ""], []])
      })
    )

    it.effect("are revoked at the provider when their link is removed during the renewal", () =>
      Effect.gen(function* () {
        const { current, revoked, userId } = yield* renewedDuring((id) =>
          Effect.flatMap(ExternalAuthRepository, (links) => links.remove(id, "git"))
        )
        expect((yield* current).authenticated).toBe(false)
        expect(revoked).toStrictEqual(["access 2"])
        expect(Option.isNone(yield* (yield* ExternalAuthRepository).find(userId, "git"))).toBe(true)
      })
    )

    it.effect("are stored once a store that was away is back", () =>
      Effect.gen(function* () {
        const outage = yield* Outage
        const { current, userId } = yield* renewedDuring(() => Effect.sync(() => (outage.writes = 3)))
        yield* Effect.yieldNow()
        while (outage.writes >= 0) yield* TestClock.adjust("1 second")
        expect((yield* current).authenticated).toBe(true)
        expect(yield* accessOf(userId)).toStrictEqual(["access 2", "refresh 2", ""])
      })
    )

    it.effect("are revoked and not stored for a user that has been deleted", () =>
      Effect.gen(function* () {
        const { client, revoked } = aClient()
        const user = yield* aUser()
        yield* (yield* UserRepository).insert(user, null)
        yield* (yield* UserDeletionRepository).delete(user.id, yield* Timestamp.now)
        expect(yield* (yield* ExternalAuthTokens).store(user.id, client, yield* tokensOf(1))).toBe(false)
        expect(revoked).toStrictEqual(["access 1"])
        expect(Option.isNone(yield* (yield* ExternalAuthRepository).find(user.id, "git"))).toBe(true)
      })
    )

    it.effect("fail to be validated while the provider is away", () =>
      Effect.gen(function* () {
        const { client } = aClient({ validate: () => away })
        const userId = yield* anExpiredLink(client)
        const tokens = yield* ExternalAuthTokens
        expect(yield* Effect.flip(tokens.current(userId, client))).toMatchObject({ _tag: "ExternalAuthFailure" })
        yield* tokens.store(userId, client, yield* tokensOf(2))
        expect(yield* Effect.flip(tokens.current(userId, client))).toMatchObject({ message: away.message })
      })
    )

    it.effect("are validated once for all agents that wait while the provider refuses them", () =>
      Effect.gen(function* () {
        const { client, validated } = aClient({
          validate: (token) => Effect.succeed({ isValid: Redacted.value(token) === "access 2", user: null })
        })
        const tokens = yield* ExternalAuthTokens
        const user = yield* aUser()
        yield* (yield* UserRepository).insert(user, null)
        yield* tokens.store(user.id, client, yield* tokensOf(1))
        const asked = Effect.all(
          Array.from({ length: 50 }, () => tokens.awaited(user.id, client)),
          { concurrency: "unbounded" }
        )
        for (let minute = 0; minute < 5; minute++) {
          expect(new Set(yield* asked)).toStrictEqual(new Set([undefined]))
          yield* TestClock.adjust("1 minute")
        }
        expect(validated).toStrictEqual(["access 1"])
        yield* tokens.store(user.id, client, yield* tokensOf(2))
        const given = yield* asked
        expect(given.map((each) => (each === undefined ? "" : Redacted.value(each.access_token)))).toStrictEqual(
          Array.from({ length: 50 }, () => "access 2")
        )
        expect(validated).toStrictEqual(["access 1", "access 2"])
      })
    )

    it.effect("are requested once in ten seconds while the provider does not answer", () =>
      Effect.gen(function* () {
        const { client, validated } = aClient({ validate: () => away })
        const tokens = yield* ExternalAuthTokens
        const user = yield* aUser()
        yield* (yield* UserRepository).insert(user, null)
        yield* tokens.store(user.id, client, yield* tokensOf(1))
        const asked = Effect.all(
          Array.from({ length: 50 }, () => tokens.awaited(user.id, client)),
          { concurrency: "unbounded" }
        )
        yield* asked
        yield* TestClock.adjust("9 seconds")
        yield* asked
        expect(validated).toHaveLength(1)
        yield* TestClock.adjust("2 seconds")
        yield* asked
        expect(validated).toHaveLength(2)
      })
    )
  })
}
