/** How far the end of a service has come, for the log line of one that does not come to its end. */
import { Background, running } from "@atelier/core/platform"
import { Duration, Effect, Layer, type ManagedRuntime, type Scope } from "effect"

/** What the end waits for, in its order. */
type Step = "requests and sockets" | "background work" | "services" | "the store and the engines"

export interface Ending {
  /** What it waits for now. */
  readonly step: () => Step
  /** Notes a step as soon as all later additions to the scope have ended. */
  readonly comesTo: (step: Step) => Effect.Effect<void, never, Scope.Scope>
  /** Begins, each time that it is built: the work of layers that are built upon it shares the time of their end. */
  readonly begins: Layer.Layer<never>
}

export const make = (): Ending => {
  let current: Step = "requests and sockets"
  let patience: Background.Patience = { isEnding: false, spent: 0 }
  return {
    step: () => current,
    // A host may build a layer again, after the end of the first
    begins: Layer.suspend(() => {
      current = "requests and sockets"
      patience = { isEnding: false, spent: 0 }
      return Background.sharing(patience)
    }),
    comesTo: (step) =>
      Effect.suspend(() => {
        const shared = patience
        return Effect.addFinalizer(() =>
          Effect.sync(() => {
            current = step
            shared.isEnding = true
          })
        )
      })
  }
}

/** Notes a step as soon as all layers that are built upon this one have ended. */
export const layer = (ending: Ending, step: Step): Layer.Layer<never> => running(ending.comesTo(step))

/** Ends a runtime. After the duration, its unfinished work is left to itself, and a log line names the step. */
export const endWithin = <R, E>(runtime: ManagedRuntime.ManagedRuntime<R, E>, { step }: Ending, duration: Duration.Duration) =>
  Effect.timeoutTo(Effect.disconnect(runtime.disposeEffect), {
    duration,
    onSuccess: () => Effect.void,
    onTimeout: () => Effect.logError(`the service did not end within ${Duration.format(duration)}: gave up waiting for ${step()}`)
  }).pipe(Effect.flatten)
