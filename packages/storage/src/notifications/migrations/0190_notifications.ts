import { ddl } from "../../platform/Schema.js"

/** The queue of messages, users' inboxes and choices, and the deployment's. notifications-audit-insights.md §A1. */
export default ddl(
  `CREATE TABLE notification_messages (
    id :uuid PRIMARY KEY,
    template_id :uuid NOT NULL,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    method TEXT NOT NULL,
    status TEXT NOT NULL,
    status_reason TEXT NOT NULL DEFAULT '',
    created_by TEXT NOT NULL,
    payload :json NOT NULL,
    targets :json NOT NULL,
    attempt_count INTEGER NOT NULL DEFAULT 0,
    due_at :timestamp,
    lease_id :uuid,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    dedupe_hash TEXT NOT NULL
  )`,
  `CREATE UNIQUE INDEX notification_messages_dedupe_hash ON notification_messages (dedupe_hash)`,
  `CREATE INDEX notification_messages_due ON notification_messages (due_at, id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX notification_messages_ended ON notification_messages (updated_at) WHERE due_at IS NULL`,
  `CREATE INDEX notification_messages_by_user ON notification_messages (user_id)`,
  `CREATE TABLE inbox_notifications (
    id :uuid PRIMARY KEY,
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    template_id :uuid NOT NULL,
    targets :json NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    actions :json NOT NULL,
    read_at :timestamp,
    created_at :timestamp NOT NULL
  )`,
  `CREATE INDEX inbox_notifications_by_user ON inbox_notifications (user_id, created_at, id)`,
  `CREATE INDEX inbox_notifications_unread ON inbox_notifications (user_id) WHERE read_at IS NULL`,
  `CREATE TABLE notification_preferences (
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    template_id :uuid NOT NULL,
    disabled :boolean NOT NULL,
    updated_at :timestamp NOT NULL,
    PRIMARY KEY (user_id, template_id)
  )`,
  `CREATE TABLE notification_methods (
    template_id :uuid PRIMARY KEY,
    method TEXT NOT NULL
  )`,
  `CREATE TABLE notification_settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    notifier_paused :boolean NOT NULL
  )`
)
