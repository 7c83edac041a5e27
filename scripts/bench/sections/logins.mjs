// Logins hash passwords, which must not keep other requests waiting. The limits of rates are in force: each login comes from an address of
// its own, and the reader is an owner who says so.
import { password, startDeployment } from "../deployment.mjs"
import { load, request } from "../load.mjs"

const users = 1000
const atOnce = 200

export const logins = {
  title: "logins",
  run: async ({ database, databases, nodeArguments, report, seconds }) => {
    const deployment = await startDeployment(await databases.fresh(database.kind), { nodeArguments, isLimited: true })
    try {
      await deployment.grow(10 * users)
      const { port, token } = deployment
      let next = 0
      const logIn = () => {
        const number = next++
        return request("POST", "/api/v2/users/login", {
          headers: { "X-Forwarded-For": `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}` },
          body: { email: `user${1 + (number % users)}@example.com`, password }
        })
      }
      const me = {
        port,
        request: request("GET", "/api/v2/users/me", { headers: { "Service-Session-Token": token, "X-Service-Bypass-Ratelimit": "true" } }),
        connections: 4,
        seconds: seconds(8)
      }
      const alone = await load(me)
      const [beside, loggedIn] = await Promise.all([
        load(me),
        load({ port, request: logIn, connections: atOnce, seconds: seconds(8), expect: 201 })
      ])
      const figure = { database: database.name }
      report.add({ ...figure, figure: `logins, ${atOnce} at once`, value: loggedIn.perSecond, unit: "/s" })
      report.add({ ...figure, figure: "p99 of GET /users/me", value: alone.p99, unit: "ms" })
      report.add({
        ...figure,
        figure: `p99 of GET /users/me while ${atOnce} users log in`,
        value: beside.p99,
        unit: "ms",
        ratio: beside.p99 / alone.p99,
        target: { atMost: 10 }
      })
    } finally {
      await deployment.stop()
    }
  }
}
