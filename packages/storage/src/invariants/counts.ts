/** What holds of counts that triggers keep. */
import { type Invariant, noRows } from "./Invariant.js"

export const countInvariants: ReadonlyArray<Invariant> = [
  noRows(
    "notifications-are-of-users",
    "A message waits for a user who exists.",
    (sql) => sql`SELECT m.id AS message, m.user_id AS user FROM notification_messages m LEFT JOIN users u ON u.id = m.user_id
      WHERE u.id IS NULL`
  )
]
