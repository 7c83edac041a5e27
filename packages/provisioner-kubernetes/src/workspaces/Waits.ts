/** Waiting for Pods: to run, and to be gone. */
import { Clock, Deferred, Duration, Effect, Fiber, Option, type Scope } from "effect"
import type { Api } from "../cluster/Api.js"
import { ClusterError } from "../cluster/ClusterError.js"
import { Event, Pod } from "../cluster/Objects.js"
import { nextWithin, type PodWatch } from "../cluster/PodWatch.js"
import type { Resources } from "../cluster/Resources.js"
import type { Settings } from "../Settings.js"
import { podOutput } from "./PodOutput.js"
import { type Progress, progressOf } from "./Progress.js"
import { type Report, WorkspaceFailure } from "./WorkspaceFailure.js"

interface Wait {
  readonly scheduled: Effect.Effect<void, ClusterError | WorkspaceFailure>
  readonly running: Effect.Effect<Pod, ClusterError | WorkspaceFailure>
}

interface Start {
  readonly name: string
  readonly uid: string
  /** The names of the claims of the Pod's volumes. */
  readonly claims: ReadonlyArray<string>
  readonly report: Report
}

interface Needs {
  readonly api: Api
  readonly resources: Resources
  readonly watch: PodWatch
  readonly settings: Settings
}

/** Without news, the Pod is read again after this time. */
const rereading = 5_000

/** Milliseconds that a Pod which the cluster was told to forget may stay: something outside of the cluster may keep it, such as a finalizer. */
const forgottenWithin = 60_000

/** The annotation of a claim whose Pod waits for a node: when the scheduler was told of it last. */
const awaited = "atelier.dev/awaited"

/** Milliseconds until the scheduler is told of a waiting Pod's claims for the first time; each further pause is twice as long. */
const firstReminder = 1_000

/** Writes events into the build's log, each once. */
const reportEvents = (report: Report) => {
  const known = new Set<string>()
  return ({ message, metadata, reason, type }: Event) =>
    Effect.suspend(() => {
      const text = `${reason ?? "Event"}: ${(message ?? "").slice(0, 1_000)}`
      const id = `${metadata.uid} ${text}`
      if (known.has(id) || known.size >= 500) return Effect.void
      known.add(id)
      return report(text, type === "Warning" ? "warn" : "info")
    })
}

