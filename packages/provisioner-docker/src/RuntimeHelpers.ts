/** Containers that are never started: through them the engine looks into the runtime's volume, and fills it. */
import { runtimeDirectory } from "@atelier/provisioner/container"
import { Duration, Effect } from "effect"
import type { Readable } from "node:stream"
import { type DaemonError, type DockerDaemon, isConflict, isMissing } from "./DockerDaemon.js"
import type { Labels } from "./Labels.js"

/** The last file that is written: a volume without it was not filled to its end. */
export const mark = "complete"

/** How long a filling may take until it counts as given up by a process that was killed. */
export const fillLimit = Duration.minutes(2)

export const makeRuntimeHelpers = (daemon: DockerDaemon, own: Labels) => {
  const isComplete = (container: string): Effect.Effect<boolean, DaemonError> =>
    daemon
      .call("the volume of the runtime cannot be read", (docker, abortSignal) =>
        docker.getContainer(container).infoArchive({ path: `${runtimeDirectory}/${mark}`, abortSignal })
      )
      .pipe(
        Effect.as(true),
        Effect.catchIf(isMissing, () => Effect.succeed(false))
      )

  const put = (container: string, tar: () => Readable): Effect.Effect<void, DaemonError> =>
    daemon.call(
      "the runtime cannot be written",
      (docker, abortSignal) => docker.getContainer(container).putArchive(tar(), { path: runtimeDirectory, abortSignal }),
      fillLimit
    )

  const remove = (reference: string) =>
    daemon
      .call("a container cannot be removed", (docker, abortSignal) => docker.getContainer(reference).remove({ force: true, abortSignal }))
      .pipe(
        Effect.catchIf(
          (error) => isMissing(error) || isConflict(error),
          () => Effect.void
        )
      )

  /** A container that has the volume, and is never started; undefined if another one has its name. */
  const helper = (name: string, volume: string, image: string) =>
    daemon
      .call("the volume of the runtime cannot be filled", (docker, abortSignal) =>
        docker.createContainer({
          name,
          Image: image,
          Entrypoint: ["none"],
          Cmd: ["none"],
          Labels: { ...own },
          HostConfig: { NetworkMode: "none", Mounts: [{ Type: "volume", Source: volume, Target: runtimeDirectory, ReadOnly: false }] },
          abortSignal
        })
      )
      .pipe(
        Effect.map(({ id }): string | undefined => id),
        Effect.catchIf(isConflict, () => Effect.succeed(undefined))
      )

  /** When the container of another process was made, by the daemon's clock and by ours, which may differ; undefined once it is gone. */
  const helperOf = (name: string) =>
    daemon
      .call("the volume of the runtime cannot be filled", (docker, abortSignal) => docker.getContainer(name).inspect({ abortSignal }))
      .pipe(
        Effect.map(({ Id }): string | undefined => Id),
        Effect.catchIf(isMissing, () => Effect.succeed(undefined))
      )

  return { helper, helperOf, isComplete, put, remove }
}
