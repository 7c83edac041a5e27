import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { UserId } from "../users/User.js"
import type { Appearance, Preferences } from "./UserSettings.js"

export class UserSettingsRepository extends Context.Tag("@atelier/core/UserSettingsRepository")<
  UserSettingsRepository,
  {
    /** Every text is empty for a user who has chosen nothing. */
    readonly appearance: (id: UserId) => Effect.Effect<Appearance>
    readonly updateAppearance: (id: UserId, appearance: Appearance, at: Timestamp) => Effect.Effect<void>
    /** Texts are empty where nothing was chosen. */
    readonly preferences: (id: UserId) => Effect.Effect<Preferences>
    readonly updatePreferences: (id: UserId, preferences: Preferences) => Effect.Effect<void>
  }
>() {}
