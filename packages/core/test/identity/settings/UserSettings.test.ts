import { type Appearance, appearanceAfter, appearanceViolations, preferencesOf, unchosenAppearance } from "@atelier/core/identity"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const choice = (fields: Partial<Appearance>): Appearance => ({
  ...unchosenAppearance,
  theme_preference: "dark",
  terminal_font: "fira-code",
  ...fields
})

const theme = fc.constantFrom("", "light", "light-tritan", "dark", "dark-tritan")
const appearance = fc.record<Appearance>({
  theme_preference: fc.constantFrom("dark", "auto", "auto-tritan", "light"),
  theme_mode: fc.constantFrom("", "sync", "single"),
  theme_light: theme,
  theme_dark: theme,
  terminal_font: fc.constantFrom("fira-code", "geist-mono")
})

describe("an appearance", () => {
  it("keeps the mode and themes that a client sends", () => {
    const before = choice({ theme_mode: "sync", theme_light: "light", theme_dark: "dark-tritan" })
    expect(appearanceAfter(before, choice({ theme_preference: "light", theme_dark: "dark" }))).toStrictEqual({
      ...before,
      theme_preference: "light"
    })
    expect(appearanceAfter(before, choice({ theme_preference: "auto" }))).toStrictEqual({
      ...before,
      theme_preference: "auto",
      theme_mode: ""
    })
    expect(appearanceAfter(before, choice({ theme_mode: "single", theme_dark: "dark" }))).toStrictEqual({
      ...before,
      theme_mode: "single",
      theme_dark: "dark"
    })
  })

  it("chosen twice is as chosen once, and no theme that was chosen is lost", () => {
    fc.assert(
      fc.property(appearance, appearance, (before, chosen) => {
        const after = appearanceAfter(before, chosen)
        expect(appearanceAfter(after, chosen)).toStrictEqual(after)
        for (const slot of ["theme_light", "theme_dark"] as const)
          expect(after[slot] === "").toBe(before[slot] === "" && (chosen.theme_mode === "" || chosen[slot] === ""))
      })
    )
  })

  it("names every field that breaks a rule", () => {
    const fields = (fields: Partial<Appearance>) => appearanceViolations(choice(fields)).map(({ field }) => field)
    expect(fields({})).toStrictEqual([])
    expect(fields({ theme_mode: "sync" })).toStrictEqual(["theme_light", "theme_dark"])
    expect(fields({ theme_preference: "", terminal_font: "" })).toStrictEqual(["theme_preference", "terminal_font"])
    expect(fields({ theme_mode: "other", theme_light: "neon", terminal_font: "comic-sans" })).toStrictEqual([
      "theme_mode",
      "theme_light",
      "terminal_font"
    ])
    expect(fields({ theme_preference: "x".repeat(65) })).toStrictEqual(["theme_preference"])
  })
})

describe("stored preferences", () => {
  it("that are no longer known are the defaults", () => {
    expect(preferencesOf({ thinking_display_mode: "once-known", agent_chat_send_shortcut: "modifier_enter" })).toStrictEqual({
      task_notification_alert_dismissed: false,
      thinking_display_mode: "auto",
      shell_tool_display_mode: "always_collapsed",
      code_diff_display_mode: "",
      agent_chat_send_shortcut: "modifier_enter"
    })
  })
})
