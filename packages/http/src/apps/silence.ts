/** The end of streams to agents that carry nothing any more. */
import type { AgentStream, DirectStream } from "@atelier/core/network"
import { Duration, Effect, Scope } from "effect"
import { Heartbeat } from "../server/operate/Heartbeat.js"

/** The stream, which notes each time that it carries something. */
const noted = ({ finish, put, take }: DirectStream, note: () => void): DirectStream => ({
  take: (ready) => {
    const bytes = take(ready)
    if (bytes instanceof Uint8Array) note()
    return bytes
  },
  put: (bytes, done, sent) =>
    put(
      bytes,
      (error) => {
        note()
        done(error)
      },
      sent
    ),
  finish
})

/** The stream, which calls back once it has carried nothing for so long. The watch ends with the scope. No fiber of its own waits: many streams are open for long. */
export const watched = (stream: AgentStream, idle: Duration.DurationInput, onIdle: () => void) =>
  Effect.gen(function* () {
    const alarms = yield* Heartbeat
    const limit = Duration.toMillis(idle)
    const clock = yield* Effect.clock
    let last = clock.unsafeCurrentTimeMillis()
    const noting = <A, E>(step: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.map(step, (value) => {
        last = clock.unsafeCurrentTimeMillis()
        return value
      })
    if (Number.isFinite(limit)) {
      const alarm = alarms.repeat(limit / 4, () => {
        if (clock.unsafeCurrentTimeMillis() - last < limit) return
        alarm.cancel()
        onIdle()
      })
      yield* Scope.addFinalizer(
        yield* Effect.scope,
        Effect.sync(() => alarm.cancel())
      )
    }
    const note = (): void => {
      last = clock.unsafeCurrentTimeMillis()
    }
    const direct = stream.direct === undefined ? {} : { direct: noted(stream.direct, note) }
    return { read: noting(stream.read), write: (bytes: Uint8Array) => noting(stream.write(bytes)), finish: stream.finish, ...direct }
  })
