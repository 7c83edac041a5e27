import { DormancyRepository, type User } from "@atelier/core/identity"
import { Effect } from "effect"
import { insertAll } from "../../platform/Batch.js"
import { row, text, uuid } from "../../platform/Row.js"
import { all, applied, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const lapsed = row({ id: uuid, username: text() })
const found = row({ id: uuid })

export const layer = service(
  DormancyRepository,
  Effect.map(Statements, (sql) => {
    const unlocked = locking(sql, "FOR NO KEY UPDATE SKIP LOCKED")
    const logged = (users: ReadonlyArray<Pick<User, "id">>, new_status: User["status"], changed_at: string) =>
      run(
        insertAll(
          sql,
          "user_status_changes",
          users.map(({ id }) => ({ user_id: id, new_status, changed_at }))
        )
      )

    const unseen = (before: string, except: ReadonlyArray<string>) =>
      sql`status = 'active' AND last_seen_at < ${before} AND NOT deleted AND NOT is_system ${
        except.length === 0 ? sql.literal("") : sql`AND id NOT IN ${sql.in(except)}`
      }`

    return DormancyRepository.of({
      unseen: (before, limit, except) =>
        Effect.map(all(found, sql`SELECT id FROM users WHERE ${unseen(before, except)} ORDER BY last_seen_at LIMIT ${limit}`), (users) =>
          users.map(({ id }) => id)
        ),
      lapse: (before, at, which) =>
        Effect.tap(
          all(
            lapsed,
            sql`UPDATE users SET status = 'dormant', updated_at = ${at}
              WHERE id IN (
                SELECT id FROM users WHERE ${unseen(before, "only" in which ? [] : which.except)}
                ${"only" in which ? sql`AND id = ${which.only}` : sql`ORDER BY last_seen_at LIMIT ${which.limit}`} ${unlocked})
              RETURNING id, username`
          ),
          (users) => logged(users, "dormant", at)
        ),
      wake: (id, at) =>
        Effect.tap(
          applied(
            sql`UPDATE users SET status = 'active', last_seen_at = ${at}, updated_at = ${at}
              WHERE id = ${id} AND status = 'dormant' AND NOT deleted RETURNING id`
          ),
          (isAwake) => (isAwake ? logged([{ id }], "active", at) : Effect.void)
        )
    })
  })
)
