// Log-ins hash passwords, which must not keep other requests waiting.
import { authenticated, password } from "../deployment.mjs"
import { load, request } from "../load.mjs"

const users = 1000

export const logins = {
  title: "log-ins",
  run: async ({ database, report, seconds, server }) => {
    const { port, token } = await server(10_000)
    let next = 0
    const logIn = () => request("POST", "/api/v2/users/login", { body: { email: `user${1 + (next++ % users)}@example.com`, password } })
    const me = { port, request: authenticated(token, "GET", "/users/me"), connections: 4, seconds: seconds(3) }
    const alone = await load(me)
    const [beside, loggedIn] = await Promise.all([
      load(me),
      load({ port, request: logIn, connections: 8, seconds: seconds(3), expect: 201 })
    ])
    const figure = { database: database.name }
    report.add({ ...figure, figure: "log-ins", value: loggedIn.perSecond, unit: "/s" })
    report.add({ ...figure, figure: "p99 of GET /users/me", value: alone.p99, unit: "ms" })
    report.add({ ...figure, figure: "p99 of GET /users/me while users log in", value: beside.p99, unit: "ms" })
  }
}
