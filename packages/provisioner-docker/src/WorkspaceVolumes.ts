/** The volumes of workspaces at one daemon, among them those that reserve ports of the machine's network. */
import type { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { type DaemonError, type DockerDaemon, isMissing } from "./DockerDaemon.js"
import { type Labels, labels, ownLabels, withLabels } from "./Labels.js"

/** How often a port is asked for again that has just become free. */
const reservations = 5

/** A volume as the daemon lists it. */
export interface FoundVolume {
  readonly name: string
  readonly labels: Labels
  /** Milliseconds since 1970, by the daemon's clock. */
  readonly createdAt: number
}

export const makeWorkspaceVolumes = (daemon: DockerDaemon, deployment: string) => {
  /** Makes a volume, or finds the one of this name. */
  const ensure = (name: string, own: Labels, size: number | undefined): Effect.Effect<void, DaemonError> =>
    Effect.asVoid(
      Effect.uninterruptible(
        daemon.call(`the volume ${name} cannot be made`, (docker, abortSignal) =>
          docker.createVolume({
            Name: name,
            Labels: { ...ownLabels(deployment), ...own },
            ...(size === undefined ? {} : { DriverOpts: { size: String(size) } }),
            abortSignal
          })
        )
      )
    )

  const list = (wanted: Labels): Effect.Effect<ReadonlyArray<FoundVolume>, DaemonError> =>
    Effect.map(
      daemon.call("the volumes cannot be listed", (docker, abortSignal) =>
        docker.listVolumes({ filters: withLabels(wanted), abortSignal })
      ),
      (found) =>
        (found.Volumes ?? []).map((volume) => ({
          name: volume.Name,
          labels: volume.Labels ?? {},
          createdAt: Date.parse(String(Reflect.get(volume, "CreatedAt")))
        }))
    )

  const remove = (name: string): Effect.Effect<void, DaemonError> =>
    daemon
      .call(`the volume ${name} cannot be removed`, (docker, abortSignal) => docker.getVolume(name).remove({ force: false, abortSignal }))
      .pipe(
        Effect.catchIf(isMissing, () => Effect.void),
        Effect.asVoid
      )

  /**
   * Reserves a port of the machine's network for a workspace, by a volume of the port's name: the daemon makes each name only once. Returns the workspace that
   * has the port. The next stop of the workspace removes the volume.
   */
  const reservePort = (workspaceId: Uuid.Uuid, port: number): Effect.Effect<string, DaemonError> => {
    const name = `atelier-port-${port}`
    const own = { [labels.workspace]: workspaceId, [labels.part]: "port", [labels.keep]: "false" }
    return ensure(name, own, undefined).pipe(
      Effect.zipRight(
        daemon.call(`the volume ${name} cannot be read`, (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal }))
      ),
      // A stop of the workspace that had it may remove it between the two calls
      Effect.retry({ times: reservations, while: isMissing }),
      Effect.map(({ Labels: found }) => found?.[labels.workspace] ?? "")
    )
  }

  return { ensure, list, remove, reservePort }
}

export type WorkspaceVolumes = ReturnType<typeof makeWorkspaceVolumes>
