/**
 * Lets in requests for another protocol, one in each turn of the event loop. After the start of a server all its agents ask within a second. Node hands over all requests that
 * have arrived in one turn: if each began there, the requests of users would wait until all agents are authenticated.
 */

/** Milliseconds that a request may have to wait by what is expected, and that it waits. Agents give up an attempt after 15 seconds. */
const longestExpected = 8_000
const longestWait = 12_000

/** Milliseconds between two requests that are let in while others wait: as assumed at first, and as much as counts. */
const firstPace = 2.5
const longestPace = 50

/** The share of the newest pause in what is expected. */
const newestShare = 0.02

/**
 * Turns in a row that are left to requests that arrive. Node 20 accepts one connection in each turn. If a request were let in each time, the system's queue of connections would
 * overflow, with connections of users in it too, and those that were left out would be lost for seconds.
 */
const turnsForArrivals = 16

/** Seconds after which a refused request may come again, at most. */
const longestPause = 60

/** What a request waits for. */
export interface Entering {
  readonly begin: () => void
  /** Called in place of `begin` if the request would wait too long, or has. A refused one is to come again after so many seconds. */
  readonly refuse: (retryAfter: number) => void
}

interface Waiting extends Entering {
  readonly since: number
}

/** Makes what lets requests in. Those of one kind wait for each other; the kinds take turns, so that a user's terminal does not wait for all agents. */
export const make = (): ((kind: string, entering: Entering) => void) => {
  const waiting = new Map<string, Array<Waiting>>()
  let isScheduled = false
  /** Turns in which a request still counts as the one before the next. */
  let lately = 0
  /** Whether a request has arrived right behind another one, since the last turn. */
  let follows = false
  let turnsLeft = turnsForArrivals
  let pace = firstPace
  /** When the last request was let in while others waited, and no turn was left to others since. */
  let lastEntry: number | undefined
  /** Until when requests that were refused are to come again: each at another time, or none would come before all do. */
  let promisedUntil = 0

  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(letOneIn)
  }

  const refuse = ({ refuse }: Entering, ahead: number, now: number): void => {
    promisedUntil = Math.min(Math.max(promisedUntil, now + ahead * pace) + pace, now + longestPause * 1000)
    refuse(Math.max(1, Math.round((promisedUntil - now) / 1000)))
  }

  const letOneIn = (): void => {
    isScheduled = false
    if (lately > 0) lately -= 1
    if (lately > 0) schedule()
    const [kindInTurn] = waiting
    if (kindInTurn === undefined) return
    if (follows && turnsLeft > 0) {
      follows = false
      turnsLeft -= 1
      lastEntry = undefined
      return schedule()
    }
    turnsLeft = turnsForArrivals
    const [kind, queue] = kindInTurn
    const entering = queue.shift()
    // Behind the other kinds
    waiting.delete(kind)
    if (queue.length > 0) waiting.set(kind, queue)
    const now = performance.now()
    if (lastEntry !== undefined) pace += (Math.min(longestPace, now - lastEntry) - pace) * newestShare
    lastEntry = waiting.size > 0 ? now : undefined
    if (waiting.size > 0) schedule()
    if (entering === undefined) return
    if (now - entering.since > longestWait) refuse(entering, 0, now)
    else entering.begin()
  }

  return (kind, entering) => {
    const now = performance.now()
    const queue = waiting.get(kind) ?? []
    let waitingOfAll = 0
    for (const { length } of waiting.values()) waitingOfAll += length
    follows = lately > 0
    lately = 2
    schedule()
    const ahead = Math.min(waitingOfAll, waiting.size * queue.length)
    if (ahead * pace > longestExpected) return refuse(entering, ahead, now)
    queue.push({ begin: entering.begin, refuse: entering.refuse, since: now })
    waiting.set(kind, queue)
  }
}
