/**
 * The background work of one program, by name: each run of it can be asked for. A program whose work is manual runs all of it in this way, as tests that move
 * their clock do. What goes on by events alone, and by no time, goes on in such a program too.
 */
import { type Clock, Context, Duration, Effect, type Scope } from "effect"
import { acquired } from "./acquired.js"

/** Whether background work runs at its times, or when the program asks for it. */
export type BackgroundMode = "automatic" | "manual"

type Runs = Map<string, Effect.Effect<void>>

interface Known {
  readonly isManual: boolean
  readonly runs: Runs
  /** What the process shows its life by, where it is manual. */
  readonly signs: Runs
}

/** The work that a program has told of. Undefined where no run can be asked for, and all work is automatic. */
class KnownWork extends Context.Reference<KnownWork>()("@atelier/core/KnownWork", {
  defaultValue: (): Known | undefined => undefined
}) {}

/** The methods of {@link BackgroundWork}. */
export interface BackgroundWorkService {
  /** The names of the work whose runs can be asked for. `docs/embedding.md` says what each does. */
  readonly names: Effect.Effect<ReadonlyArray<string>>

  /**
   * Runs work once, one name after the other, and completes when it has ended. A run that is under way in a process that shares the store is left to it. Dies
   * with the defect of a run, and for a name that is not known.
   */
  readonly run: (...names: ReadonlyArray<string>) => Effect.Effect<void>
}

/** The background work of this program: each run of it can be asked for. */
export class BackgroundWork extends Context.Tag("@atelier/core/BackgroundWork")<BackgroundWork, BackgroundWorkService>() {}

const serviceOf = ({ runs, signs }: Known): BackgroundWorkService => {
  const one = (name: string) =>
    Effect.suspend(
      () => runs.get(name) ?? Effect.dieMessage(`There is no background work ${name}. There is: ${[...runs.keys()].toSorted().join(", ")}`)
    )
  return {
    names: Effect.sync(() => [...runs.keys()]),
    run: (...names) =>
      Effect.zipRight(
        Effect.suspend(() => Effect.all(signs.values(), { discard: true })),
        Effect.forEach(names, one, { discard: true })
      )
  }
}

/** Returns the services of one program's work, which all of its work is started with. */
export const knownWork = (mode: BackgroundMode): Context.Context<BackgroundWork> => {
  const known: Known = { isManual: mode === "manual", runs: new Map(), signs: new Map() }
  return Context.make(BackgroundWork, serviceOf(known)).pipe(Context.add(KnownWork, known))
}

/** Whether the program runs its work itself. */
export const isManual: Effect.Effect<boolean> = Effect.map(KnownWork, (known) => known?.isManual === true)

/** Keeps work of a name until the scope closes. */
const known = <R>(runs: Runs, name: string, run: Effect.Effect<unknown, never, R>): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    acquired(() => {
      const own = Effect.asVoid(Effect.provide(run, context))
      runs.set(name, own)
      return () => {
        if (runs.get(name) === own) runs.delete(name)
      }
    })
  )

/** Tells of work by what one run of it does, until the scope closes, and starts it where the program does not run it itself. */
export const startUnlessManual = <R, R2>(
  name: string,
  run: Effect.Effect<unknown, never, R>,
  start: Effect.Effect<void, never, R2>
): Effect.Effect<void, never, R | R2 | Scope.Scope> =>
  Effect.flatMap(KnownWork, (program): Effect.Effect<void, never, R | R2 | Scope.Scope> => {
    if (program === undefined) return start
    const telling = known(program.runs, name, run)
    return program.isManual ? telling : Effect.zipRight(telling, start)
  })

/** Starts the signs of life of this process. Where the program runs its work itself, each run is preceded by a sign: the process lives, whatever its clock says. */
export const startSigns = <R, R2>(
  name: string,
  sign: Effect.Effect<unknown, never, R>,
  start: Effect.Effect<void, never, R2>
): Effect.Effect<void, never, R | R2 | Scope.Scope> =>
  Effect.flatMap(KnownWork, (program): Effect.Effect<void, never, R | R2 | Scope.Scope> =>
    program?.isManual === true ? known(program.signs, name, sign) : start
  )

/** A clock by which nothing that waits for a time goes on. Work that only lets other work have its turn goes on. */
export const standing = (clock: Clock.Clock): Clock.Clock =>
  Object.assign(Object.create(clock), {
    // Not `Effect.never`, whose interval keeps the process
    sleep: (duration: Duration.Duration) => (Duration.toMillis(duration) === 0 ? Effect.yieldNow() : Effect.async<void>(() => {}))
  })
