// Authenticated reads of one row: what the interface, the session and the store cost together.
import { compare } from "../compare.mjs"
import { authenticated } from "../deployment.mjs"

const targets = { sqlite: { atLeast: 0.45 }, postgres: { atLeast: 0.25 } }

export const users = {
  title: "GET /users/me",
  run: async ({ database, empty, report, seconds, server }) => {
    const { port, token } = await server(10_000)
    const { me, route } = await compare(
      { route: empty, me: { port, request: authenticated(token, "GET", "/users/me") } },
      { seconds: seconds(4) }
    )
    report.add({ figure: "empty HttpApi route", value: route.perSecond, unit: "/s" })
    report.add({
      figure: "GET /users/me",
      database: database.name,
      value: me.perSecond,
      unit: "/s",
      ratio: me.ratioTo("route"),
      target: targets[database.kind],
      isRecorded: true
    })
  }
}
