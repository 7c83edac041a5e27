import { ddl } from "../../platform/Schema.js"

/** Browsers that are pushed messages. notifications-audit-insights.md §A9. */
export default ddl(
  `CREATE TABLE webpush_subscriptions (
    id :uuid PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    p256dh_key TEXT NOT NULL,
    auth_key TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    UNIQUE (user_id, endpoint)
  )`
)
