/** The end of streams to agents that carry nothing any more. */
import type { AgentStream, DirectStream } from "@atelier/core/network"
import { Duration, Effect } from "effect"

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

/** The stream, which calls back once it has carried nothing for so long. The watch ends with the scope. */
export const watched = (stream: AgentStream, idle: Duration.DurationInput, onIdle: () => void) =>
  Effect.gen(function* () {
    const limit = Duration.toMillis(idle)
    const clock = yield* Effect.clock
    let last = clock.unsafeCurrentTimeMillis()
    const noting = <A, E>(step: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.map(step, (value) => {
        last = clock.unsafeCurrentTimeMillis()
        return value
      })
    yield* Effect.sync(() => clock.unsafeCurrentTimeMillis() - last >= limit).pipe(
      Effect.tap((isIdle) => Effect.sync(() => void (isIdle && onIdle()))),
      Effect.delay(Duration.millis(limit / 4)),
      Effect.repeat({ until: (isIdle) => isIdle }),
      Effect.forkScoped
    )
    const note = (): void => {
      last = clock.unsafeCurrentTimeMillis()
    }
    const direct = stream.direct === undefined ? {} : { direct: noted(stream.direct, note) }
    return { read: noting(stream.read), write: (bytes: Uint8Array) => noting(stream.write(bytes)), finish: stream.finish, ...direct }
  })
