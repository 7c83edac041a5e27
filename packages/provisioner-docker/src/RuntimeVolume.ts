/** The runtime of the agent in a volume of the daemon: one for each version, which all containers mount read-only. */
import type { RuntimeArchive } from "@atelier/provisioner/container"
import { Clock, Duration, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Readable } from "node:stream"
import { type DaemonError, type DockerDaemon, isMissing } from "./DockerDaemon.js"
import { type Labels, labels, ownLabels } from "./Labels.js"
import { fillLimit, makeRuntimeHelpers, mark } from "./RuntimeHelpers.js"
import { tarOf } from "./Tar.js"

/** Between two looks at the filling of another process. */
const lookAgain = Duration.millis(250)

export const makeRuntimeVolume = (daemon: DockerDaemon, deployment: string, archive: Effect.Effect<RuntimeArchive, DaemonError>) => {
  const own: Labels = { ...ownLabels(deployment), [labels.part]: "runtime" }
  const { helper, helperOf, isComplete, put, remove } = makeRuntimeHelpers(daemon, own)
  const one = Effect.unsafeMakeSemaphore(1)
  /** Volumes that this process has seen filled. */
  const filled = new Set<string>()

  const exists = (name: string): Effect.Effect<boolean, DaemonError> =>
    daemon
      .call("the volume of the runtime cannot be read", (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal }))
      .pipe(
        Effect.as(true),
        Effect.catchIf(isMissing, () => Effect.succeed(false))
      )

  /** Whether the volume was filled. What a killed process has left of its filling keeps no other from the answer. */
  const isFilled = (name: string, image: string): Effect.Effect<boolean, DaemonError> =>
    Effect.acquireUseRelease(
      helper(`${name}.${randomUUID()}`, name, image),
      (container) => (container === undefined ? Effect.succeed(false) : isComplete(container)),
      (container) => (container === undefined ? Effect.void : Effect.ignoreLogged(remove(container)))
    )

  const fill = (name: string, image: string, { tar }: RuntimeArchive): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      yield* daemon.call("the volume of the runtime cannot be made", (docker, abortSignal) =>
        docker.createVolume({ Name: name, Labels: { ...own }, abortSignal })
      )
      if (yield* isFilled(name, image)) return
      const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(fillLimit)
      for (let waitsFor: string | undefined; ;) {
        // The name of the container lets one process at a time fill it
        const isDone = yield* Effect.acquireUseRelease(
          helper(name, name, image),
          (container) =>
            container === undefined
              ? Effect.succeed(false)
              : Effect.gen(function* () {
                  if (yield* isComplete(container)) return true
                  yield* put(container, tar)
                  const marked = yield* tarOf([{ path: mark, bytes: new Uint8Array(0), mode: 0o444 }])
                  yield* put(container, () => Readable.from([marked], { objectMode: false }))
                  return true
                }),
          (container) => (container === undefined ? Effect.void : Effect.ignoreLogged(remove(container)))
        )
        if (isDone) return
        const other = yield* helperOf(name)
        waitsFor ??= other
        // The process that made it was killed, or the daemon does not answer it
        if (other !== undefined && other === waitsFor && (yield* Clock.currentTimeMillis) >= until) yield* remove(other)
        if (other !== waitsFor) waitsFor = undefined
        yield* Effect.sleep(lookAgain)
      }
    })

  /** Whether this process has seen the volume filled, and no operator has removed it since. */
  const isKnown = (name: string): Effect.Effect<boolean, DaemonError> =>
    Effect.suspend(() => (filled.has(name) ? exists(name) : Effect.succeed(false)))

  /** Returns the name of a volume that has the runtime. `image` answers any that the daemon has: it is asked where the volume has to be filled. */
  const ensure = (image: Effect.Effect<string, DaemonError>): Effect.Effect<string, DaemonError> =>
    Effect.gen(function* () {
      const content = yield* archive
      const name = `atelier-${deployment}-runtime-${content.version}`
      if (yield* isKnown(name)) return name
      // Before the turn: a pull may take long, and others wait for theirs
      const id = yield* image
      yield* one.withPermits(1)(
        Effect.gen(function* () {
          if (yield* isKnown(name)) return
          yield* fill(name, id, content)
          filled.add(name)
        })
      )
      return name
    })

  return { ensure }
}

export type RuntimeVolume = ReturnType<typeof makeRuntimeVolume>
