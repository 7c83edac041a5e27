import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { postgres } from "../../../../test/store/databases.js"
import { startServer } from "../../../../test/http/server.js"
import { aMemberOf, anOrganization, licensed } from "./calls.js"

it("an organization is not locked by callers who may not change it", async () => {
  const server = await startServer(postgres, licensed)
  try {
    const { id } = await anOrganization(server)
    const [{ token }, { user }] = [await aMemberOf(server, id), await aMemberOf(server, id)]
    const organization = `/organizations/${id}`
    const role = { name: "crew" }
    await server.call("POST", `${organization}/members/roles`, { token: server.owner().token, body: role })
    const calls = [
      ["PATCH", organization, { display_name: "Ours" }],
      ["DELETE", organization],
      ["PATCH", `${organization}/settings/workspace-sharing`, {}],
      ["POST", `${organization}/members/${user.id}`],
      ["DELETE", `${organization}/members/${user.id}`],
      ["PUT", `${organization}/members/${user.id}/roles`, { roles: [] }],
      ["POST", `${organization}/members/roles`, { name: "other" }],
      ["PUT", `${organization}/members/roles`, role],
      ["DELETE", `${organization}/members/roles/crew`],
      ["PATCH", `${organization}/settings/idpsync/groups`, {}],
      ["PATCH", `${organization}/settings/idpsync/roles`, {}]
    ] as const
    const statuses = await server.run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT id FROM organizations WHERE id = ${id} FOR NO KEY UPDATE`
            return yield* Effect.forEach(calls, ([method, path, body]) =>
              Effect.timeout(
                Effect.promise(async () => (await server.call(method, path, { token, body })).status),
                "1 minute"
              )
            )
          })
        )
      })
    )
    expect(statuses).toStrictEqual([404, 403, 403, 404, 404, 403, 404, 404, 403, 403, 403])
  } finally {
    await server.close()
  }
})
