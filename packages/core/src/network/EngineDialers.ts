/** The ways of several engines to their workspaces. agents-and-apps.md §17. */
import { Context, Effect, Option } from "effect"
import { AgentUnreachable, type Dial, EngineDialer } from "./AgentDialer.js"

/** Asks each in order until one reaches the target: an engine knows its own workspaces alone. A failure says what each has answered. */
const inOrder =
  (dialers: ReadonlyArray<Dial>): Dial =>
  (target) =>
    Effect.gen(function* () {
      const failures: Array<AgentUnreachable> = []
      for (const dial of dialers) {
        const outcome = yield* Effect.either(dial(target))
        if (outcome._tag === "Right") return outcome.right
        failures.push(outcome.left)
      }
      const reason = failures.find((failure) => failure.reason !== undefined)?.reason
      const message = [...new Set(failures.map((failure) => failure.message))].join(" ")
      return yield* new AgentUnreachable({ message, ...(reason === undefined ? {} : { reason }) })
    })

/** Joins what engines provide. Of one service from several engines the last one's counts, but each engine's way to its workspaces is asked. */
export const joinEngines = <S>(built: ReadonlyArray<Context.Context<S>>): Context.Context<S> => {
  const dialers = built.flatMap((context) => Option.toArray(Context.getOption(context, EngineDialer)))
  const merged = Context.mergeAll(...built)
  return dialers.length < 2 ? merged : Context.add(merged, EngineDialer, { dial: inOrder(dialers.map(({ dial }) => dial)) })
}
