/** The end of the session: the user signs in again, and comes back to where they were. */
import { config } from "./config.js"
import { hasUnsaved } from "./unsaved.js"

let isLeaving = false
let isOver = false
const listeners = new Set<() => void>()

const set = (next: boolean): void => {
  if (next === isOver) return
  isOver = next
  for (const listener of listeners) listener()
}

/** The session is over, and the page stays, because of what was typed there. */
export const isSessionOver = (): boolean => isOver

export const onSessionOver = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The server knows the user again: the session was begun anew in another window. */
export const noteSession = (): void => set(false)

/** Settles when the session, which is over, has been begun anew; never, if the page is left. */
const sessionAnew = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = onSessionOver(() => {
      if (isOver) return
      stop()
      resolve()
    })
    signal.addEventListener("abort", () => {
      stop()
      resolve()
    })
    if (!isOver) stop()
  })

/** Where the user signs in, and from where they come back to this page. */
export const signInAddress = (): URL | undefined => {
  if (config.login === null) return undefined
  const address = new URL(config.login, location.href)
  address.searchParams.set("redirect", `${location.pathname}${location.search}${location.hash}`)
  return address
}

/** Leaves the page for the one where the user signs in. */
export const leaveToSignIn = (): void => {
  const address = signInAddress()
  if (isLeaving || address === undefined) return
  isLeaving = true
  location.assign(address)
}

/** Has a visitor without a session sign in, and come back to where they were. A page with a text that was not sent stays, and says so. */
export const signIn = (): void => {
  if (!isLeaving && config.login !== null && hasUnsaved()) set(true)
  else leaveToSignIn()
}

/**
 * Has the user sign in, and settles when the session has been begun anew. Tells whether it has: where the host signs users in, it does so without a word,
 * and the caller tries again after its usual pause.
 */
export const signInAnew = async (signal: AbortSignal): Promise<boolean> => {
  signIn()
  if (config.login === null) return false
  await sessionAnew(signal)
  return true
}

// The page as it was left, which the back button brings
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) isLeaving = false
})
