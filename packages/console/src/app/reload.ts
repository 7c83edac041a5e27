/** Loads the page again by itself. */
import { windowStorage } from "./stored.js"
import { hasUnsaved } from "./unsaved.js"

const reloadedAt = "atelier-reloaded"
const recently = 10_000

/** Loads the page again, unless that was done just before, or a text is unsaved: a new version of the server has other files. */
export const reloadOnce = (): void => {
  if (hasUnsaved() || Date.now() - Number(windowStorage.read(reloadedAt) ?? 0) < recently) return
  // A window that cannot note it would reload without end
  if (windowStorage.write(reloadedAt, String(Date.now()))) location.reload()
}
