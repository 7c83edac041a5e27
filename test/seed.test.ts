/** What the benchmark writes into the tables has to be what the service would have written. */
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { expect, it } from "vitest"
import { seed } from "../scripts/bench/seed.mjs"
import { describeServerOnEach } from "./http/server.js"
import { Statements } from "@atelier/storage"

describeServerOnEach("the rows of the benchmark", (server) => {
  it("can be listed", async () => {
    await server().run(
      Effect.flatMap(
        Effect.all([Effect.serviceOption(SqlClient.SqlClient), Effect.serviceOption(Statements)]).pipe(Effect.flatMap(Option.all)),
        ([client, sql]) => seed(client, sql.dialect({ postgres: () => "postgres", sqlite: () => "sqlite" }), { from: 1, to: 1000 })
      )
    )
    const { token } = server().owner()
    const lists = ["/templates", "/workspaces?limit=1000", "/users?limit=101"]
    const answers = await Promise.all(lists.map((path) => server().call("GET", path, { token })))
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200])
    const [templates, workspaces, users] = answers.map(({ body }) => body)
    expect(templates).toHaveLength(20)
    expect(workspaces).toMatchObject({ count: 1000 })
    expect(users).toMatchObject({ count: 101 })
  })
})
