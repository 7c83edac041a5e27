/** What the user has typed and not sent yet: a page that holds such a text is not left by itself. */

/** The forms that were typed into, each with a number that grows. */
const edited = new Map<Element, number>()

addEventListener(
  "input",
  ({ target }) => {
    const form = target instanceof Element ? target.closest("form,[contenteditable=true]") : null
    if (form !== null) edited.set(form, (edited.get(form) ?? 0) + 1)
  },
  true
)

/** Whether the page shows a form or an editor that was typed into since it was sent. */
export const hasUnsaved = (): boolean => {
  for (const form of edited.keys()) if (!form.isConnected) edited.delete(form)
  return edited.size > 0
}

/** Begins to send a form. The function that it returns notes that the form was sent, but not the input since then. */
export const sending = (form: Element): (() => void) => {
  const sent = edited.get(form)
  return () => {
    if (edited.get(form) === sent) edited.delete(form)
  }
}
