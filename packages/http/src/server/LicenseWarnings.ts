import type { Licensed } from "@atelier/core/deployment"
import { Effect, Either, Runtime, Schema } from "effect"

const isTexts = Schema.is(Schema.Array(Schema.String))

/**
 * What operators should know of their licence, as the host says it now. A host that throws, or answers anything but a list of texts, says
 * nothing and keeps nobody from an answer; the log has it once, and again when it has worked in between.
 */
export const licenseWarnings = (licensed: Licensed): Effect.Effect<() => ReadonlyArray<string>> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const report = Runtime.runFork(runtime)
    let isBroken = false
    const ask = Either.liftPredicate(
      (answer: unknown) => isTexts(answer),
      (answer) => new TypeError(`the warnings are no list of texts but ${typeof answer}`)
    )
    return () => {
      if (licensed.warnings === undefined) return []
      const said = Either.flatMap(
        Either.try(() => licensed.warnings?.()),
        ask
      )
      if (Either.isLeft(said) && !isBroken)
        report(Effect.logWarning("the host does not say what there is to know of its licence", said.left))
      isBroken = Either.isLeft(said)
      return Either.getOrElse(said, () => [])
    }
  })
