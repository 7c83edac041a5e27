/** Options of the engine in a YAML file, beside those of a command line. */
import { HostOptions, reasonOf, StartError } from "@atelier/core/platform"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { type Options, optionsSchema } from "./Settings.js"

/** Options of a YAML file, by the names that they have here. Fails with `StartError` for a file that cannot be read. */
const optionsIn = (file: string): Effect.Effect<Options, StartError> =>
  Effect.gen(function* () {
    const value = yield* Effect.try({
      try: (): unknown => parse(readFileSync(file, "utf8")) ?? {},
      catch: (cause) => new StartError({ option: "kubernetes.optionsFile", value: file, reason: `cannot be read: ${reasonOf(cause)}` })
    })
    const refusal = HostOptions.refusalOf("kubernetes", optionsSchema, value)
    // The schema has been checked, and its values are the options as they are
    return refusal === undefined ? (value as Options) : yield* refusal
  })

/** Returns the options without those that are undefined, so that they take the place of no others. */
const definedOptions = (options: Options): Options => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** Returns the options of a file, if there is one, and others, which win. Fails with `StartError` for a file that cannot be read. */
export const optionsWithFile = (file: string | undefined, options: Options): Effect.Effect<Options, StartError> =>
  Effect.map(file === undefined ? Effect.succeed<Options>({}) : optionsIn(file), (further) => ({ ...further, ...definedOptions(options) }))
