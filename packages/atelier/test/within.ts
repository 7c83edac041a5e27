import { setTimeout as sleep } from "node:timers/promises"

/** Milliseconds that a busy machine may take for a step that takes seconds. */
export const patience = 150_000

interface Options {
  /** Milliseconds. */
  readonly patience?: number
  /** What there is to know of what did not come. */
  readonly more?: () => string | undefined
}

/** Waits for a promise. Fails with what was waited for if it takes too long: a test that hangs has to say where. */
export const within = async <A>(what: string, promise: Promise<A>, { more, patience: waiting = patience }: Options = {}): Promise<A> => {
  const over = new AbortController()
  const late = sleep(waiting, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${what}: not within ${waiting / 1000} seconds\n${more?.() ?? ""}`.trimEnd())
  })
  // Rejects also when it is not needed any more
  late.catch(() => {})
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    over.abort()
  }
}
