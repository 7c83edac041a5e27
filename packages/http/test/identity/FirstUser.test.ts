import { Schema } from "effect"
import { expect, it } from "vitest"
import { describeInterface, describeServerOnEach } from "../../../../test/server.js"

const ada = { email: "Ada@Example.com", username: "Ada-1", name: "Ada Lovelace", password: "SomeSecurePassword!" }

describeServerOnEach(
  "a deployment without users",
  (server, once) => {
    once("answers 404, and refuses an invalid first user, naming every field", async () => {
      const first = await server().call("GET", "/users/first")
      expect([first.status, first.headers.has("Service-Session-Token"), first.headers.has("X-Service-Build-Version")]).toStrictEqual([
        404,
        false,
        true
      ])

      const empty = await server().call("POST", "/users/first", { body: {} })
      expect([empty.status, empty.body]).toStrictEqual([
        400,
        {
          message: "Validation failed.",
          validations: [
            { field: "email", detail: "is required" },
            { field: "username", detail: "is required" },
            { field: "password", detail: "is required" }
          ]
        }
      ])

      const weak = await server().call("POST", "/users/first", { body: { ...ada, password: "newpassword" } })
      expect([weak.status, weak.body]).toMatchObject([400, { validations: [{ field: "password" }] }])
    })

    it("gets exactly one owner from concurrent calls, and refuses the others", async () => {
      const answers = await Promise.all(
        ["Ada-1", "grace", "Ada-1", "mary"].map((username, index) =>
          server().call("POST", "/users/first", {
            body: { ...ada, username, email: index === 0 ? ada.email : `${index}@example.com`, trial: false }
          })
        )
      )
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409])
      expect((await server().call("GET", "/users/first")).status).toBe(200)
      expect(
        (await server().call("POST", "/users/first", { body: { ...ada, username: "later", email: "later@example.com" } })).status
      ).toBe(409)
      // Fields are judged before it is looked at whether there is a user, and the password's strength after that
      const again = async (fields: object) => (await server().call("POST", "/users/first", { body: { ...ada, ...fields } })).status
      expect(await again({ email: "nowhere" })).toBe(400)
      expect(await again({ password: "newpassword" })).toBe(409)
      expect(answers.flatMap(({ headers }) => headers.getSetCookie()).filter((cookie) => cookie.includes("session"))).toStrictEqual([])
    })
  },
  { empty: true }
)

describeInterface("the first user", (server) => {
  it("is an active owner with a password, and a member of the default organization", async () => {
    const { token, user } = server().owner()
    const me = await server().call("GET", "/users/me", { token })
    const organization = await server().call("GET", "/organizations/default", { token })
    expect(organization.body).toMatchObject({
      name: "default",
      is_default: true,
      default_org_member_roles: ["organization-workspace-access"]
    })
    expect(organization.body).not.toHaveProperty("deleted")
    expect([me.status, me.body]).toMatchObject([
      200,
      {
        id: user.id,
        username: "owner",
        email: "owner@example.com",
        status: "active",
        login_type: "password",
        roles: [{ name: "owner", display_name: "Owner" }],
        has_ai_seat: false,
        organization_ids: [organization.as(Schema.Struct({ id: Schema.String })).id]
      }
    ])
    expect(me.body).not.toHaveProperty("hashed_password")
  })
})
