/** Profiles of the answering process, for operators who look for where its time and memory go. agents-and-apps.md §20. */
import { Context, Duration, Effect, Either, Option } from "effect"
import { Access, AccessObjects } from "../../access/index.js"
import { readDuration } from "../../deployment/options/readers.js"
import { Conflict, Invalid, type Forbidden } from "../../platform/Errors.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** Where the process spends its time, and which calls allocate the memory that stays. */
const profileKinds = ["cpu", "heap"] as const
export type ProfileKind = (typeof profileKinds)[number]

/** A profile in the format of pprof, compressed by gzip. */
export interface TakenProfile {
  readonly kind: ProfileKind
  readonly content: Uint8Array
}

/** Port: what the runtime tells of itself. */
export class Profiler extends Context.Reference<Profiler>()("@atelier/core/Profiler", {
  defaultValue: (): {
    /** Profiles the process for a while. Profiles of several kinds are taken at the same time. */
    readonly take: (kinds: ReadonlyArray<ProfileKind>, duration: Duration.Duration) => Effect.Effect<ReadonlyArray<TakenProfile>>
    /** A tar archive of profiles, compressed by gzip: a file `KIND.pprof` for each. */
    readonly pack: (profiles: ReadonlyArray<TakenProfile>) => Effect.Effect<Uint8Array>
    /** Memory and times of the process, as JSON. Holds neither arguments nor variables, which may be secret. */
    readonly variables: Effect.Effect<Readonly<Record<string, unknown>>>
  } => ({
    take: () => Effect.succeed([]),
    pack: () => Effect.succeed(new Uint8Array()),
    variables: Effect.succeed({})
  })
}) {}

const longest = Duration.minutes(1)

const debugInfo = Access.authorize("read", AccessObjects.bare("debug_info"))

const isKind = (text: string): text is ProfileKind => profileKinds.some((kind) => kind === text)

const within = (field: string, duration: Duration.Duration): Effect.Effect<Duration.Duration, Invalid> =>
  Duration.greaterThan(duration, Duration.zero) && Duration.lessThanOrEqualTo(duration, longest)
    ? Effect.succeed(duration)
    : Invalid.field(field, "must be more than nothing and at most a minute")

const secondsOf = (text: string): Effect.Effect<Duration.Duration, Invalid> =>
  /^\d{1,4}$/.test(text) ? within("seconds", Duration.seconds(Number(text))) : Invalid.field("seconds", "must be a whole number of seconds")

const durationOf = (text: string): Effect.Effect<Duration.Duration, Invalid> =>
  Either.match(readDuration(text), {
    onLeft: (detail) => Invalid.field("duration", detail),
    onRight: (nanoseconds) => (nanoseconds > 0n ? within("duration", Duration.nanos(nanoseconds)) : within("duration", Duration.zero))
  })

const kindsOf = (text: string): Effect.Effect<ReadonlyArray<ProfileKind>, Invalid> => {
  const names = text.split(",").filter((name) => name !== "")
  const kinds = new Set(names.filter(isKind))
  return names.every(isKind)
    ? Effect.succeed(kinds.size === 0 ? profileKinds : [...kinds])
    : Invalid.field("profiles", `must be among ${profileKinds.join(", ")}`)
}

/** The methods of {@link Profiles}. */
export interface ProfilesService {
  /** Fails with `Forbidden` without the permission to read what the service tells of itself, as everything here does. */
  readonly authorized: Effect.Effect<void, Forbidden, CurrentActor>

  /** Memory and times of the process. */
  readonly variables: Effect.Effect<Readonly<Record<string, unknown>>, Forbidden, CurrentActor>

  /** A profile over so many seconds: 30, or 5 of the heap, where the text is empty. Fails with `Invalid`, or with `Conflict` while one is taken. */
  readonly take: (
    kind: ProfileKind,
    seconds: string
  ) => Effect.Effect<Uint8Array<ArrayBufferLike>, Invalid | Forbidden | Conflict, CurrentActor>

  /**
   * An archive of profiles that are taken at once: of all kinds where none is named, over 30 s where the duration is empty. Fails like
   * `take`.
   */
  readonly collect: (
    duration: string,
    profiles: string
  ) => Effect.Effect<Uint8Array<ArrayBufferLike>, Invalid | Forbidden | Conflict, CurrentActor>
}

const make = Effect.gen(function* () {
  const profiler = yield* Profiler
  const alone = yield* Effect.makeSemaphore(1)

  /** Taking a profile slows the process down: one at a time. */
  const taken = (kinds: ReadonlyArray<ProfileKind>, duration: Duration.Duration) =>
    Effect.flatMap(
      alone.withPermitsIfAvailable(1)(profiler.take(kinds, duration)),
      Option.match({
        onNone: () => new Conflict({ message: "Another profile of this process is being taken." }),
        onSome: (profiles) => Effect.succeed(profiles)
      })
    )

  return {
    authorized: debugInfo,

    variables: Effect.zipRight(debugInfo, profiler.variables),

    take: Traced.fn("Profiles.take")(function* (kind: ProfileKind, seconds: string) {
      yield* debugInfo
      const duration = seconds === "" ? Duration.seconds(kind === "cpu" ? 30 : 5) : yield* secondsOf(seconds)
      const [profile] = yield* taken([kind], duration)
      return profile?.content ?? new Uint8Array()
    }),

    collect: Traced.fn("Profiles.collect")(function* (duration: string, profiles: string) {
      yield* debugInfo
      const time = duration === "" ? Duration.seconds(30) : yield* durationOf(duration)
      const kinds = yield* kindsOf(profiles)
      return yield* profiler.pack(yield* taken(kinds, time))
    })
  }
})

/** Profiles of the answering process. */
export class Profiles extends Context.Tag("@atelier/core/Profiles")<Profiles, ProfilesService>() {
  static readonly layer = service(Profiles, make)
}
