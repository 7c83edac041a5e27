import { expect, it } from "vitest"
import { describeInterface, type TestServer } from "../../../../../test/http/server.js"

const validate = (server: TestServer, body: unknown) => server.call("POST", "/users/validate-password", { body })

describeInterface("the strength of a password", (server) => {
  it("is public, with advice for a weak password", async () => {
    const verdicts = await Promise.all(
      ["newpassword", "newpasswords", "Passw0rd!", "1234567890", "aB3!".repeat(16) + "x"].map(async (password) => {
        const { body, status } = await validate(server(), { password })
        return [status, body]
      })
    )
    expect(verdicts).toStrictEqual([
      [200, { valid: false, details: expect.stringContaining("numbers") }],
      [200, { valid: true, details: "" }],
      [200, { valid: true, details: "" }],
      [200, { valid: false, details: expect.stringContaining("upper case") }],
      [200, { valid: false, details: expect.stringContaining("64 bytes") }]
    ])
  })

  it("needs a password", async () => {
    const answer = await validate(server(), {})
    expect([answer.status, answer.body]).toMatchObject([400, { validations: [{ field: "password" }] }])
  })
})

describeInterface(
  "questions for the strength of passwords",
  (server) => {
    it("are counted by the limiter of logins", async () => {
      expect((await validate(server(), { password: "x" })).headers.get("X-RateLimit-Limit")).toBe("60")
    })
  },
  { options: { dangerousDisableRateLimits: false } }
)

describeInterface("how a user logs in", (server) => {
  it("is shown to that user only", async () => {
    const [member, other] = await Promise.all([server().aMember({ login_type: "oidc" }), server().aMember()])
    const get = (token: string, user: string) => server().call("GET", `/users/${user}/login-type`, { token })
    expect(await get(member.token, "me")).toMatchObject({ status: 200, body: { login_type: "oidc" } })
    expect((await get(server().owner().token, member.user.id)).status).toBe(403)
    expect((await get(other.token, member.user.id)).status).toBe(404)
  })
})

const others = {
  github: { enabled: false, default_provider_configured: false },
  oidc: { enabled: false, signInText: "", iconUrl: "" }
}

describeInterface("the ways to log in", (server) => {
  it("are public", async () => {
    const answer = await server().call("GET", "/users/authmethods")
    expect([answer.status, answer.body]).toStrictEqual([200, { password: { enabled: true }, ...others }])
  })
})

describeInterface(
  "the ways to log in of a deployment without passwords",
  (server) => {
    it("say so, with the terms of service", async () => {
      const { body } = await server().call("GET", "/users/authmethods")
      expect(body).toStrictEqual({ password: { enabled: false }, terms_of_service_url: "https://example.com/terms", ...others })
    })
  },
  { empty: true, options: { disablePasswordAuth: true, termsOfServiceUrl: "https://example.com/terms" } }
)
