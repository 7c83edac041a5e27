import { PersonalSettings } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/personalSettings.js"
import * as Handlers from "../Handlers.js"

export const personalSettings = Handlers.group(contract.personalSettings, (handlers) =>
  Effect.map(PersonalSettings, (settings) =>
    handlers
      .handle("getAppearance", ({ path }) => settings.appearance(path.user))
      .handle("updateAppearance", ({ path, payload }) => settings.changeAppearance(path.user, payload))
      .handle("getPreferences", ({ path }) => settings.preferences(path.user))
      .handle("updatePreferences", ({ path, payload }) => settings.changePreferences(path.user, payload))
  )
)
