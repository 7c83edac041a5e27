import { Background, Locks, StoreUnavailable } from "@atelier/core/platform"
import { unavailabilityOf } from "@atelier/storage"
import { Deferred, Effect, Layer, Option, Redacted } from "effect"
import pg from "pg"
import { closingClient, destroy } from "./Closing.js"
import { type Heartbeat, inRealTime, usualHeartbeat } from "./Heartbeat.js"

/** Milliseconds that the server may take to answer. */
const timeout = 10_000

/** Dies of what the driver rejects with: with `StoreUnavailable` if the server cannot answer at present. */
const orDefect = <A>(answer: () => Promise<A>): Effect.Effect<A> =>
  Effect.tryPromise({ try: answer, catch: (error) => unavailabilityOf(error) ?? error }).pipe(Effect.orDie)

/** The connection whose session holds the locks of this process. */
interface Session {
  readonly client: pg.Client
  /** Dies when the connection, and with it every lock, is lost. */
  readonly lost: Deferred.Deferred<never>
  /** Gives the connection up. */
  readonly lose: () => void
  isLost: boolean
}

/**
 * Advisory locks of one session: a process that dies loses its connection, and with it its locks. The session has a connection of its
 * own, so that holders of locks cannot take the pool's from those who need it to finish. While locks are held, the connection is asked for a sign of life
 * from time to time. Effects whose lock is lost are interrupted, and die.
 */
export const layer = (url: Redacted.Redacted<string>, heartbeat: Heartbeat = usualHeartbeat) =>
  Layer.scoped(
    Locks,
    Effect.gen(function* () {
      /** Locks of a session do not exclude each other. */
      const held = new Set<string>()
      /** A connection answers one question at a time. */
      const turn = yield* Effect.makeSemaphore(1)
      let session: Session | undefined

      const connect = Effect.gen(function* () {
        const client = new pg.Client({
          connectionString: Redacted.value(url),
          keepAlive: true,
          keepAliveInitialDelayMillis: timeout,
          connectionTimeoutMillis: timeout,
          query_timeout: timeout,
          application_name: "atelier locks"
        })
        const opened: Session = {
          client,
          lost: yield* Deferred.make<never>(),
          lose: () => {
            opened.isLost = true
            const cause = new Error("The connection that held the lock was lost")
            Deferred.unsafeDone(opened.lost, Effect.die(new StoreUnavailable({ reason: "away", cause })))
          },
          isLost: false
        }
        client.on("error", opened.lose)
        client.on("end", opened.lose)
        yield* orDefect(() => client.connect())
        return opened
      })

      const connected = turn.withPermits(1)(
        Effect.gen(function* () {
          if (session === undefined || session.isLost) session = yield* connect
          return session
        })
      )
      yield* Effect.addFinalizer(() => (session === undefined ? Effect.void : closingClient(session.client)))

      const giveUp = (opened: Session) =>
        Effect.sync(() => {
          opened.lose()
          destroy(opened.client)
        })

      const ask = (opened: Session, function_: "pg_try_advisory_lock" | "pg_advisory_unlock", name: string) =>
        turn
          .withPermits(1)(
            orDefect(async () => {
              const { rows } = await opened.client.query<{ done: boolean }>(`SELECT ${function_}(hashtextextended($1, 0)) AS done`, [
                `atelier:${name}`
              ])
              return rows[0]?.done === true
            })
          )
          .pipe(
            // Whether the session holds the lock is not known then: only without the session is it certainly free again
            Effect.tapErrorCause(() => giveUp(opened))
          )

      /** A server that has lost a silent connection has given its locks to other processes. */
      const hasAnswered = (opened: Session) =>
        turn
          .withPermits(1)(Effect.tryPromise(() => opened.client.query("SELECT 1")))
          .pipe(Effect.timeout(heartbeat.within))
      const check = Effect.suspend(() => {
        const opened = session
        if (opened === undefined || opened.isLost || held.size === 0) return Effect.void
        return Effect.catchAllCause(hasAnswered(opened), () => giveUp(opened))
      })
      yield* Background.repeat("locks", inRealTime(Effect.delay(check, heartbeat.every)))

      const acquire = (name: string) =>
        Effect.flatMap(connected, (opened) => Effect.map(ask(opened, "pg_try_advisory_lock", name), (done) => (done ? opened : undefined)))

      return Locks.of({
        tryWith: (name, effect) =>
          Effect.suspend(() => {
            if (held.has(name)) return Effect.succeedNone
            held.add(name)
            return Effect.acquireUseRelease(
              acquire(name),
              (opened) =>
                opened === undefined
                  ? Effect.succeedNone
                  : // A race waits for its loser, also where it must not be interrupted itself
                    Effect.raceFirst(Effect.map(effect, Option.some), Effect.interruptible(Deferred.await(opened.lost))),
              (opened) =>
                opened === undefined || opened.isLost
                  ? Effect.void
                  : Effect.ignoreLogged(Effect.sandbox(ask(opened, "pg_advisory_unlock", name)))
            ).pipe(Effect.ensuring(Effect.sync(() => held.delete(name))))
          })
      })
    })
  )
