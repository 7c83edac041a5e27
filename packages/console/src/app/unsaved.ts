/** What the user has typed and not sent yet: a page that holds such a text is not left by itself. */

const edited = new Set<Element>()

addEventListener(
  "input",
  ({ target }) => {
    const form = target instanceof Element ? target.closest("form,[contenteditable=true]") : null
    if (form !== null) edited.add(form)
  },
  true
)

/** Whether the page shows a form or an editor that was typed into since it was sent. */
export const hasUnsaved = (): boolean => {
  for (const form of edited) if (!form.isConnected) edited.delete(form)
  return edited.size > 0
}

/** A form was sent. */
export const noteSent = (form: Element): void => {
  edited.delete(form)
}
