import type { Licensed } from "@atelier/core/deployment"
import { Effect, Either, Runtime, Schema } from "effect"

const isTexts = Schema.is(Schema.Array(Schema.String))

/**
 * The host's current warnings about its license, for operators. A host that throws, or returns anything but a list of texts, gives no
 * warnings, and its requests are still answered. The error is logged once, and again after a success.
 */
export const licenseWarnings = (licensed: Licensed): Effect.Effect<() => ReadonlyArray<string>> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const report = Runtime.runFork(runtime)
    let isBroken = false
    const ask = Either.liftPredicate(
      (answer: unknown) => isTexts(answer),
      (answer) => new TypeError(`the warnings must be a list of texts, not ${typeof answer}`)
    )
    return () => {
      if (licensed.warnings === undefined) return []
      const said = Either.flatMap(
        Either.try(() => licensed.warnings?.()),
        ask
      )
      if (Either.isLeft(said) && !isBroken) report(Effect.logWarning("the warnings of the host's license cannot be read", said.left))
      isBroken = Either.isLeft(said)
      return Either.getOrElse(said, () => [])
    }
  })
