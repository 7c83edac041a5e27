/** One watch of all objects of a kind: what is there at first, then each change. It lists again when the cluster has forgotten where it was. */
import { Duration, Effect, Either, Option, Ref, Schedule, Schema, Stream } from "effect"
import type { Api } from "./Api.js"
import { ClusterError } from "./ClusterError.js"
import { Bookmark, WatchError, WatchLine } from "./Objects.js"
import { type Kind, pathOf, type Resources, type Selection } from "./Resources.js"

/** What a watch tells. `Listed` comes once all objects of a list have been told: an object that was not among them is gone. */
export type Change<A> =
  | { readonly _tag: "Listing" }
  | { readonly _tag: "Present"; readonly object: A }
  | { readonly _tag: "Gone"; readonly object: A }
  | { readonly _tag: "Listed" }

export interface WatchInput<A, I> extends Selection {
  readonly kind: Kind
  readonly schema: Schema.Schema<A, I>
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined
}

/** Seconds after which the cluster ends a watch, and the client begins the next. The end of a lost connection is noticed by then. */
const turn = 240

/** The pause before the watch begins again after a failure. */
const pauses = Schedule.union(Schedule.exponential("200 millis", 2), Schedule.spaced("10 seconds"))

const expired = new ClusterError({ message: "the cluster has forgotten the version of the watch", status: 410, reason: "Expired" })

/** The changes of one watch, which never end. Failures are logged, and the watch goes on. */
export const watch = <A, I>(api: Api, resources: Resources, input: WatchInput<A, I>): Stream.Stream<Change<A>> => {
  const { fieldSelector, kind, labelSelector, namespace, schema } = input
  const selection = { ...(fieldSelector === undefined ? {} : { fieldSelector }), ...(labelSelector === undefined ? {} : { labelSelector }) }
  const decode = Schema.decodeUnknownOption(schema)
  const present = (item: unknown): ReadonlyArray<Change<A>> =>
    Option.match(decode(item), { onNone: () => [], onSome: (object) => [{ _tag: "Present", object }] })

  const told = (error: ClusterError) => Effect.logWarning(`the watch of ${kind} begins again: ${error.message}`)

  const changeOf = (position: Ref.Ref<string>, line: string): Effect.Effect<ReadonlyArray<Change<A>>, ClusterError> =>
    Effect.gen(function* () {
      const { object, type } = yield* Either.mapLeft(
        Schema.decodeUnknownEither(WatchLine)(line),
        () => new ClusterError({ message: "the cluster's watch has another form than expected", status: 0, reason: "" })
      )
      if (type === "ERROR") {
        const { code, message } = Option.getOrElse(Schema.decodeUnknownOption(WatchError)(object), () => ({ code: 0, message: "" }))
        return yield* code === 410
          ? expired
          : new ClusterError({ message: `the cluster ended the watch: ${message}`, status: 0, reason: "" })
      }
      const version = Schema.decodeUnknownOption(Bookmark)(object)
      if (Option.isSome(version)) yield* Ref.set(position, version.value.metadata.resourceVersion)
      if (type === "BOOKMARK") return []
      if (type !== "DELETED") return present(object)
      return Option.match(decode(object), {
        onNone: () => [],
        onSome: (gone): ReadonlyArray<Change<A>> => [{ _tag: "Gone", object: gone }]
      })
    })

  const follow = (position: Ref.Ref<string>): Stream.Stream<Change<A>, ClusterError> =>
    Stream.unwrap(
      Effect.map(Ref.get(position), (resourceVersion) =>
        api.lines(
          {
            doing: `watch ${kind}`,
            path: pathOf(kind, namespace),
            query: { ...selection, watch: "true", allowWatchBookmarks: "true", resourceVersion, timeoutSeconds: String(turn) }
          },
          Duration.seconds(turn + 30)
        )
      )
    ).pipe(
      Stream.mapEffect((line) => changeOf(position, line)),
      Stream.flattenIterables,
      // A server that ends each watch at once is not asked without a pause
      Stream.concat(Stream.drain(Stream.fromEffect(Effect.sleep("200 millis"))))
    )

  const listed = (position: Ref.Ref<string>): Stream.Stream<Change<A>, ClusterError> =>
    Stream.make<[Change<A>]>({ _tag: "Listing" }).pipe(
      Stream.concat(
        resources.pages(kind, namespace, selection).pipe(
          Stream.tap(({ resourceVersion }) => Ref.set(position, resourceVersion)),
          Stream.map(({ items }) => items.flatMap(present)),
          Stream.flattenIterables
        )
      ),
      Stream.concat(Stream.make<[Change<A>]>({ _tag: "Listed" }))
    )

  /** From a list on, through lost connections, until the cluster has forgotten the version. */
  const fromList: Stream.Stream<Change<A>, ClusterError> = Stream.unwrap(
    Effect.map(Ref.make(""), (position) => {
      const again: Stream.Stream<Change<A>, ClusterError> = Stream.forever(follow(position)).pipe(
        Stream.tapError((error) => (error.isExpired ? Effect.void : told(error))),
        Stream.retry(
          pauses.pipe(
            Schedule.whileInput((error: ClusterError) => !error.isExpired),
            Schedule.resetAfter("1 minute")
          )
        )
      )
      return Stream.concat(listed(position), again)
    })
  )

  return fromList.pipe(
    Stream.tapError((error) => (error.isExpired ? Effect.void : told(error))),
    Stream.retry(Schedule.resetAfter(pauses, "1 minute")),
    Stream.orDie
  )
}
