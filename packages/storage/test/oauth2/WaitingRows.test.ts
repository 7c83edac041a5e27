import { Statements } from "../../src/platform/Statements.js"
import {
  type AuthenticatedClient,
  DeviceAuthorizations,
  OAuth2AppRepository,
  type OAuthError,
  PushedRequests,
  UsedTokens
} from "@atelier/core/oauth2"
import { type Cryptography, Ids, Timestamp } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { aStoredApp } from "../../../../test/records/oauth2Apps.js"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { insertAll } from "../../src/platform/Batch.js"

/** A public client, which any caller can be. */
const aClient = Effect.map(aStoredApp(), (app) => ({ app, secretId: null, isProven: false }) satisfies AuthenticatedClient)

const aDevice = ({ app }: AuthenticatedClient, expires_at: Timestamp.Timestamp) => ({
  id: randomUUID(),
  app_id: app.id,
  prefix: randomUUID(),
  hashed_secret: randomBytes(8),
  hashed_user_code: randomBytes(8),
  status: "pending",
  scopes: "[]",
  resource: "[]",
  created_at: expires_at,
  expires_at,
  interval_seconds: 5
})

const aPushedRequest = ({ app }: AuthenticatedClient, expires_at: Timestamp.Timestamp) => ({
  prefix: randomUUID(),
  app_id: app.id,
  hashed_secret: randomBytes(8),
  request: "{}",
  expires_at
})

const rowsIn = (table: string) =>
  Effect.flatMap(Statements, (sql) =>
    Effect.map(sql<{ count: number }>`SELECT count(*) AS count FROM ${sql(table)}`, ([row]) => Number(row?.count))
  )

const services = Layer.mergeAll(DeviceAuthorizations.layer, PushedRequests.layer, UsedTokens.layer)

const challenge = "a".repeat(43)
const request = { response_type: "code", code_challenge: challenge, code_challenge_method: "S256", resource: [], repeated: [] }
const absent = {
  response_mode: undefined,
  prompt: undefined,
  redirect_uri: undefined,
  scope: undefined,
  state: undefined,
  dpop_jkt: undefined
}

type Needed = DeviceAuthorizations | PushedRequests | Cryptography | Ids

interface Kind {
  readonly table: string
  readonly row: typeof aDevice | typeof aPushedRequest
  readonly add: (client: AuthenticatedClient) => Effect.Effect<void, OAuthError, Needed>
  readonly purge: Effect.Effect<void, never, Needed>
}

const kinds: ReadonlyArray<Kind> = [
  {
    table: "oauth2_device_codes",
    row: aDevice,
    add: (client: AuthenticatedClient) =>
      Effect.flatMap(DeviceAuthorizations, (devices) => Effect.asVoid(devices.begin(client, { scope: undefined, resource: [] }))),
    purge: Effect.flatMap(DeviceAuthorizations, ({ purge }) => purge.run)
  },
  {
    table: "oauth2_pushed_requests",
    row: aPushedRequest,
    add: (client: AuthenticatedClient) =>
      Effect.flatMap(PushedRequests, (pushed) => Effect.asVoid(pushed.push(client, { ...absent, ...request }))),
    purge: Effect.flatMap(PushedRequests, ({ purge }) => purge.run)
  }
]

for (const [name, database] of databases) {
  layer(services.pipe(Layer.provideMerge(Layer.merge(database, runtime))))(`what clients have waiting on ${name}`, (it) => {
    for (const { add, purge, row, table } of kinds) {
      it.effect(`${table}: fills the share of one application, and of no other`, () =>
        Effect.gen(function* () {
          const sql = yield* Statements
          const [busy, other] = [yield* aClient, yield* aClient]
          const now = yield* Timestamp.now
          const rows = (expiresAt: Timestamp.Timestamp) => Array.from({ length: 10_000 }, () => row(busy, expiresAt))
          const refused = Effect.map(Effect.flip(add(busy)), ({ error }) => error)

          yield* insertAll(sql, table, rows(Timestamp.minus(now, "2 hours")))
          yield* add(busy)
          yield* insertAll(sql, table, rows(Timestamp.plus(now, "1 minute")))
          expect(yield* refused).toBe("temporarily_unavailable")
          yield* add(other)

          yield* purge
          expect(yield* rowsIn(table)).toBe(10_002)
        })
      )

      it.effect(`${table}: refuses a client that is deleted after it has proven itself`, () =>
        Effect.gen(function* () {
          const client = yield* aClient
          yield* (yield* OAuth2AppRepository).delete(client.app.id)
          expect((yield* Effect.flip(add(client))).error).toBe("invalid_client")
        })
      )
    }

    it.effect("an application keeps its last use where what it says of itself was read before", () =>
      Effect.gen(function* () {
        const apps = yield* OAuth2AppRepository
        const { app } = yield* aClient
        const now = yield* Timestamp.now
        yield* apps.recordUse(app.id, now)
        yield* apps.update({ ...app, name: "another" })
        expect(yield* Effect.flatten(apps.byId(app.id))).toMatchObject({ name: "another", last_used_at: now })
      })
    )

    it.effect("signed texts: are forgotten in one run, however many have expired", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const expires_at = Timestamp.minus(yield* Timestamp.now, Duration.hours(1))
        yield* insertAll(
          sql,
          "oauth2_used_tokens",
          Array.from({ length: 10_001 }, () => ({ hashed_id: randomBytes(8), expires_at }))
        )
        yield* (yield* UsedTokens).purge.run
        expect(yield* rowsIn("oauth2_used_tokens")).toBe(0)
      })
    )
  })
}
