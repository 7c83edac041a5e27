import { config } from "./config.js"

/** A store that does not answer does not keep the user signed in, in milliseconds. */
const patience = 2_000

/** Ends the session. What this browser keeps of the user's work goes with it: others may use the browser next. */
export const signOut = async (user: string): Promise<void> => {
  if (config.logout === null) return
  const forgotten = import("../screens/templates/editor/drafts.js").then(({ forgetDrafts }) => forgetDrafts(user)).catch(() => undefined)
  await Promise.race([forgotten, new Promise((resolve) => setTimeout(resolve, patience))])
  location.assign(config.logout)
}
