/**
 * Keeps the Pods of running workspaces: one that was evicted, deleted by others or lost with its node is made again, with its volumes. The Secret of its start
 * says whether it is to run, so any number of servers may do this beside each other.
 */
import type { TellOutage } from "@atelier/core/provisioning"
import { Clock, Effect, Exit, FiberMap, Option, Redacted, Schedule, Schema, Scope } from "effect"
import { gunzipSync } from "node:zlib"
import { ClusterError, silence } from "../cluster/ClusterError.js"
import { Pod, Secret } from "../cluster/Objects.js"
import type { PodWatch } from "../cluster/PodWatch.js"
import type { Manifest, Resources } from "../cluster/Resources.js"
import type { Change } from "../cluster/Watch.js"
import { ownedBy } from "../render/Objects.js"
import type { Settings } from "../Settings.js"
import { endOf, isOfLostNode } from "./Progress.js"

interface Needs {
  readonly resources: Resources
  readonly watch: PodWatch
  readonly settings: Settings
}

export interface Keeper {
  /** Looks after these Pods, which are to run, from now on. */
  readonly keep: (names: ReadonlyArray<string>) => Effect.Effect<void>
  readonly tellOutages: (tell: TellOutage) => Effect.Effect<void>
}

/** How often a Pod that cannot be made is tried again. */
const pauses = Schedule.union(Schedule.exponential("2 seconds", 2), Schedule.spaced("2 minutes"))

/** Milliseconds after which a Pod that was made again counts as one that stays. */
const steady = 10 * 60_000

/** Reasons that wait to be told; older ones are left out. */
const maximumOutages = 1_000

const Manifested = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString()

export const makeKeeper = ({ resources, settings, watch }: Needs): Effect.Effect<Keeper, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { namespace } = settings
    /** Names of Pods that exist, as the watch has told. */
    const present = new Set<string>()
    /** Names that the list in progress has told. */
    let listed: Set<string> | undefined
    /** Names of Pods that are to run and have not been seen yet. */
    const expected = new Set<string>()
    const outages = new Map<string, { readonly token: string; readonly message: string }>()
    /** How often a Pod was made again, and when last. */
    const attempts = new Map<string, { readonly count: number; readonly at: number }>()
    const restoring = yield* FiberMap.make<string>()
    let holder: Scope.CloseableScope | undefined

    /** The watch runs while there are Pods to look after. */
    const holdOrRelease = Effect.suspend(() => {
      const isNeeded = present.size > 0 || expected.size > 0
      if (isNeeded === (holder !== undefined)) return Effect.void
      if (!isNeeded) {
        const last = holder
        holder = undefined
        return last === undefined ? Effect.void : Scope.close(last, Exit.void)
      }
      return Effect.flatMap(Scope.make(), (scope) => {
        holder = scope
        return Scope.extend(watch.hold, scope)
      })
    })

    const secretOf = (name: string) => resources.get("secrets", Secret, namespace, name)

    const manifestOf = (secret: Secret) =>
      Effect.try({
        try: () => gunzipSync(Buffer.from(secret.data?.["pod"] ?? "", "base64")).toString(),
        catch: () => silence("read the Pod of a start", "it is broken")
      }).pipe(
        Effect.flatMap(Schema.decode(Manifested)),
        Effect.mapError((error) => (error instanceof ClusterError ? error : silence("read the Pod of a start", "it is broken")))
      )

    /** Makes a Pod again if the Secret of its start is there; otherwise it has been stopped. */
    const restore = (name: string, reason: string) =>
      Effect.gen(function* () {
        const secret = yield* secretOf(name)
        if (Option.isNone(secret) || secret.value.metadata.deletionTimestamp) return
        const pod = yield* resources.get("pods", Pod, namespace, name)
        if (Option.isSome(pod)) {
          const { metadata } = pod.value
          const isLost = isOfLostNode(pod.value)
          if (endOf(pod.value) === undefined && !isLost) return
          yield* resources.remove("pods", namespace, name, { uid: metadata.uid, grace: 0 })
        }
        const manifest = yield* manifestOf(secret.value)
        const { metadata } = secret.value
        const labels = { ...Object(Object(manifest["metadata"])["labels"]), ...metadata.labels, "atelier.dev/part": "agent" }
        const relabelled = { ...manifest, metadata: { ...Object(manifest["metadata"]), labels } }
        yield* Effect.catchIf(
          resources.create("pods", namespace, ownedBy(metadata, relabelled) as unknown as Manifest),
          (error) => error.isPresent,
          () => Effect.void
        )
        if (outages.size < maximumOutages)
          outages.set(name, {
            token: decoded(secret.value.data?.["token"]),
            message: `The Pod of the workspace is started again: ${reason}.`
          })
        yield* Effect.logInfo(`the Pod ${name} is started again: ${reason}`)
      }).pipe(
        Effect.tapError((error) => Effect.logWarning(`the Pod ${name} cannot be started again yet: ${error.message}`)),
        Effect.retry(pauses),
        Effect.ignore
      )

    /** A Pod that ends again and again is made after pauses that grow. */
    const pause = (name: string) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        for (const [other, { at }] of attempts) if (now - at > steady) attempts.delete(other)
        const count = attempts.get(name)?.count ?? 0
        attempts.set(name, { count: count + 1, at: now })
        if (count > 0) yield* Effect.sleep(Math.min(1_000 * 2 ** count, 2 * 60_000))
      })

    /** One attempt for each Pod at a time. */
    const begin = (name: string, reason: string) =>
      Effect.asVoid(FiberMap.run(restoring, name, Effect.zipRight(pause(name), restore(name, reason)), { onlyIfMissing: true }))

    const onChange = (change: Change<Pod>): Effect.Effect<void> =>
      Effect.gen(function* () {
        switch (change._tag) {
          case "Listing":
            listed = new Set()
            return
          case "Present": {
            const { name } = change.object.metadata
            listed?.add(name)
            present.add(name)
            expected.delete(name)
            const end = endOf(change.object)
            if (end !== undefined) yield* begin(name, end)
            else if (isOfLostNode(change.object)) yield* begin(name, "its node is lost")
            break
          }
          case "Gone":
            present.delete(change.object.metadata.name)
            yield* begin(change.object.metadata.name, endOf(change.object) ?? "the Pod was deleted")
            break
          case "Listed": {
            const gone = [...present, ...expected].filter((name) => listed?.has(name) !== true)
            listed = undefined
            for (const name of gone) {
              present.delete(name)
              expected.delete(name)
              yield* begin(name, "the Pod is gone")
            }
          }
        }
        yield* holdOrRelease
      })

    yield* watch.onChange(onChange)
    yield* Effect.addFinalizer(() => (holder === undefined ? Effect.void : Scope.close(holder, Exit.void)))

    return {
      keep: (names) =>
        Effect.suspend(() => {
          for (const name of names) if (!present.has(name)) expected.add(name)
          return holdOrRelease
        }),
      tellOutages: (tell) =>
        Effect.suspend(() => {
          const told = [...outages.entries()]
          return Effect.forEach(
            told,
            ([name, { message, token }]) =>
              Effect.zipRight(
                tell({ token: Redacted.make(token), message }),
                Effect.sync(() => outages.delete(name))
              ),
            { discard: true }
          )
        })
    }
  })
