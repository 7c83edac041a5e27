// What spans cost where they are made; without the option nothing is made.
import { compare } from "../compare.mjs"
import { authenticated, startDeployment } from "../deployment.mjs"

export const tracing = {
  title: "tracing",
  run: async ({ database, databases, report, seconds }) => {
    const [off, on] = await Promise.all(
      [false, true].map(async (isOn) => startDeployment(await databases.fresh(database.kind), { tracing: isOn }))
    )
    try {
      const me = ({ port, token }) => ({ port, request: authenticated(token, "GET", "/users/me") })
      const measured = await compare({ off: me(off), on: me(on) }, { seconds: seconds(3) })
      report.add({ figure: "GET /users/me, tracing off", database: database.name, value: measured.off.perSecond, unit: "/s" })
      report.add({
        figure: "GET /users/me, tracing on",
        database: database.name,
        value: measured.on.perSecond,
        unit: "/s",
        ratio: measured.on.ratioTo("off")
      })
    } finally {
      await off.stop()
      await on.stop()
    }
  }
}
