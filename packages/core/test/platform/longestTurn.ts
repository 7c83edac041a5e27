import { readFileSync } from "node:fs"

/** Milliseconds of processor time that this thread has used, where the system tells it: the process's time counts other tests' threads. */
const threadTime = (): number => {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6
  } catch {
    const { system, user } = process.cpuUsage()
    return (user + system) / 1000
  }
}

/** Milliseconds that a processor of the target's speed takes for `aFixedPiece`. */
const usualPiece = 6

const aFixedPiece = (): void => void JSON.parse(JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ text: `a word ${index}` }))))

/** How many times slower this processor is than the target's; 1 for one that is as fast. */
const slowness = (): number => {
  let least = Number.POSITIVE_INFINITY
  for (let count = 0; count < 5 && least > usualPiece; count++) {
    const before = threadTime()
    aFixedPiece()
    least = Math.min(least, threadTime() - before)
  }
  return Math.max(1, least / usualPiece)
}

/**
 * Milliseconds that a turn may take in a test. The target is 50 ms on a processor of its own; one that other threads and virtual machines use
 * takes up to twice as long for the same work.
 */
export const maximumTurn = 100 * slowness()

/** Milliseconds of processor time in the longest turn of the event loop while the work is done, and no more than the turn lasted. */
const measure = async (work: () => Promise<unknown>): Promise<number> => {
  let longest = 0
  let before = { used: threadTime(), at: performance.now() }
  const look = (): void => {
    const now = { used: threadTime(), at: performance.now() }
    longest = Math.max(longest, Math.min(now.used - before.used, now.at - before.at))
    before = { used: threadTime(), at: performance.now() }
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  await work()
  await new Promise<void>((resolve) => void setImmediate(resolve))
  clearImmediate(next)
  return longest
}

/**
 * Milliseconds of processor time that the work keeps everything else waiting for at most: the least of up to `tries` measurements, so that
 * neither the compiler nor the collector of garbage counts, nor another process. Ends with the first below `enough`.
 */
export const longestTurn = async (work: () => Promise<unknown>, { enough = maximumTurn, tries = 20 } = {}): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let count = 0; count < tries && least >= enough; count++) least = Math.min(least, await measure(work))
  return least
}
