import { ddl } from "../../platform/Schema.js"

/** Settings that users chose, without `users.theme_preference`; empty if not chosen. */
export default ddl(
  `CREATE TABLE user_settings (
    user_id :uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    theme_mode TEXT NOT NULL DEFAULT '',
    theme_light TEXT NOT NULL DEFAULT '',
    theme_dark TEXT NOT NULL DEFAULT '',
    terminal_font TEXT NOT NULL DEFAULT '',
    task_notification_alert_dismissed :boolean NOT NULL DEFAULT FALSE,
    thinking_display_mode TEXT NOT NULL DEFAULT '',
    shell_tool_display_mode TEXT NOT NULL DEFAULT '',
    code_diff_display_mode TEXT NOT NULL DEFAULT '',
    agent_chat_send_shortcut TEXT NOT NULL DEFAULT ''
  )`
)
