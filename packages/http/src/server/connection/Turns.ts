/**
 * Requests that are answered in turn. After the start of a server all its agents come back within a second. Each takes the processor's time and statements until it is
 * connected. If all did so at once, none would be connected before all are, most would have given up by then, and the requests of users would wait as long.
 */
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"

export interface Limits {
  /** Requests that have their turn at a time. */
  readonly places: number
  /** Milliseconds that a request waits for its turn before it is refused. */
  readonly waitsFor: number
  /** Milliseconds after which a request that takes long no longer keeps others out. */
  readonly keptFor: number
}

/** More places would not have agents connect sooner: these keep a processor busy. Agents give up an attempt after 15 seconds. */
const usual: Limits = { places: 16, waitsFor: 10_000, keptFor: 5_000 }

interface Turn {
  readonly message: IncomingMessage
  readonly socket: Duplex
  readonly begin: () => void
  readonly timer: NodeJS.Timeout
}

const leaves = new WeakMap<IncomingMessage, () => void>()

/** Gives the place of a request to the next one, if it has one. */
export const leave = (message: IncomingMessage): void => leaves.get(message)?.()

/** Whether a request is that of an agent which connects. */
export const isAgents = ({ url = "" }: IncomingMessage): boolean => /\/api\/v2\/workspaceagents\/me\/rpc(\?|$)/.test(url)

const body = JSON.stringify({ message: "Too many agents connect at the same time." })

const refusal =
  "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: application/json\r\n" +
  `Content-Length: ${body.length}\r\n\r\n${body}`

export interface Turns {
  /** Runs `begin` when it is the request's turn, which ends with `leave` or the connection. A request without a turn in time is refused. */
  readonly enter: (message: IncomingMessage, socket: Duplex, begin: () => void) => void
  /** Has the turns of all begin: the service ends, and refuses them. */
  readonly end: () => void
}

export const make = ({ keptFor, places, waitsFor }: Limits = usual): Turns => {
  const waiting = new Set<Turn>()
  let free = places
  let isScheduled = false

  const run = ({ begin, message, socket }: Turn): void => {
    let isOver = false
    const over = (): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      socket.off("close", over)
      free += 1
      schedule()
    }
    const timer = setTimeout(over, keptFor)
    timer.unref()
    leaves.set(message, over)
    socket.once("close", over)
    free -= 1
    begin()
  }

  const take = (): Turn | undefined => {
    for (const turn of waiting) {
      waiting.delete(turn)
      clearTimeout(turn.timer)
      // The client of another one has gone
      if (!turn.socket.destroyed) return turn
    }
    return undefined
  }

  const next = (): void => {
    isScheduled = false
    const turn = free > 0 ? take() : undefined
    if (turn === undefined) return
    run(turn)
    schedule()
  }

  /** One turn begins in each turn of the event loop: without waits for the store, all would follow each other before the loop takes other requests. */
  const schedule = (): void => {
    if (isScheduled || free === 0 || waiting.size === 0) return
    isScheduled = true
    setImmediate(next)
  }

  return {
    enter: (message, socket, begin) => {
      const refuse = (): void => {
        waiting.delete(turn)
        socket.end(refusal, () => socket.destroy())
      }
      const turn = { message, socket, begin, timer: setTimeout(refuse, waitsFor) }
      turn.timer.unref()
      waiting.add(turn)
      schedule()
    },
    end: () => {
      free = Number.POSITIVE_INFINITY
      for (let turn = take(); turn !== undefined; turn = take()) run(turn)
    }
  }
}