export const waits = ({ api, resources, settings, watch }: Needs) => {
  const { namespace } = settings
  const { output, reportTail } = podOutput({ api, namespace })
  const ended = (pod: string, progress: Extract<Progress, { readonly _tag: "Ended" }>, report: Report) =>
    Effect.zipRight(
      reportTail(pod, progress.container, progress.isPrevious, report),
      Effect.fail(new WorkspaceFailure({ message: `${progress.text}; its last lines are in the build's log` }))
    )

  /**
   * Changes the claims of a Pod that waits for a node. The scheduler may try a Pod before it has seen that its volumes are bound, and then tries it again after
   * five minutes, or once a claim of it changes (kubernetes/kubernetes#73216).
   */
  const remind = (claims: ReadonlyArray<string>, now: number) =>
    Effect.forEach(
      claims,
      (claim) => {
        const metadata = { annotations: { [awaited]: new Date(now).toISOString() } }
        return Effect.ignore(resources.patch("persistentvolumeclaims", namespace, claim, { metadata }))
      },
      { discard: true }
    )

  /**
   * Follows a start of a Pod with these claims. `scheduled` waits for a node, `running` for the agent's program. They fail with the reason why it will not.
   */
  const untilRunning = ({ claims, name, report, uid }: Start): Effect.Effect<Wait, never, Scope.Scope> =>
    Effect.gen(function* () {
      const scheduled = yield* Deferred.make<void, ClusterError | WorkspaceFailure>()
      const wait = Effect.gen(function* () {
        const news = yield* watch.follow(name)
        const tell = reportEvents(report)
        const begin = yield* Clock.currentTimeMillis
        let unschedulableSince: number | undefined
        let pause = firstReminder
        let last: Progress = { _tag: "Waiting", text: "the Pod waits" }
        let read = yield* resources.get("pods", Pod, namespace, name)
        for (;;) {
          if (Option.isNone(read) || read.value.metadata.uid !== uid)
            return yield* new WorkspaceFailure({ message: `the Pod ${name} was deleted while it started` })
          last = progressOf(read.value)
          const now = yield* Clock.currentTimeMillis
          if (read.value.spec?.nodeName) yield* Deferred.succeed(scheduled, undefined)
          if (last._tag === "Running") return read.value
          if (last._tag === "Ended") return yield* ended(name, last, report)
          if (last._tag === "Failed") return yield* new WorkspaceFailure({ message: last.text })
          unschedulableSince = last._tag === "Unschedulable" ? (unschedulableSince ?? now) : undefined
          const isTooLong = now - begin > Duration.toMillis(settings.startTimeout)
          const isWithoutNode = unschedulableSince !== undefined && now - unschedulableSince >= Duration.toMillis(settings.scheduleTimeout)
          if (isTooLong || isWithoutNode) return yield* new WorkspaceFailure({ message: last.text })
          if (unschedulableSince !== undefined && now - unschedulableSince >= pause) {
            yield* remind(claims, now)
            pause = 2 * pause
          }

          const untilReminder = unschedulableSince === undefined ? rereading : Math.max(0, unschedulableSince + pause - now)
          const next = yield* nextWithin(news, Math.min(rereading, untilReminder, Duration.toMillis(settings.scheduleTimeout)))
          if (Option.isNone(next)) read = yield* resources.get("pods", Pod, namespace, name)
          else if (next.value._tag === "Event") {
            if (next.value.event.involvedObject.uid === uid) yield* tell(next.value.event)
          } else if (next.value._tag === "Pod") read = Option.some(next.value.pod)
          else read = yield* resources.get("pods", Pod, namespace, name)
        }
      })
      const fiber = yield* Effect.forkScoped(Effect.scoped(wait))
      return { scheduled: Effect.raceFirst(Deferred.await(scheduled), Effect.asVoid(Fiber.join(fiber))), running: Fiber.join(fiber) }
    })

  /**
   * Waits until a Pod is gone. One whose node does not answer in time is forgotten by the cluster. Fails where it stays all the same: a later attempt
   * may succeed.
   */
  const untilGone = (name: string, uid: string, report: Report): Effect.Effect<void, ClusterError> =>
    Effect.scoped(
      Effect.gen(function* () {
        const news = yield* watch.follow(name)
        const begin = yield* Clock.currentTimeMillis
        let forcedAt: number | undefined
        for (;;) {
          const pod = yield* resources.get("pods", Pod, namespace, name)
          if (Option.isNone(pod) || pod.value.metadata.uid !== uid) return
          const now = yield* Clock.currentTimeMillis
          if (forcedAt !== undefined && now - forcedAt > forgottenWithin) {
            const message = `the Pod ${name} does not end, although the cluster was told to forget it: a finalizer may keep it`
            return yield* new ClusterError({ message, status: 0, reason: "" })
          }
          if (forcedAt === undefined && now - begin > (settings.stopGrace + 20) * 1000) {
            yield* report(`The node of the Pod ${name} does not answer: the cluster forgets the Pod.`, "warn")
            yield* resources.remove("pods", namespace, name, { uid, grace: 0 })
            forcedAt = now
            continue
          }
          // Each change of a Pod that ends is news: only its end matters
          const until = now + rereading
          for (;;) {
            const next = yield* nextWithin(news, Math.max(0, until - (yield* Clock.currentTimeMillis)))
            if (Option.isNone(next) || next.value._tag === "Gone") break
          }
        }
      })
    )

  return { untilRunning, untilGone, output, reportTail }
}

export type Waits = ReturnType<typeof waits>
