import { type Preferences, unchosenAppearance, UserSettingsRepository } from "@atelier/core/identity"
import { Effect, Option } from "effect"
import { dialectOf } from "../../platform/Dialect.js"
import { boolean, row, text } from "../../platform/Row.js"
import { first, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const appearance = row({ theme_preference: text(), theme_mode: text(), theme_light: text(), theme_dark: text(), terminal_font: text() })

const preferences = row({
  task_notification_alert_dismissed: boolean,
  thinking_display_mode: text(),
  shell_tool_display_mode: text(),
  code_diff_display_mode: text(),
  agent_chat_send_shortcut: text()
})

const unchosenPreferences: Preferences = {
  task_notification_alert_dismissed: false,
  thinking_display_mode: "",
  shell_tool_display_mode: "",
  code_diff_display_mode: "",
  agent_chat_send_shortcut: ""
}

export const layer = service(
  UserSettingsRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    return UserSettingsRepository.of({
      appearance: (id) =>
        Effect.map(
          first(
            appearance,
            sql`SELECT u.theme_preference, coalesce(s.theme_mode, '') AS theme_mode, coalesce(s.theme_light, '') AS theme_light,
                coalesce(s.theme_dark, '') AS theme_dark, coalesce(s.terminal_font, '') AS terminal_font
              FROM users u LEFT JOIN user_settings s ON s.user_id = u.id WHERE u.id = ${id}`
          ),
          Option.getOrElse(() => unchosenAppearance)
        ),
      updateAppearance: (id, { terminal_font, theme_dark, theme_light, theme_mode, theme_preference }, at) =>
        Effect.zipRight(
          run(sql`UPDATE users SET theme_preference = ${theme_preference}, updated_at = ${at} WHERE id = ${id}`),
          run(
            sql`INSERT INTO user_settings ${sql.insert({ user_id: id, theme_mode, theme_light, theme_dark, terminal_font })}
              ON CONFLICT (user_id) DO UPDATE SET theme_mode = excluded.theme_mode, theme_light = excluded.theme_light,
                theme_dark = excluded.theme_dark, terminal_font = excluded.terminal_font`
          )
        ),
      preferences: (id) =>
        Effect.map(
          first(
            preferences,
            sql`SELECT task_notification_alert_dismissed, thinking_display_mode, shell_tool_display_mode, code_diff_display_mode,
                agent_chat_send_shortcut FROM user_settings WHERE user_id = ${id}`
          ),
          Option.getOrElse(() => unchosenPreferences)
        ),
      updatePreferences: (id, { task_notification_alert_dismissed, ...words }) =>
        run(
          sql`INSERT INTO user_settings ${sql.insert({
            ...words,
            user_id: id,
            task_notification_alert_dismissed: bool(task_notification_alert_dismissed)
          })}
            ON CONFLICT (user_id) DO UPDATE SET task_notification_alert_dismissed = excluded.task_notification_alert_dismissed,
              thinking_display_mode = excluded.thinking_display_mode, shell_tool_display_mode = excluded.shell_tool_display_mode,
              code_diff_display_mode = excluded.code_diff_display_mode, agent_chat_send_shortcut = excluded.agent_chat_send_shortcut`
        )
    })
  })
)
