/** Keys that work on a whole screen. */
import { useEffect, useEffectEvent } from "react"
import { store, stored } from "./stored.js"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const key = "atelier-keys"

/** Whether keys of a single letter work: they get in the way of who speaks to the browser. */
export const areLettersOn = (): boolean => stored(key) !== "off"

export const chooseLetters = (isOn: boolean): void => void store(key, isOn ? undefined : "off")

/** Whether a dialog or a menu has the keys. */
const isCovered = (): boolean => document.querySelector('[role="dialog"],[role="alertdialog"],[role="menu"]') !== null

/** What a key is called: `g w` is two keys, one after the other within a second. `mod+k` is ⌘K, or Ctrl+K. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>

const nameOf = (event: KeyboardEvent): string => {
  const mod = event.metaKey || event.ctrlKey ? "mod+" : ""
  return `${mod}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`
}

const sequenceTime = 1_000

/** Listens to keys while the component is shown. Keys with `mod` also work while the user types. */
export const useKeys = (keys: KeyMap): void => {
  const handle = useEffectEvent((event: KeyboardEvent, before: string | undefined): boolean => {
    const name = nameOf(event)
    const action = (before === undefined ? undefined : keys[`${before} ${name}`]) ?? keys[name]
    if (action === undefined || event.defaultPrevented || event.altKey) return false
    if (!name.startsWith("mod+") && (isTyping(event.target) || isCovered())) return false
    if (name.length === 1 && !areLettersOn()) return false
    event.preventDefault()
    action(event)
    return true
  })
  useEffect(() => {
    let before: { readonly key: string; readonly at: number } | undefined
    const listen = (event: KeyboardEvent): void => {
      const last = before !== undefined && event.timeStamp - before.at < sequenceTime ? before.key : undefined
      before = handle(event, last) || isTyping(event.target) ? undefined : { key: nameOf(event), at: event.timeStamp }
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [])
}

/** The name of the key that goes with others, as the platform writes it. */
export const modKey = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl"
