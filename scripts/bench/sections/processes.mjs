// The standalone server on PostgreSQL by one process and by two.
import { createClient, logins, users } from "@atelier/client"
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { median } from "../compare.mjs"
import { authenticated, password } from "../deployment.mjs"
import { load } from "../load.mjs"
import { launch } from "./start.mjs"

const admin = { email: "admin@example.com", password }
const rounds = 3

const started = async (databases, count) => {
  const storage = await databases.fresh("postgres")
  const directory = await mkdtemp(join(databases.directory, "workspaces-"))
  const server = await launch(storage, directory, { args: ["--processes", String(count), "--dangerous-disable-rate-limits"] })
  await server.answered()
  const anonymous = createClient({ baseUrl: `http://127.0.0.1:${server.port}` })
  await users.createFirstUser(anonymous, { body: { ...admin, username: "admin" } })
  const { session_token } = await logins.logIn(anonymous, { body: admin })
  return { ...server, request: authenticated(session_token, "GET", "/users/me"), rounds: [] }
}

export const processes = {
  title: "several processes",
  run: async ({ database, databases, report, seconds }) => {
    if (database.kind !== "postgres") return
    const sides = []
    try {
      for (const count of [1, 2]) sides.push(await started(databases, count))
      for (const { port, request } of sides) await load({ port, request, seconds: 0, warmup: seconds(4) })
      for (let round = 0; round < rounds; round++)
        for (const { port, request, rounds } of sides)
          rounds.push((await load({ port, request, seconds: seconds(3), warmup: 0.1 })).perSecond)
    } finally {
      for (const { stop } of sides) await stop()
    }
    const [one, two] = sides.map(({ rounds }) => median(rounds))
    report.add({ figure: "GET /users/me, one process", database: database.name, value: one, unit: "/s" })
    report.add({ figure: "GET /users/me, two processes", database: database.name, value: two, unit: "/s", ratio: two / one })
  }
}
