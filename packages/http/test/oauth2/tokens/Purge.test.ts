import { OAuth2Tokens } from "@atelier/core/oauth2"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { aClient, aCode, redeem, refresh, someTokens, statusWith, Tokens } from "../OAuthClient.js"

const rowsOf = (server: TestServer, appId: string) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      const [grants = {}] = yield* sql<Record<string, number>>`SELECT count(*) AS grants FROM oauth2_grants WHERE app_id = ${appId}`
      const [tokens = {}] = yield* sql<Record<string, number>>`SELECT count(*) AS tokens FROM oauth2_refresh_tokens t
        JOIN oauth2_grants g ON g.id = t.grant_id WHERE g.app_id = ${appId}`
      const [keys = {}] = yield* sql<Record<string, number>>`SELECT count(*) AS keys FROM api_keys WHERE token_name LIKE ${`%${appId}%`}`
      return { ...grants, ...tokens, ...keys }
    })
  )

const purge = (server: TestServer) => server.run(Effect.flatMap(OAuth2Tokens, ({ purge }) => purge.run))

describeServer("the purge of grants", (server) => {
  it("deletes codes a day after their end, and unusable tokens", async () => {
    const client = await aClient(server())
    const member = await server().aMember()
    await aCode(server(), client, member)
    const replayed = await aCode(server(), client, member)
    await redeem(server(), client, replayed)
    await redeem(server(), client, replayed)
    const { refresh_token } = await someTokens(server(), client, member)
    const { access_token } = (await refresh(server(), client, refresh_token)).as(Tokens)
    const active = { grants: 1, tokens: 2, keys: 1 }
    await purge(server())
    expect(await rowsOf(server(), client.client_id)).toStrictEqual({ grants: 3, tokens: 3, keys: 1 })
    server().advance("25 hours")
    await purge(server())
    expect(await rowsOf(server(), client.client_id)).toStrictEqual(active)

    // The access token has ended long ago, and the refresh token has not
    server().advance("20 days")
    await purge(server())
    expect(await rowsOf(server(), client.client_id)).toStrictEqual(active)
    expect(await statusWith(server(), access_token)).toBe(401)
    server().advance("20 days")
    await purge(server())
    expect(await rowsOf(server(), client.client_id)).toStrictEqual({ grants: 0, tokens: 0, keys: 0 })
  })
})
