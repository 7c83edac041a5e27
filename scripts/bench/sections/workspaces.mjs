// Lists: what a page costs must not depend on how many workspaces there are, and little on which page it is.
import { compare } from "../compare.mjs"
import { authenticated, startDeployment } from "../deployment.mjs"
import { sessionOf } from "../seed.mjs"

const pageSize = 25
const sizes = { small: 10_000, large: 100_000 }

export const workspaces = {
  title: "GET /workspaces",
  /** Writing a hundred thousand takes longer than measuring them. */
  isLong: true,
  run: async ({ database, databases, empty, nodeArguments, report, seconds, server }) => {
    const small = await server(sizes.small)
    const large = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
    try {
      await large.grow(sizes.large)
      const page = ({ port, token }, offset, session = token) => ({
        port,
        request: authenticated(session, "GET", `/workspaces?limit=${pageSize}${offset === 0 ? "" : `&offset=${offset}`}`)
      })
      // In turns, so that their ratios are of the same minute
      const measured = await compare(
        {
          route: empty,
          smallFirst: page(small, 0),
          smallLast: page(small, sizes.small - pageSize),
          largeFirst: page(large, 0),
          largeLast: page(large, sizes.large - pageSize),
          own: page(large, 0, sessionOf(1))
        },
        { connections: 10, seconds: seconds(3) }
      )
      const add = (figure, name, more = {}) =>
        report.add({
          figure,
          database: database.name,
          value: measured[name].perSecond,
          unit: "/s",
          ratio: measured[name].ratioTo("route"),
          ...more
        })
      add("first 25 of 10,000 workspaces", "smallFirst")
      add("last 25 of 10,000 workspaces", "smallLast")
      add("first 25 of 100,000 workspaces", "largeFirst")
      add("last 25 of 100,000 workspaces", "largeLast")
      add("a member's own 10 of 100,000 workspaces", "own")
      const times = { unit: "times", database: database.name }
      report.add({
        ...times,
        figure: "cost of the first page, 100,000 to 10,000",
        value: measured.smallFirst.ratioTo("largeFirst"),
        target: { atMost: 1.5 }
      })
      report.add({
        ...times,
        figure: "cost of the last page to the first, 100,000",
        value: measured.largeFirst.ratioTo("largeLast"),
        target: { atMost: 3 }
      })
    } finally {
      await large.stop()
    }
  }
}
