/** The colours that the user chose. `public/theme.js` applies them before the first paint. */
import { useSyncExternalStore } from "react"
import { config } from "./config.js"
import { store, stored } from "./stored.js"

export type Theme = "light" | "dark" | "system"

const key = "atelier-theme"
const prefersDark = matchMedia("(prefers-color-scheme: dark)")
const listeners = new Set<() => void>()

const chosen = (): Theme => {
  const value = stored(key)
  return value === "light" || value === "dark" ? value : "system"
}

/** The lightness of a part of a colour, from 0 to 1, as it counts for contrast (WCAG 2.2, relative luminance). */
const linear = (byte: number): number => {
  const part = byte / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

/** Black or white, whichever can be read better on a host's colour, such as `#0b6e4f`. */
const readableOn = (colour: string): string => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => linear(Number.parseInt(colour.slice(at, at + 2), 16)))
  // Where black and white have the same contrast
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff"
}

const apply = (): void => {
  const isDark = chosen() === "dark" || (chosen() === "system" && prefersDark.matches)
  const root = document.documentElement
  root.dataset["theme"] = isDark ? "dark" : "light"
  const { accent } = config.brand
  if (accent === null) return
  const own = isDark ? accent.dark : accent.light
  for (const name of ["--accent", "--accent-hover", "--accent-text"]) root.style.setProperty(name, own)
  root.style.setProperty("--on-accent", readableOn(own))
  root.style.setProperty("--accent-soft", `color-mix(in srgb, ${own} 14%, transparent)`)
}

export const chooseTheme = (theme: Theme): void => {
  store(key, theme === "system" ? undefined : theme)
  apply()
  for (const listener of listeners) listener()
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosen)

/** Applies the theme, and follows the system and the other tabs. */
export const followTheme = (): void => {
  apply()
  const changed = (): void => {
    apply()
    for (const listener of listeners) listener()
  }
  prefersDark.addEventListener("change", changed)
  addEventListener("storage", (event) => {
    if (event.key === key) changed()
  })
}
