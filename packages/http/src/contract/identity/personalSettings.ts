/** Personal settings of users. identity.md §8.7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, needed, Path, text } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const Appearance = Schema.Struct({
  theme_preference: Schema.String,
  theme_mode: Schema.String,
  theme_light: Schema.String,
  theme_dark: Schema.String,
  terminal_font: Schema.String
}).annotations({ identifier: "UserAppearanceSettings" })

const Preferences = Schema.Struct({
  task_notification_alert_dismissed: Schema.Boolean,
  thinking_display_mode: Schema.String,
  shell_tool_display_mode: Schema.String,
  code_diff_display_mode: Schema.String,
  agent_chat_send_shortcut: Schema.String
}).annotations({ identifier: "UserPreferenceSettings" })

const user = { user: Schema.String }

export const personalSettings = HttpApiGroup.make("personalSettings")
  .annotate(OpenApi.Description, "Personal settings of users.")
  .add(
    HttpApiEndpoint.get("getAppearance", "/api/v2/users/:user/appearance")
      .annotateContext(operation("Get appearance settings", "Returns the theme and font that a user has chosen."))
      .setPath(Path(user))
      .addSuccess(Appearance)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("updateAppearance", "/api/v2/users/:user/appearance")
      .annotateContext(operation("Update appearance settings", "Sets a user's theme and terminal font."))
      .setPath(Path(user))
      .setPayload(
        Body({ theme_preference: needed(text), theme_mode: text, theme_light: text, theme_dark: text, terminal_font: needed(text) })
      )
      .addSuccess(Appearance)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getPreferences", "/api/v2/users/:user/preferences")
      .annotateContext(operation("Get preferences", "Returns a user's preferences."))
      .setPath(Path(user))
      .addSuccess(Preferences)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("updatePreferences", "/api/v2/users/:user/preferences")
      .annotateContext(operation("Update preferences", "Changes the given preferences of a user and keeps the others."))
      .setPath(Path(user))
      .setPayload(
        Body({
          task_notification_alert_dismissed: Schema.optional(Schema.Boolean),
          thinking_display_mode: Schema.optional(Schema.String),
          shell_tool_display_mode: Schema.optional(Schema.String),
          code_diff_display_mode: Schema.optional(Schema.String),
          agent_chat_send_shortcut: Schema.optional(Schema.String)
        })
      )
      .addSuccess(Preferences)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
