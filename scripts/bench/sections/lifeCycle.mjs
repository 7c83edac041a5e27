// The life-cycle worker: what a tick costs must depend on how many workspaces are due, not on how many there are.
import { startDeployment } from "../deployment.mjs"
import { ticks } from "../ticks.mjs"

const due = 50
const sizes = { small: 10_000, large: 100_000 }

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

export const lifeCycle = {
  title: "a tick of the life-cycle worker",
  isLong: true,
  run: async ({ database, databases, nodeArguments, report }) => {
    const deployments = {}
    try {
      for (const [name, count] of Object.entries(sizes)) {
        deployments[name] = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
        await deployments[name].grow(count)
      }
      const measured = { small: [], large: [] }
      // In turns, so that their ratio is of the same minute
      for (let number = 1; number <= ticks; number++) {
        for (const [name, count] of Object.entries(sizes)) {
          const result = await deployments[name].ask("tick", { count, due, number })
          if (result.queued !== due) throw new Error(`a tick queued ${result.queued} builds for ${due} workspaces`)
          measured[name].push(result)
        }
      }
      const of = (name, key) => median(measured[name].map((result) => result[key]))
      const add = (key, figure, unit) => {
        report.add({ figure: `${figure}, 50 of 10,000 due`, database: database.name, value: of("small", key), unit })
        report.add({ figure: `${figure}, 50 of 100,000 due`, database: database.name, value: of("large", key), unit })
        report.add({
          figure: `${figure}, 100,000 to 10,000`,
          database: database.name,
          value: of("large", key) / of("small", key),
          unit: "times",
          target: { atMost: 1.5 }
        })
      }
      add("milliseconds", "a tick that stops the workspaces due", "ms")
      // SQLite counts no rows
      if (measured.small[0].rows !== undefined) add("rows", "rows read to find the workspaces due", "rows")
    } finally {
      for (const deployment of Object.values(deployments)) await deployment.stop()
    }
  }
}
