import { betterAuth } from "better-auth"
import { memoryAdapter } from "better-auth/adapters/memory"
import { Schema } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { sqlite } from "../../../../../test/store/databases.js"
import { startServer, type TestServer } from "../../../../../test/http/server.js"

/** What the library keeps. */
const users: Array<{ id: string; emailVerified: boolean }> = []

const auth = betterAuth({
  baseURL: "http://atelier.test",
  secret: "a secret of this test that is long enough",
  database: memoryAdapter({ user: users, session: [], account: [], verification: [] }),
  emailAndPassword: { enabled: true }
})

let server: TestServer

beforeAll(async () => {
  server = await startServer(sqlite, {
    authenticate: async ({ headers }) => {
      const found = await auth.api.getSession({ headers })
      if (found === null) return null
      const { session, user } = found
      return { subject: user.id, session: session.id, email: user.email, email_verified: user.emailVerified, name: user.name }
    }
  })
})

afterAll(() => server.close())

const call = (path: string, headers: Readonly<Record<string, string>>, body: object = {}) =>
  auth.handler(
    new Request(`http://atelier.test/api/auth${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: "http://atelier.test", ...headers },
      body: JSON.stringify(body)
    })
  )

/** What a browser sends after an answer of the library. */
const cookiesOf = (response: Response) => ({
  cookie: response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ")
})

it("users of better-auth are users here for as long as their session lasts", async () => {
  const account = { email: "ada@example.com", password: "correct horse battery", name: "Ada" }
  const headers = cookiesOf(await call("/sign-up/email", {}, account))
  const me = () => server.call("GET", "/users/me", { headers })
  expect((await me()).status).toBe(403)

  const [user] = users
  if (user === undefined) throw new Error("the library has no user")
  user.emailVerified = true
  const seen = await me()
  expect([seen.status, seen.body]).toMatchObject([200, { email: "ada@example.com", name: "Ada", username: "ada", login_type: "oidc" }])

  const other = cookiesOf(await call("/sign-in/email", {}, account))
  const again = await server.call("GET", "/users/me", { headers: other })
  const { id } = again.as(Schema.Struct({ id: Schema.String }))
  expect(seen.body).toMatchObject({ id })

  expect((await call("/sign-out", headers)).status).toBe(200)
  expect((await me()).status).toBe(401)
  expect((await server.call("GET", "/users/me", { headers: other })).status).toBe(200)
})
