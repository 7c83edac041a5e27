import { DeploymentValues } from "@atelier/core/deployment"
import { Effect, Option } from "effect"
import { row, text } from "../platform/Row.js"
import { applied, first, one, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const stored = row({ value: text() })

export const layer = service(
  DeploymentValues,
  Effect.map(Statements, (sql) => {
    const select = (key: string) => sql`SELECT value FROM deployment_values WHERE key = ${key}`
    const valueOf = (key: string) =>
      Effect.map(
        first(stored, select(key)),
        Option.map(({ value }) => value)
      )
    return DeploymentValues.of({
      get: valueOf,
      put: (key, value) =>
        run(sql`INSERT INTO deployment_values ${sql.insert({ key, value })} ON CONFLICT (key) DO UPDATE SET value = excluded.value`),
      replace: (key, from, to) =>
        applied(sql`UPDATE deployment_values SET value = ${to} WHERE key = ${key} AND value = ${from} RETURNING key`),
      // Most starts find it
      getOrInsert: (key, value) =>
        Effect.flatMap(
          valueOf(key),
          Option.match({
            onSome: Effect.succeed,
            onNone: () =>
              Effect.zipRight(
                run(sql`INSERT INTO deployment_values ${sql.insert({ key, value })} ON CONFLICT DO NOTHING`),
                Effect.map(one(stored, select(key)), ({ value }) => value)
              )
          })
        )
    })
  })
)
