import { CurrentActor } from "@atelier/core/access"
import { AccountRepository, ApiKeys, PasswordHasher, Sessions, type User, UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { aUser } from "../../../../../test/records/builders.js"
import { describeServerOnEach, type TestServer } from "../../../../../test/http/server.js"

const password = "AFormerPassword!1"

const keysOf = (server: TestServer, { id }: User) =>
  server.run(
    Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), (sql) => sql`SELECT id FROM api_keys WHERE user_id = ${id}`)
  )

/** Runs with the identity that a credential authenticated, even if the credential has ended since. */
const asHolderOf = (server: TestServer, token: string) =>
  server.run(Effect.flatMap(Sessions, ({ authenticate }) => authenticate(Redacted.make(token), {})))

const changePassword = ({ id }: User) =>
  Effect.gen(function* () {
    yield* (yield* AccountRepository).updatePassword(id, "$another$hash", yield* Timestamp.now)
  })

const somebody = async (server: TestServer) => {
  const user = await server.run(
    Effect.gen(function* () {
      const user = yield* aUser()
      const organizations = yield* OrganizationRepository
      const organization = yield* Effect.flatten(organizations.default)
      yield* (yield* UserRepository).insert(user, yield* (yield* PasswordHasher).hash(Redacted.make(password)))
      yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: yield* Timestamp.now })
      return user
    })
  )
  const login = await server.call("POST", "/users/login", { body: { email: user.email, password } })
  return { user, token: login.as(Schema.Struct({ session_token: Schema.String })).session_token }
}

describeServerOnEach("a key", (server, once) => {
  once("is not created with a credential that has ended since authentication", async () => {
    const { token, user } = await server().aMember()
    const actor = await asHolderOf(server(), token)
    await server().run(changePassword(user))
    const made = await server().run(
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        return [yield* Effect.either(keys.create("me")), yield* Effect.either(keys.createToken("me", {}))]
      }).pipe(Effect.provideService(CurrentActor, actor))
    )
    expect(made).toMatchObject([{ left: { _tag: "Unauthenticated" } }, { left: { _tag: "Unauthenticated" } }])
    expect(await keysOf(server(), user)).toStrictEqual([])
  })

  it("does not outlive a concurrent change of the password", async () => {
    const { token, user } = await somebody(server())
    const making = Array.from({ length: 20 }, () => server().call("POST", "/users/me/keys/tokens", { token, body: {} }))
    const changing = server().call("PUT", "/users/me/password", { token, body: { old_password: password, password: "TheNextPassword!2" } })
    const more = Array.from({ length: 20 }, () => server().call("POST", "/users/me/keys", { token, body: {} }))
    expect((await changing).status).toBe(204)
    for (const { status } of await Promise.all([...making, ...more])) expect([201, 401]).toContain(status)
    expect(await keysOf(server(), user)).toStrictEqual([])
  })

  it("is not created for a user who is deleted concurrently", async () => {
    const { user } = await server().aMember()
    const owner = await asHolderOf(server(), server().owner().token)
    const [made] = await Promise.all([
      server().run(
        Effect.flatMap(ApiKeys, (keys) => Effect.either(keys.createToken(user.id, {}))).pipe(Effect.provideService(CurrentActor, owner))
      ),
      server().call("DELETE", `/users/${user.id}`, { token: server().owner().token })
    ])
    expect(["Left", "Right"]).toContain(made._tag)
    expect(await keysOf(server(), user)).toStrictEqual([])
  })
})
