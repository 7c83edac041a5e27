import type { KeyboardEvent } from "react"

/** Sends the form of a text field by ⌘Enter or Ctrl+Enter: Enter alone begins another line. */
export const submitByKeys = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return
  event.preventDefault()
  const { form } = event.currentTarget
  const button = form?.querySelector<HTMLButtonElement>('button[type="submit"]')
  if (button?.disabled === false) form?.requestSubmit(button)
}
