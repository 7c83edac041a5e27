// The list of users: what any page of it costs among a hundred thousand, to the first of a thousand, with each kind of filter.
import { users } from "@atelier/client"
import { authenticated, startDeployment } from "../deployment.mjs"
import { load } from "../load.mjs"

const pageSize = 25
const sizes = { small: 1_000, large: 100_000 }

/** A filter of each kind. Those that most users match cost what counting them does. */
const filters = {
  none: "",
  "search, one user": "person77777@",
  "search, one in a hundred": "night watch",
  "search, everybody": "person",
  name: "name:watch",
  username: "username:person4242",
  email: "email:person4242@example.com",
  "status, few": "status:suspended",
  "status, most": "status:active",
  role: "role:auditor",
  login_type: "login_type:github",
  service_account: "service_account:true",
  github_com_user_id: "github_com_user_id:4245",
  last_seen_after: 'last_seen_after:"2025-10-01T00:00:00Z"',
  created_before: 'created_before:"2025-01-20T00:00:00Z"'
}

const pageOf = ({ port, token }, query) => ({
  port,
  request: authenticated(token, "GET", `/users?${new URLSearchParams({ limit: pageSize, ...query })}`)
})

/** The first, a middle and the last page of what a filter finds, by offset and by cursor. */
const pagesOf = async (deployment, q) => {
  const ask = (query) => users.listUsers(deployment.client, { q, ...query })
  const { count } = await ask({ limit: 1 })
  const pages = { first: { q } }
  for (const [name, offset] of Object.entries({ middle: (count >> 1) - pageSize, last: count - pageSize })) {
    if (offset <= 0) continue
    const before = await ask({ limit: 1, offset: offset - 1 })
    pages[`${name} by offset`] = { q, offset }
    pages[`${name} by cursor`] = { q, after_id: before.users[0].id }
  }
  return pages
}

export const userPages = {
  title: "GET /users",
  isLong: true,
  run: async ({ database, databases, nodeArguments, report, seconds }) => {
    const small = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
    const large = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
    try {
      await small.ask("seedUsers", { count: sizes.small })
      await large.ask("seedUsers", { count: sizes.large })
      const first = pageOf(small, {})
      // The fastest: what a page takes, whatever else the machine does
      const cost = async (page) => (await load({ ...page, connections: 1, seconds: seconds(0.4), warmup: 0.1 })).latencies[0]
      report.add({ figure: "first page of 1,000 users", database: database.name, value: await cost(first), unit: "ms" })
      for (const [name, q] of Object.entries(filters)) {
        for (const [position, query] of Object.entries(await pagesOf(large, q))) {
          const turns = []
          for (let turn = 0; turn < 3; turn++) turns.push({ before: await cost(first), after: await cost(pageOf(large, query)) })
          const before = Math.min(...turns.map(({ before }) => before))
          const after = Math.min(...turns.map(({ after }) => after))
          report.add({
            figure: `users, filter ${name}, ${position}`,
            database: database.name,
            value: after,
            unit: "ms",
            ratio: after / before,
            target: { atMost: 2 }
          })
        }
      }
    } finally {
      await small.stop()
      await large.stop()
    }
  }
}
