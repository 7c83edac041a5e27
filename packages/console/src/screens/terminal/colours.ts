/** The colours of terminals, in the console's themes. */
import type { ITheme } from "@xterm/xterm"
import { useSyncExternalStore } from "react"

const light: ITheme = {
  background: "#f4f5f8",
  foreground: "#15181e",
  cursor: "#5046d8",
  cursorAccent: "#f4f5f8",
  selectionBackground: "#cfcbf7",
  selectionInactiveBackground: "#e2e5ea",
  black: "#15181e",
  red: "#b42825",
  green: "#17703f",
  yellow: "#835000",
  blue: "#1a5fa8",
  magenta: "#8a2f9c",
  cyan: "#0b6b75",
  white: "#666e7c",
  brightBlack: "#4d5563",
  brightRed: "#c8322e",
  brightGreen: "#1b7f49",
  brightYellow: "#8f5b00",
  brightBlue: "#2a6fbd",
  brightMagenta: "#9c3fae",
  brightCyan: "#147883",
  brightWhite: "#4d5563"
}

const dark: ITheme = {
  background: "#0c0e11",
  foreground: "#eceef2",
  cursor: "#a9a5ff",
  cursorAccent: "#0c0e11",
  selectionBackground: "#3b3874",
  selectionInactiveBackground: "#2a2f38",
  black: "#22262d",
  red: "#ff8b86",
  green: "#58c98f",
  yellow: "#e8b44f",
  blue: "#79b6fb",
  magenta: "#d99bf0",
  cyan: "#5fd0da",
  white: "#c9ced8",
  brightBlack: "#8b93a1",
  brightRed: "#ffa5a1",
  brightGreen: "#7fdcab",
  brightYellow: "#f2cb7c",
  brightBlue: "#9dcafc",
  brightMagenta: "#e6b9f6",
  brightCyan: "#8be0e7",
  brightWhite: "#ffffff"
}

const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark"

const subscribe = (listener: () => void): (() => void) => {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] })
  return () => observer.disconnect()
}

/** The colours that go with the theme of the page. */
export const useColours = (): ITheme => (useSyncExternalStore(subscribe, isDark) ? dark : light)

/** The colours of what a search has found. */
export const matchColours = (): { readonly matchBackground: string; readonly activeMatchBackground: string } =>
  isDark()
    ? { matchBackground: "#4a3a12", activeMatchBackground: "#7a5b14" }
    : { matchBackground: "#fcebc2", activeMatchBackground: "#f5cd6b" }
