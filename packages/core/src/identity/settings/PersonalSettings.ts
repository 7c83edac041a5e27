import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { refuseViolations, type NotFound, type Invalid } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { lockedAccount } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { Users } from "../users/Users.js"
import {
  type Appearance,
  appearanceAfter,
  appearanceViolations,
  type ChosenPreferences,
  preferenceViolations,
  type Preferences,
  preferencesOf
} from "./UserSettings.js"
import { UserSettingsRepository } from "./UserSettingsRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** The methods of {@link PersonalSettings}. */
export interface PersonalSettingsService {
  /** How the interface looks to a user. Fails with `NotFound` if the actor may not read the user's personal data. identity.md §8.7. */
  readonly appearance: (reference: string) => Effect.Effect<Appearance, NotFound, CurrentActor>

  /** Changes how the interface looks. Fails with `NotFound` if the actor may not change the user's personal data. identity.md §8.7. */
  readonly changeAppearance: (
    reference: string,
    choice: Appearance
  ) => Effect.Effect<Appearance, Invalid | NotFound, CurrentActor | EventBus | Transactor>

  /** How the interface behaves for a user. Fails with `NotFound` if the actor may not read the user's personal data. identity.md §8.7. */
  readonly preferences: (reference: string) => Effect.Effect<Preferences, NotFound, CurrentActor>

  /** Changes the given preferences. Fails with `NotFound` if the actor may not change the user's personal data. identity.md §8.7. */
  readonly changePreferences: (
    reference: string,
    chosen: ChosenPreferences
  ) => Effect.Effect<Preferences, Invalid | NotFound, CurrentActor | EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository
  const settings = yield* UserSettingsRepository

  const user = (reference: string, action: "read_personal" | "update_personal") =>
    Effect.tap(users.get(reference), (found) => Access.authorizeOrHide(action, AccessObjects.user(found)))

  return {
    appearance: Traced.fn("PersonalSettings.appearance")(function* (reference: string) {
      const { id } = yield* user(reference, "read_personal")
      return yield* settings.appearance(id)
    }),

    changeAppearance: Traced.fn("PersonalSettings.changeAppearance")(function* (reference: string, choice: Appearance) {
      const { id } = yield* user(reference, "update_personal")
      yield* refuseViolations(appearanceViolations(choice))
      return yield* transaction(
        Effect.gen(function* () {
          yield* lockedAccount(accounts, id)
          const after = appearanceAfter(yield* settings.appearance(id), choice)
          yield* settings.updateAppearance(id, after, yield* Timestamp.now)
          return after
        })
      )
    }),

    preferences: Traced.fn("PersonalSettings.preferences")(function* (reference: string) {
      const { id } = yield* user(reference, "read_personal")
      return preferencesOf(yield* settings.preferences(id))
    }),

    changePreferences: Traced.fn("PersonalSettings.changePreferences")(function* (reference: string, chosen: ChosenPreferences) {
      const { id } = yield* user(reference, "update_personal")
      yield* refuseViolations(preferenceViolations(chosen))
      return yield* transaction(
        Effect.gen(function* () {
          yield* lockedAccount(accounts, id)
          const before = yield* settings.preferences(id)
          const after: Preferences = {
            task_notification_alert_dismissed: chosen.task_notification_alert_dismissed ?? before.task_notification_alert_dismissed,
            thinking_display_mode: chosen.thinking_display_mode || before.thinking_display_mode,
            shell_tool_display_mode: chosen.shell_tool_display_mode || before.shell_tool_display_mode,
            code_diff_display_mode: chosen.code_diff_display_mode || before.code_diff_display_mode,
            agent_chat_send_shortcut: chosen.agent_chat_send_shortcut || before.agent_chat_send_shortcut
          }
          yield* settings.updatePreferences(id, after)
          return preferencesOf(after)
        })
      )
    })
  }
})

/** Personal settings of users. */
export class PersonalSettings extends Context.Tag("@atelier/core/PersonalSettings")<PersonalSettings, PersonalSettingsService>() {
  static readonly layer = standingOn(service(PersonalSettings, make), Users.layer)
}
