/** A row with which nothing can be done: a write of it fails, whatever it changes. */
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Makes each write of a table's row with this value fail until the scope closes. */
export const poisoned = (table: string, column: string, value: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const name = `poison_${table}`
    const isPoisoned = sql.literal(`NEW.${column} = '${value}'`)
    const [on, called] = [sql.literal(table), sql.literal(name)]
    const poison = sql.onDialectOrElse({
      pg: () =>
        sql`CREATE FUNCTION ${called}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$`.pipe(
          Effect.zipRight(
            sql`CREATE TRIGGER ${called} BEFORE INSERT OR UPDATE ON ${on} FOR EACH ROW WHEN (${isPoisoned}) EXECUTE FUNCTION ${called}()`
          ),
          Effect.asVoid
        ),
      orElse: () =>
        Effect.all(
          (["INSERT", "UPDATE"] as const).map(
            (event) =>
              sql`CREATE TRIGGER ${sql.literal(`${name}_${event}`)} BEFORE ${sql.literal(event)} ON ${on}
                WHEN ${isPoisoned} BEGIN SELECT RAISE(ABORT, 'poisoned'); END`
          ),
          { discard: true }
        )
    })
    const heal = sql.onDialectOrElse({
      pg: () => Effect.asVoid(sql`DROP FUNCTION ${called}() CASCADE`),
      orElse: () =>
        Effect.all(
          (["INSERT", "UPDATE"] as const).map((event) => sql`DROP TRIGGER ${sql.literal(`${name}_${event}`)}`),
          { discard: true }
        )
    })
    return Effect.acquireRelease(Effect.orDie(poison), () => Effect.orDie(heal))
  })
