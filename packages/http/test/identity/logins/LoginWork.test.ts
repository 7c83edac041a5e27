import { GitSshKeyPairs, LinkTokens, PasswordHasher, Sessions, UserRepository, Users } from "@atelier/core/identity"
import { NodeEncryption, NodeSshKeyGenerator } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Ref, TestClock } from "effect"
import { aUser } from "../../../../../test/records/builders.js"
import { sqlite } from "../../../../../test/store/databases.js"
import { runtime } from "../../../../../test/store/services.js"

/** A host's hasher: it stores passwords as they are, and counts the work. */
class Work extends Effect.Service<Work>()("test/Work", { effect: Ref.make<ReadonlyArray<string | null>>([]) }) {}

const hasher = Layer.effect(
  PasswordHasher,
  Effect.map(Work, (work) =>
    PasswordHasher.of({
      hash: (password) => Effect.succeed(Redacted.value(password)),
      verify: (password, stored) =>
        Effect.as(
          Ref.update(work, (all) => [...all, stored]),
          Redacted.value(password) === stored
        ),
      isCurrent: () => true
    })
  )
)

const services = Layer.mergeAll(Sessions.layer, Users.layer).pipe(
  Layer.provide(LinkTokens.layer),
  Layer.provideMerge(GitSshKeyPairs.layer),
  Layer.provideMerge(Layer.mergeAll(hasher, NodeSshKeyGenerator.layer, NodeEncryption.layer())),
  Layer.provideMerge(Layer.mergeAll(Work.Default, sqlite, runtime))
)

layer(services)("a login", (it) => {
  it.effect("does the same work for every kind of wrong credential", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const users = yield* UserRepository
      yield* users.insert(yield* aUser({ email: "ada@example.com" }), "right")
      yield* users.insert(yield* aUser({ email: "oidc@example.com", login_type: "oidc" }), null)
      const logIn = (email: string, password: string) => Effect.either(sessions.logIn({ email, password: Redacted.make(password) }, {}))
      const refused = yield* Effect.forEach(["ada@example.com", "oidc@example.com", "nobody@example.com"], (email) => logIn(email, "wrong"))
      expect(refused.map((answer) => (answer._tag === "Left" ? [answer.left._tag, answer.left.message] : answer))).toStrictEqual(
        Array.from({ length: 3 }, () => ["Unauthenticated", "Incorrect e-mail address or password."])
      )
      expect(yield* yield* Work).toStrictEqual(["right", null, null])
      expect((yield* logIn("ada@example.com", "right"))._tag).toBe("Right")
    })
  )
})

/** A hasher of two schemes, which says which kinds each verification computed. */
const twoSchemes = Layer.effect(
  PasswordHasher,
  Effect.map(Work, (work) =>
    PasswordHasher.of({
      scheme: "new:",
      hash: (password) => Effect.succeed(`new:${Redacted.value(password)}`),
      verify: (password, stored, isOnlyScheme = false) =>
        Effect.as(
          Ref.update(work, (all) => [...all, isOnlyScheme ? "new" : "both"]),
          stored !== null && stored.endsWith(`:${Redacted.value(password)}`)
        ),
      isCurrent: (stored) => stored.startsWith("new:")
    })
  )
)

const servicesOfTwoSchemes = Layer.mergeAll(Sessions.layer, Users.layer).pipe(
  Layer.provide(LinkTokens.layer),
  Layer.provideMerge(GitSshKeyPairs.layer),
  Layer.provideMerge(Layer.mergeAll(twoSchemes, NodeSshKeyGenerator.layer, NodeEncryption.layer())),
  Layer.provideMerge(Layer.mergeAll(Work.Default, sqlite, runtime))
)

layer(servicesOfTwoSchemes)("a login where passwords have an older hash", (it) => {
  it.effect("computes both kinds until an hour after the last older hash is replaced", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const users = yield* UserRepository
      yield* users.insert(yield* aUser({ email: "old@example.com" }), "old:right")
      yield* users.insert(yield* aUser({ email: "new@example.com" }), "new:right")
      const logIn = (email: string) => Effect.either(sessions.logIn({ email, password: Redacted.make("right") }, {}))
      const everyone = Effect.forEach(["new@example.com", "old@example.com", "absent@example.com"], logIn)
      const work = yield* Work
      yield* everyone
      yield* TestClock.adjust("59 minutes")
      yield* everyone
      expect(yield* Ref.getAndSet(work, [])).toStrictEqual(["both", "both", "both", "both", "both", "both"])
      yield* TestClock.adjust("2 minutes")
      yield* everyone
      expect(yield* Ref.get(work)).toStrictEqual(["new", "new", "new"])
    })
  )
})
