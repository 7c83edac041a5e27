import { prebuildsUserId } from "@atelier/core/access"
import { UserRepository } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface } from "../../../../../test/http/server.js"

describeInterface("one of the service's own users", (server) => {
  const id = Uuid.Uuid.make(prebuildsUserId)

  it.each<readonly [string, "PUT" | "POST" | "DELETE", string, object, number]>([
    ["suspended", "PUT", "/status/suspend", {}, 403],
    ["activated", "PUT", "/status/activate", {}, 403],
    ["given roles", "PUT", "/roles", { roles: ["auditor"] }, 403],
    ["given another profile", "PUT", "/profile", { username: "other" }, 403],
    ["given a password", "PUT", "/password", { password: "SomeSecurePassword!" }, 403],
    ["given a session", "POST", "/keys", {}, 404],
    ["given a token", "POST", "/keys/tokens", {}, 404],
    ["given a key for git", "PUT", "/gitsshkey", {}, 403],
    ["given a secret", "POST", "/secrets", { name: "a", value: "b", env_name: "A" }, 403],
    ["deleted", "DELETE", "", {}, 403]
  ])("is not %s, by nobody, which is audited", async (_, method, path, body, status) => {
    const before = await server().run(Effect.flatMap(UserRepository, ({ byId }) => byId(id)))
    const owner = server().owner()
    const answer = await server().call(method, `/users/${id}${path}`, { token: owner.token, body })
    expect(answer.status).toBe(status)
    expect(await server().run(Effect.flatMap(UserRepository, ({ byId }) => byId(id)))).toStrictEqual(before)
    const hidden = await server().call(method, `/users/${id}${path}`, {
      token: (await server().aMember()).token,
      body
    })
    expect(hidden.status).toBe(404)
    const entries = await server().run(auditEntries({ user_id: owner.user.id, resource_id: id, resource_type: "user" }))
    expect(entries.every(({ diff, status_code }) => status_code === 403 && Object.keys(diff).length === 0)).toBe(true)
  })

  it("is found by id, in no list, and does not log in", async () => {
    const { token } = server().owner()
    expect(await server().call("GET", `/users/${id}`, { token })).toMatchObject({ status: 200, body: { username: "prebuilds" } })
    const { users } = (await server().call("GET", "/users?q=prebuilds", { token })).as(
      Schema.Struct({ users: Schema.Array(Schema.Unknown) })
    )
    expect(users).toStrictEqual([])
    const body = { email: "prebuilds@example.com", password: "SomeSecurePassword!" }
    expect((await server().call("POST", "/users/login", { body })).status).toBe(401)
  })
})
