// A log that has grown for years is read as fast as a young one; reports become usage in bounded memory; old rows go while users work.
import { authenticated, startDeployment } from "../deployment.mjs"
import { load } from "../load.mjs"

const young = 10_000
const reporters = { users: 1_000, hours: 2 }

export const history = {
  title: "rows of months",
  isLong: true,
  run: async ({ database, databases, isQuick, report, seconds }) => {
    const deployment = await startDeployment(await databases.fresh(database.kind))
    const { ask, port, token } = deployment
    const add = (figure) => report.add({ database: database.name, ...figure })
    const get = (path, connections, duration) =>
      load({ port, request: authenticated(token, "GET", path), connections, seconds: seconds(duration) })
    const grown = isQuick ? 100_000 : 1_000_000
    try {
      await ask("seedAudit", { from: 1, to: young })
      const small = await get("/audit?limit=25", 4, 8)
      await ask("seedAudit", { from: young + 1, to: grown })
      const large = await get("/audit?limit=25", 4, 8)
      add({ figure: `first page of ${young} audit entries, median`, value: small.p50, unit: "ms" })
      add({
        figure: `first page of ${grown} audit entries, median`,
        value: large.p50,
        unit: "ms",
        ratio: large.p50 / small.p50,
        target: { atMost: 1.5 }
      })

      await ask("seedReports", reporters)
      const rolled = await ask("rollUp")
      const rows = reporters.users * reporters.hours * 120
      add({ figure: `reports of ${reporters.users} agents rolled up`, value: (1000 * rows) / rolled.millis, unit: "rows/s" })
      add({ figure: "memory while they are", value: rolled.grown / 1e6, unit: "MB", target: { atMost: 150 } })

      const old = grown / 2
      await ask("seedAudit", { from: grown + 1, to: grown + old, action: "connect", olderThanDays: 91 })
      const alone = await get("/users/me", 4, 8)
      const [purged, beside] = await Promise.all([ask("purge"), get("/users/me", 4, 8)])
      add({ figure: "old rows deleted", value: (1000 * old) / purged.millis, unit: "rows/s" })
      add({ figure: "p99 of GET /users/me", value: alone.p99, unit: "ms" })
      add({
        figure: "p99 of GET /users/me while old rows are deleted",
        value: beside.p99,
        unit: "ms",
        ratio: beside.p99 / alone.p99,
        target: { atMost: 3 }
      })
    } finally {
      await deployment.stop()
    }
  }
}
