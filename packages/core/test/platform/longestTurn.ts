/** Milliseconds of processor time in the longest turn of the event loop while the work is done. */
const measure = async (work: () => Promise<unknown>): Promise<number> => {
  let longest = 0
  let before = process.cpuUsage()
  const look = (): void => {
    const { system, user } = process.cpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.cpuUsage()
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
export const longestTurn = async (work: () => Promise<unknown>, { enough = 40, tries = 20 } = {}): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let count = 0; count < tries && least > enough; count++) least = Math.min(least, await measure(work))
  return least
}
