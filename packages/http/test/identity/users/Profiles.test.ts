import { UserRepository } from "@atelier/core/identity"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser } from "../../../../../test/records/builders.js"
import { describeServerOnEach } from "../../../../../test/http/server.js"

describeServerOnEach("a profile", (server, once) => {
  once("is replaced by its user, and absent fields are cleared", async () => {
    const { token, user } = await server().aMember({ name: "Ada", avatar_url: "/ada.png" })
    const body = { username: user.username, name: "Ada Lovelace", avatar_url: "/lovelace.png" }
    const answer = await server().call("PUT", "/users/me/profile", { token, body })
    expect([answer.status, answer.body]).toMatchObject([200, { ...body, id: user.id, organization_ids: [expect.any(String)] }])
    expect(answer.body).not.toHaveProperty("hashed_password")

    await server().call("PUT", "/users/me/profile", { token, body: { username: user.username } })
    const { body: me } = await server().call("GET", "/users/me", { token })
    expect(me).not.toHaveProperty("name")
    expect(me).not.toHaveProperty("avatar_url")
    expect(await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))).toMatchObject([
      {
        action: "write",
        user_id: user.id,
        resource_target: user.username,
        status_code: 200,
        diff: { name: { old: "Ada", new: "Ada Lovelace", secret: false } }
      },
      { action: "write", diff: { name: { old: "Ada Lovelace", new: "", secret: false } } }
    ])
  })

  once("keeps the picture of users who log in at a provider", async () => {
    const { token, user } = await server().aMember({ login_type: "oidc", avatar_url: "/provider.png" })
    const body = { username: user.username, avatar_url: "/own.png" }
    expect((await server().call("PUT", "/users/me/profile", { token, body })).body).toMatchObject({ avatar_url: "/provider.png" })
  })

  once("changes its username with the right to manage users only; others get 404", async () => {
    const [member, other, auditor] = await Promise.all([
      server().aMember(),
      server().aMember(),
      server().aMember({ rbac_roles: ["auditor"] })
    ])
    const put = (token: string, body: object) => server().call("PUT", `/users/${member.user.id}/profile`, { token, body })
    const status = async (token: string, body: object) => (await put(token, body)).status
    const same = { username: member.user.username, name: "Somebody Else" }
    expect(await status(member.token, { username: "renamed-by-me" })).toBe(404)
    expect(await status(other.token, same)).toBe(404)
    expect(await status(auditor.token, same)).toBe(404)
    expect(await status(server().owner().token, { username: "Renamed" })).toBe(200)
    expect((await server().call("GET", "/users/renamed", { token: member.token })).body).toMatchObject({
      id: member.user.id,
      username: "Renamed"
    })
    expect(
      (await server().run(auditEntries({ resource_id: member.user.id, resource_type: "user" }))).map(({ diff, status_code, user_id }) => [
        user_id,
        status_code,
        Object.keys(diff)
      ])
    ).toStrictEqual([
      [member.user.id, 404, []],
      [auditor.user.id, 404, []],
      [server().owner().user.id, 200, ["username"]]
    ])
  })

  once("refuses invalid fields, naming each, and a username taken in another case", async () => {
    const member = await server().aMember()
    const { token } = server().owner()
    const put = (body: object) => server().call("PUT", `/users/${member.user.username}/profile`, { token, body })
    const missing = await put({ name: " Ada", avatar_url: "x".repeat(2049) })
    expect([missing.status, missing.body]).toStrictEqual([
      400,
      {
        message: "Validation failed.",
        validations: [
          { field: "username", detail: "is required" },
          { field: "name", detail: "must not begin or end with whitespace" },
          { field: "avatar_url", detail: "must be at most 2048 characters" }
        ]
      }
    ])
    for (const username of ["a--b", "-a", "a_b", "x".repeat(33), "new", "create", "ME"]) {
      expect((await put({ username })).body).toMatchObject({ validations: [{ field: "username" }] })
    }
    const taken = await put({ username: "OWNER" })
    expect([taken.status, taken.body]).toMatchObject([409, { validations: [{ field: "username" }] }])
    expect((await put({ username: member.user.username.toUpperCase() })).status).toBe(200)
  })

  once("of a deleted user cannot be changed", async () => {
    const user = await server().run(
      Effect.tap(aUser({ deleted: true }), (user) => Effect.flatMap(UserRepository, ({ insert }) => insert(user, null)))
    )
    const { token } = server().owner()
    expect((await server().call("PUT", `/users/${user.id}/profile`, { token, body: { username: "back" } })).status).toBe(404)
  })

  it("of users who race for a username goes to one", async () => {
    const members = await Promise.all([server().aMember(), server().aMember(), server().aMember()])
    const { token } = server().owner()
    const answers = await Promise.all(
      members.map(({ user }, index) =>
        server().call("PUT", `/users/${user.id}/profile`, { token, body: { username: index === 1 ? "WANTED" : "wanted" } })
      )
    )
    expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([200, 409, 409])
  })
})
