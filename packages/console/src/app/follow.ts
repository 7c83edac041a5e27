/** Reads a stream for as long as it is wanted, whatever happens to its connection. */
import { asAtelierError, statusOf } from "./client.js"
import { mayPass } from "./queries.js"
import { signInAnew } from "./sessionEnd.js"

export type StreamState = "connecting" | "live" | "ended" | "failed"

export interface StreamStatus {
  readonly state: StreamState
  readonly error: Error | undefined
}

interface Followed<A> {
  readonly open: (signal: AbortSignal) => AsyncIterable<A> | Iterable<A>
  readonly onValue: (value: A) => void
  readonly onStatus: (status: StreamStatus) => void
  /** Ends it. */
  readonly signal: AbortSignal
}

export const connecting: StreamStatus = { state: "connecting", error: undefined }

const live: StreamStatus = { state: "live", error: undefined }
const firstPause = 1_000
const maximumPause = 30_000

/**
 * Reads a stream to its end. One that fails is opened again after a pause that grows, and after a new session where the session was over; one that is
 * refused stays `failed`.
 */
export const follow = async <A>({ onStatus, onValue, open, signal }: Followed<A>): Promise<void> => {
  onStatus(connecting)
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      for await (const value of open(signal)) {
        if (signal.aborted) return
        attempt = 0
        onStatus(live)
        onValue(value)
      }
      if (!signal.aborted) onStatus({ state: "ended", error: undefined })
      return
    } catch (error) {
      if (signal.aborted) return
      onStatus({ state: "failed", error: asAtelierError(error) })
      if (statusOf(error) === 401) {
        if (await signInAnew(signal)) continue
      } else if (!mayPass(error)) return
    }
    // The client makes a lost connection again, but not one that never was
    await new Promise((resolve) => setTimeout(resolve, Math.min(maximumPause, firstPause * 2 ** attempt)))
  }
}
