import { setTimeout as pause } from "node:timers/promises"
import { isPassing } from "../Failure.js"

/** Milliseconds that the service may be away. */
const patience = 120_000

/** Milliseconds from one call to the next at first, and to which they grow. */
const interval = 1_000
const slowest = 15_000

/** Makes a call that only reads again while the service does not answer, more slowly each time: it may be restarting. */
export const patiently = async <A>(ask: () => Promise<A>, signal: AbortSignal): Promise<A> => {
  const until = performance.now() + patience
  for (let wait = interval; ; wait = Math.min(2 * wait, slowest)) {
    try {
      return await ask()
    } catch (error) {
      if (!isPassing(error) || performance.now() + wait > until) throw error
    }
    await pause(wait, undefined, { signal })
  }
}
