import { Deferred, type Duration, Effect, Exit, FiberId } from "effect"

interface Ticket {
  readonly turn: Deferred.Deferred<void>
  state: "waiting" | "admitted" | "left"
}

/**
 * Returns a function that lets `places` effects run at a time, in the order in which they come. Work that all begin at once ends late for all of them;
 * so the first ones end early, and other processes can go on with what they are given. An effect that has not ended after `atMost` goes on, and
 * leaves its place to the next one: none waits long for a slow one.
 */
export const admission = (
  places: number,
  atMost: Duration.DurationInput
): (<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) => {
  const waiting = new Set<Ticket>()
  let admitted = 0

  const admit = () => {
    for (const ticket of waiting) {
      if (admitted >= places) return
      waiting.delete(ticket)
      ticket.state = "admitted"
      admitted += 1
      Deferred.unsafeDone(ticket.turn, Exit.void)
    }
  }

  const enter = Effect.sync((): Ticket => {
    const ticket: Ticket = { turn: Deferred.unsafeMake(FiberId.none), state: "waiting" }
    waiting.add(ticket)
    admit()
    return ticket
  })

  const leave = (ticket: Ticket) =>
    Effect.sync(() => {
      if (ticket.state === "admitted") admitted -= 1
      waiting.delete(ticket)
      ticket.state = "left"
      admit()
    })

  return (effect) =>
    Effect.acquireUseRelease(
      enter,
      (ticket) =>
        Deferred.await(ticket.turn).pipe(Effect.zipRight(Effect.fork(Effect.delay(leave(ticket), atMost))), Effect.zipRight(effect)),
      leave
    )
}
