import { type WorkspaceProxy, WorkspaceProxyRepository } from "@atelier/core/deployment"
import { Effect } from "effect"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { boolean, bytes, columnList, nullable, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, first, one, run, runUnique } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  deleted: boolean,
  name: text(),
  display_name: text(),
  icon: text(),
  url: text(),
  wildcard_hostname: text(),
  derp_enabled: boolean,
  derp_only: boolean,
  region_id: number,
  version: text()
}

const replicaColumns = {
  id: uuid,
  proxy_id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  stopped_at: nullable(timestamp),
  hostname: text(),
  relay_address: text(),
  error: text()
}

const proxy = row(columns)
const secret = row({ token_hashed_secret: bytes })
const next = row({ region_id: number })
const replica = row(replicaColumns)

export const layer = service(
  WorkspaceProxyRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(columnList(columns))
    const replicas = sql.literal(columnList(replicaColumns))
    const { boolean: bool } = dialectOf(sql)
    const forUpdate = locking(sql, "FOR UPDATE")
    const written = ({ deleted, derp_enabled, derp_only, ...rest }: WorkspaceProxy) => ({
      ...rest,
      deleted: bool(deleted),
      derp_enabled: bool(derp_enabled),
      derp_only: bool(derp_only)
    })
    /** No two transactions may take the same number. */
    const nextRegion = Effect.zipRight(
      sql.dialect({
        postgres: () => Effect.asVoid(sql`LOCK TABLE workspace_proxies IN SHARE ROW EXCLUSIVE MODE`),
        sqlite: () => Effect.void
      }),
      one(next, sql`SELECT coalesce(max(region_id), 0) + 1 AS region_id FROM workspace_proxies`)
    ).pipe(Effect.orDie)

    return WorkspaceProxyRepository.of({
      list: all(proxy, sql`SELECT ${selected} FROM workspace_proxies WHERE NOT deleted ORDER BY lower(name)`),
      find: (by) =>
        first(
          proxy,
          sql`SELECT ${selected} FROM workspace_proxies WHERE ${"id" in by ? sql`id = ${by.id}` : sql`NOT deleted AND name = ${by.name} AND lower(name) = lower(${by.name})`}`
        ),
      withSecret: (id) =>
        first(
          (from) => ({ proxy: proxy(from), hashedSecret: secret(from).token_hashed_secret }),
          sql`SELECT ${selected}, token_hashed_secret FROM workspace_proxies WHERE id = ${id} AND NOT deleted`
        ),
      lock: (id) => first(proxy, sql`SELECT ${selected} FROM workspace_proxies WHERE id = ${id} AND NOT deleted ${forUpdate}`),
      insert: (value, hashedSecret) =>
        Effect.gen(function* () {
          const stored = { ...value, ...(yield* nextRegion) }
          yield* runUnique(sql`INSERT INTO workspace_proxies ${sql.insert({ ...written(stored), token_hashed_secret: hashedSecret })}`)
          return stored
        }),
      update: (value) =>
        Effect.asVoid(runUnique(sql`UPDATE workspace_proxies SET ${sql.update(written(value), ["id"])} WHERE id = ${value.id}`)),
      setSecret: (id, hashedSecret) => run(sql`UPDATE workspace_proxies SET token_hashed_secret = ${hashedSecret} WHERE id = ${id}`),
      replica: (id) => first(replica, sql`SELECT ${replicas} FROM workspace_proxy_replicas WHERE id = ${id}`),
      putReplica: (value) =>
        run(
          sql`INSERT INTO workspace_proxy_replicas ${sql.insert({ ...value })}
            ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, stopped_at = excluded.stopped_at, hostname = excluded.hostname,
              relay_address = excluded.relay_address, error = excluded.error`
        ),
      replicasSince: (proxyId, since) =>
        all(
          replica,
          sql`SELECT ${replicas} FROM workspace_proxy_replicas
            WHERE proxy_id = ${proxyId} AND updated_at >= ${since} AND stopped_at IS NULL ORDER BY created_at, id`
        ),
      removeReplicasBefore: (time) => run(sql`DELETE FROM workspace_proxy_replicas WHERE updated_at < ${time}`)
    })
  })
)
