// Measures requests in turns, so that whatever else the machine does meets all of them alike.
import { load } from "./load.mjs"

export const median = (values) => {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The least and the greatest of the ratios of several turns. */
export const spreadOf = (ratios) => ({ least: Math.min(...ratios), greatest: Math.max(...ratios) })

/** Of latencies in milliseconds. */
export const percentile = (latencies, share) => {
  const sorted = latencies.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/**
 * Loads each of `subjects` (`{ port, request, … }`, by name) for `seconds`, in turns of half a second after a warm-up. Answers for each the
 * median of its turns in requests per second, the latencies of all turns, and `ratioTo(name)`: the median of its turns' ratios to those
 * of another subject.
 */
export const compare = async (subjects, { connections = 20, seconds, warmup = 1 }) => {
  const names = Object.keys(subjects)
  const turns = new Map(names.map((name) => [name, []]))
  for (const name of names) await load({ connections, ...subjects[name], seconds: 0, warmup })
  for (let turn = 0; turn < Math.max(2, seconds * 2); turn++) {
    for (const name of names) turns.get(name).push(await load({ connections, ...subjects[name], seconds: 0.5, warmup: 0.05 }))
  }
  return Object.fromEntries(
    names.map((name) => {
      const mine = turns.get(name)
      return [
        name,
        {
          perSecond: median(mine.map(({ perSecond }) => perSecond)),
          p99: percentile(
            mine.flatMap(({ latencies }) => latencies),
            0.99
          ),
          ratioTo: (other) => median(mine.map(({ perSecond }, turn) => perSecond / turns.get(other)[turn].perSecond))
        }
      ]
    })
  )
}
