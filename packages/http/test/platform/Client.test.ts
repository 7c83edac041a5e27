import * as Client from "@atelier/http/client"
import { Authenticated } from "../../src/contract/authentication.js"
import { Conflict, Invalid, NotFound, Unauthenticated } from "@atelier/core/platform"
import { Effect, Exit, type Redacted } from "effect"
import { expect, it } from "vitest"
import { describeInterface, ownerPassword } from "../../../../test/http/server.js"

describeInterface("the typed client", (server) => {
  const client = (sessionToken?: string | Redacted.Redacted) =>
    Client.makeFetch({ baseUrl: server().url, ...(sessionToken === undefined ? {} : { sessionToken }) })
  const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)
  const failure = <A, E>(effect: Effect.Effect<A, E>) => run(Effect.flip(effect))

  it("calls public endpoints and, with a token, the others", async () => {
    const anonymous = await run(client())
    expect(await run(anonymous.deployment.buildInfo())).toMatchObject({ dashboard_url: "http://atelier.test" })
    const { session_token } = await run(anonymous.logins.logIn({ payload: { email: "owner@example.com", password: ownerPassword } }))
    const owner = await run(client(session_token))
    expect(await run(owner.users.getUser({ path: { user: "me" } }))).toMatchObject({ username: "owner", email: "owner@example.com" })
  })

  it("takes plain ids, and omits absent fields", async () => {
    const { groups, organizationGroups, organizations } = await run(client(server().owner().token))
    const [home] = await run(organizations.listOrganizations())
    const organization: string = home?.id ?? ""
    const made = await run(organizationGroups.createGroup({ path: { organization }, payload: { name: "crew" } }))
    expect(made).toMatchObject({ name: "crew", quota_allowance: 0 })
    expect(await run(groups.updateGroup({ path: { group: made.id }, payload: { quota_allowance: 3 } }))).toMatchObject({
      name: "crew",
      quota_allowance: 3
    })
    expect((await run(groups.listGroups())).map(({ name }) => name)).toContain("crew")
    expect(await run(groups.listGroups({ urlParams: { group_ids: [made.id] } }))).toHaveLength(1)
  })

  it("encodes what a path is given", async () => {
    const { users } = await run(client(server().owner().token))
    expect(await failure(users.getUser({ path: { user: "a/../b?c" } }))).toBeInstanceOf(NotFound)
    expect(await failure(users.getUser({ path: { user: ".." } }))).toMatchObject({ _tag: "ParseError" })
  })

  it("fails with the errors of the services", async () => {
    const anonymous = await run(client())
    const owner = await run(client(server().owner().token))
    const first = { email: "a@b.co", username: "a", password: ownerPassword }
    expect(await failure(anonymous.users.getUser({ path: { user: "me" } }))).toBeInstanceOf(Unauthenticated)
    expect(await failure(owner.users.getUser({ path: { user: "nobody" } }))).toBeInstanceOf(NotFound)
    expect(await failure(anonymous.users.createFirstUser({ payload: first }))).toBeInstanceOf(Conflict)
    const invalid = await failure(anonymous.logins.logIn({ payload: { email: "nobody", password: "x" } }))
    expect(invalid).toBeInstanceOf(Invalid)
    expect(invalid).toMatchObject({ validations: [{ field: "email" }] })
  })
})

it("the middlewares that name who may call need no implementation in a client", () => {
  expect(Authenticated.optional).toBe(false)
  expect(Exit.isSuccess(Effect.runSyncExit(Client.makeFetch({ baseUrl: "http://127.0.0.1" })))).toBe(true)
})
