/** Users' settings of the interface. Everything here is pure. identity.md §8.7. */
import { type Validation, validationsOf } from "../../platform/Errors.js"

/** How the interface looks to a user; every text is empty until it is chosen. */
export interface Appearance {
  /** Free text: of older clients the theme itself, of newer ones also how it is chosen. */
  readonly theme_preference: string
  /** `sync` follows the system with one theme for the day and one for the night, `single` does not. */
  readonly theme_mode: string
  readonly theme_light: string
  readonly theme_dark: string
  readonly terminal_font: string
}

export const unchosenAppearance: Appearance = { theme_preference: "", theme_mode: "", theme_light: "", theme_dark: "", terminal_font: "" }

const themeModes = ["sync", "single"]
const themes = ["light", "light-protan-deuter", "light-tritan", "dark", "dark-protan-deuter", "dark-tritan"]
const terminalFonts = ["geist-mono", "ibm-plex-mono", "fira-code", "source-code-pro", "jetbrains-mono"]

/** Preferences of clients that know no modes and choose by the system: they end the mode that another client chose. */
const modelessPreferences = ["auto", "auto-protan-deuter", "auto-tritan"]

/** The longest `theme_preference`, in characters. */
const maximumPreferenceLength = 64

const oneOf = (words: ReadonlyArray<string>): string => `must be one of ${words.join(", ")}`

/** The rules that a choice breaks, one entry per field. Absent texts are empty. */
export const appearanceViolations = (choice: Appearance): ReadonlyArray<Validation> => {
  const slotViolation = (slot: string): string | undefined => {
    if (slot === "") return choice.theme_mode === "sync" ? 'is required with the mode "sync"' : undefined
    return themes.includes(slot) ? undefined : oneOf(themes)
  }
  const { terminal_font, theme_mode, theme_preference } = choice
  const violations = {
    theme_preference:
      theme_preference === ""
        ? "is required"
        : theme_preference.length > maximumPreferenceLength
          ? `must be at most ${maximumPreferenceLength} characters`
          : undefined,
    theme_mode: theme_mode === "" || themeModes.includes(theme_mode) ? undefined : oneOf(themeModes),
    theme_light: slotViolation(choice.theme_light),
    theme_dark: slotViolation(choice.theme_dark),
    terminal_font: terminal_font === "" ? "is required" : terminalFonts.includes(terminal_font) ? undefined : oneOf(terminalFonts)
  }
  return validationsOf(violations)
}

/** Returns an appearance after a user's choice. Clients without modes keep those chosen by other clients. */
export const appearanceAfter = (before: Appearance, choice: Appearance): Appearance => {
  const { terminal_font, theme_preference } = choice
  const kept = { ...before, terminal_font, theme_preference }
  if (choice.theme_mode === "") return modelessPreferences.includes(theme_preference) ? { ...kept, theme_mode: "" } : kept
  return {
    ...kept,
    theme_mode: choice.theme_mode,
    theme_light: choice.theme_light || before.theme_light,
    theme_dark: choice.theme_dark || before.theme_dark
  }
}

const displayModes = ["auto", "always_expanded", "always_collapsed"]

/** The words that each preference can be. */
const preferenceWords = {
  thinking_display_mode: ["auto", "preview", "always_expanded", "always_collapsed"],
  shell_tool_display_mode: displayModes,
  code_diff_display_mode: displayModes,
  agent_chat_send_shortcut: ["enter", "modifier_enter"]
} as const satisfies Record<string, ReadonlyArray<string>>

type WordPreference = keyof typeof preferenceWords

/** How the interface behaves to a user. */
export interface Preferences extends Readonly<Record<WordPreference, string>> {
  readonly task_notification_alert_dismissed: boolean
}

/** Of a user who has chosen nothing. */
export const defaultPreferences: Preferences = {
  task_notification_alert_dismissed: false,
  thinking_display_mode: "auto",
  shell_tool_display_mode: "always_collapsed",
  code_diff_display_mode: "",
  agent_chat_send_shortcut: "enter"
}

const wordPreferences: ReadonlyArray<WordPreference> = [
  "thinking_display_mode",
  "shell_tool_display_mode",
  "code_diff_display_mode",
  "agent_chat_send_shortcut"
]

const isWord = (name: WordPreference, value: string): boolean => preferenceWords[name].some((word) => word === value)

/** Preferences that a user changes; those that are absent or empty stay unchanged. */
export type ChosenPreferences = { readonly [Name in keyof Preferences]?: Preferences[Name] | undefined }

/** The rules that chosen preferences break, one entry per field. */
export const preferenceViolations = (chosen: ChosenPreferences): ReadonlyArray<Validation> =>
  wordPreferences.flatMap((field) => {
    const value = chosen[field]
    return value === undefined || value === "" || isWord(field, value) ? [] : [{ field, detail: oneOf(preferenceWords[field]) }]
  })

/** The effective preferences. A value that was not chosen, or is not known any more, is the default. */
export const preferencesOf = (stored: ChosenPreferences): Preferences => {
  const word = (name: WordPreference): string => {
    const value = stored[name]
    return value !== undefined && isWord(name, value) ? value : defaultPreferences[name]
  }
  return {
    task_notification_alert_dismissed: stored.task_notification_alert_dismissed ?? defaultPreferences.task_notification_alert_dismissed,
    thinking_display_mode: word("thinking_display_mode"),
    shell_tool_display_mode: word("shell_tool_display_mode"),
    code_diff_display_mode: word("code_diff_display_mode"),
    agent_chat_send_shortcut: word("agent_chat_send_shortcut")
  }
}
