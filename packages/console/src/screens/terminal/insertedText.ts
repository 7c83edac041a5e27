/**
 * Text that a browser inserts without a key: from a picker of emoji, from dictation, from a list of accents. The terminal library leaves it out in the mode
 * for screen readers.
 */

/** Keys that are held for other keys, and insert nothing by themselves. */
const modifiers: ReadonlySet<string> = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Fn", "Meta", "Shift"])

/** Calls `onText` with what is inserted into the field without a key. What keys and compositions insert is the library's. */
export const onInsertedText = (field: HTMLTextAreaElement, onText: (text: string) => void): void => {
  let isKey = false
  field.addEventListener(
    "keydown",
    ({ key }) => {
      isKey = !modifiers.has(key)
    },
    true
  )
  field.addEventListener("keyup", () => {
    isKey = false
  })
  field.addEventListener("input", (event) => {
    if (event instanceof InputEvent && event.inputType === "insertText" && !isKey && event.data !== null) onText(event.data)
  })
}
