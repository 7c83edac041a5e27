/** Whether a newer version has been released. deployment.md §1.3. */
import { Cause, Context, Duration, Effect, Option, Schema } from "effect"
import * as Timestamp from "../platform/time/Timestamp.js"
import { DeploymentOptions } from "./options/DeploymentOptions.js"
import { DeploymentValues } from "./DeploymentValues.js"
import { service } from "../platform/wiring/Standing.js"

/** A released version and the page that describes it. */
export interface Release {
  readonly version: string
  readonly url: string
}

/** Where releases are announced. None unless the host gives one: then no version counts as newer. */
export class ReleaseFeed extends Context.Reference<ReleaseFeed>()("@atelier/core/ReleaseFeed", {
  defaultValue: (): Effect.Effect<Release, unknown> | undefined => undefined
}) {}

const Stored = Schema.parseJson(Schema.Struct({ checked: Timestamp.Timestamp, version: Schema.String, url: Schema.String }))

const key = "last_update_check"

/** How old a result may be. */
const period = Duration.hours(24)

/** The numbers of a semantic version; later parts, such as those of a development build, do not count. */
const numbers = (version: string): ReadonlyArray<number> => (/^v?(\d{1,9}(?:\.\d{1,9})*)/.exec(version)?.[1] ?? "0").split(".").map(Number)

/** Whether a version is at least as new as another one. */
export const isCurrent = (own: string, released: string): boolean => {
  const [mine, theirs] = [numbers(own), numbers(released)]
  for (let index = 0; index < 3; index++) {
    const difference = (mine[index] ?? 0) - (theirs[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

/** The methods of {@link UpdateCheck}. */
export interface UpdateCheckService {
  /** The newest release known, compared with the version that runs; itself while none is known. */
  readonly compare: (own: Release) => Effect.Effect<Release & { readonly current: boolean }>

  readonly refresh: Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const feed = yield* ReleaseFeed
  const { updateCheck: isOn } = yield* DeploymentOptions
  const values = yield* DeploymentValues
  const decode = Schema.decodeOption(Stored)
  const encode = Schema.encodeSync(Stored)
  const alone = yield* Effect.makeSemaphore(1)
  const stored = Effect.map(values.get(key), Option.flatMap(decode))

  const isFresh = (checked: Timestamp.Timestamp): Effect.Effect<boolean> =>
    Effect.map(Timestamp.now, (now) => Timestamp.toMillis(now) - Timestamp.toMillis(checked) < Duration.toMillis(period))

  /** Asks the feed unless a result of less than a day is stored. A feed that fails leaves the older result. */
  const check = (from: Effect.Effect<Release, unknown>): Effect.Effect<void> =>
    alone
      .withPermits(1)(
        Effect.gen(function* () {
          const known = yield* stored
          if (Option.isSome(known) && (yield* isFresh(known.value.checked))) return
          const { url, version } = yield* Effect.timeout(from, "30 seconds")
          yield* values.put(key, encode({ checked: yield* Timestamp.now, url, version }))
        })
      )
      .pipe(
        Effect.catchAllCause((cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logWarning("the feed of releases could not be read", cause)
        )
      )

  return {
    compare: (own: Release): Effect.Effect<Release & { readonly current: boolean }> =>
      Effect.gen(function* () {
        if (!isOn || feed === undefined) return { current: true, ...own }
        const known = yield* stored
        const newest = Option.isSome(known) ? known : yield* Effect.zipRight(check(feed), stored)
        if (Option.isNone(newest)) return { current: true, ...own }
        const { url, version } = newest.value
        return { current: isCurrent(own.version, version), version, url }
      }),
    refresh: isOn && feed !== undefined ? check(feed) : Effect.void
  }
})

export class UpdateCheck extends Context.Tag("@atelier/core/UpdateCheck")<UpdateCheck, UpdateCheckService>() {
  static readonly layer = service(UpdateCheck, make)
}

/** Looks for releases once a day. */
export const updateCheckWorker = {
  name: "update-check",
  every: Duration.hours(1),
  run: Effect.flatMap(UpdateCheck, ({ refresh }) => refresh)
}
