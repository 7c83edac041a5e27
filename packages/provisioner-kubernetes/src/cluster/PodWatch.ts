/** The one watch of all Pods of an engine, and that of their events while builds wait. Each runs from the first need until a minute after the last. */
import { Effect, Option, Queue, RcRef, type Scope, Stream } from "effect"
import type { Api } from "./Api.js"
import { Event, Pod } from "./Objects.js"
import { type Resources, selectorOf } from "./Resources.js"
import { type Change, watch } from "./Watch.js"

/** News of one Pod. */
export type News =
  | { readonly _tag: "Pod"; readonly pod: Pod }
  | { readonly _tag: "Gone" }
  | { readonly _tag: "Event"; readonly event: Event }

export interface PodWatch {
  /** The news of one Pod from now on. A reader that is slow misses older news, so it reads the Pod itself now and then. */
  readonly follow: (name: string) => Effect.Effect<Queue.Dequeue<News>, never, Scope.Scope>
  /** Keeps the watch of Pods running. */
  readonly hold: Effect.Effect<void, never, Scope.Scope>
  /** Whether the watch of Pods runs, and has told all that there are. */
  readonly hasListed: () => boolean
  /** Reads what is told of all Pods. One reader at a time. */
  readonly onChange: (reader: (change: Change<Pod>) => Effect.Effect<void>) => Effect.Effect<void>
}

interface Needs {
  readonly api: Api
  readonly resources: Resources
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
}

/** News that a slow reader may have waiting. */
const waitingNews = 64

export const makePodWatch = ({ api, labels, namespace, resources }: Needs): Effect.Effect<PodWatch, never, Scope.Scope> =>
  Effect.gen(function* () {
    const readers = new Map<string, Set<Queue.Queue<News>>>()
    let everyChange: (change: Change<Pod>) => Effect.Effect<void> = () => Effect.void

    const tell = (name: string | null | undefined, news: News) =>
      Effect.forEach(readers.get(name ?? "") ?? [], (queue) => Queue.offer(queue, news), { discard: true })

    let hasListed = false

    const tellChange = (change: Change<Pod>) => {
      if (change._tag === "Listed") hasListed = true
      return Effect.zipRight(
        change._tag === "Present"
          ? tell(change.object.metadata.name, { _tag: "Pod", pod: change.object })
          : change._tag === "Gone"
            ? tell(change.object.metadata.name, { _tag: "Gone" })
            : Effect.void,
        everyChange(change)
      )
    }

    const ofPods = watch(api, resources, { kind: "pods", schema: Pod, namespace, labelSelector: selectorOf(labels) })
    const pods = yield* RcRef.make({
      acquire: Effect.zipRight(
        Effect.addFinalizer(() => Effect.sync(() => void (hasListed = false))),
        Effect.forkScoped(Stream.runForEach(ofPods, tellChange))
      ),
      idleTimeToLive: "1 minute"
    })
    const events = yield* RcRef.make({
      acquire: Effect.forkScoped(
        Stream.runForEach(
          watch(api, resources, { kind: "events", schema: Event, namespace, fieldSelector: "involvedObject.kind=Pod" }),
          (change) =>
            change._tag === "Present" ? tell(change.object.involvedObject.name, { _tag: "Event", event: change.object }) : Effect.void
        )
      ),
      idleTimeToLive: "1 minute"
    })

    return {
      follow: (name) =>
        Effect.gen(function* () {
          const queue = yield* Effect.acquireRelease(Queue.sliding<News>(waitingNews), (made) =>
            Effect.zipRight(
              Effect.sync(() => {
                readers.get(name)?.delete(made)
                if (readers.get(name)?.size === 0) readers.delete(name)
              }),
              Queue.shutdown(made)
            )
          )
          const others = readers.get(name) ?? new Set()
          readers.set(name, others.add(queue))
          yield* RcRef.get(pods)
          yield* RcRef.get(events)
          return queue
        }),
      hold: Effect.asVoid(RcRef.get(pods)),
      hasListed: () => hasListed,
      onChange: (reader) => Effect.sync(() => void (everyChange = reader))
    }
  })

/** The next news; None where none came in the time. */
export const nextWithin = (queue: Queue.Dequeue<News>, milliseconds: number): Effect.Effect<Option.Option<News>> =>
  Effect.timeoutOption(Queue.take(queue), milliseconds)
