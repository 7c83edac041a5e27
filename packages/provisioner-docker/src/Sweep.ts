/** Removes what belongs to no workspace: a crash between making and noting has left it. */
import { Uuid } from "@atelier/core/platform"
import { Clock, Duration, Effect } from "effect"
import { type DaemonError, type DockerDaemon, isConflict } from "./DockerDaemon.js"
import { labels } from "./Labels.js"
import type { FoundContainer, WorkspaceContainers } from "./WorkspaceContainers.js"
import type { WorkspaceVolumes } from "./WorkspaceVolumes.js"

/** How long a removed thing has to be there until a sweep counts it as left behind. */
const sweepAge = Duration.minutes(5)

/** How long images that the engine has built are kept without a container. */
const imageAge = "168h"

const concurrency = 4

/** Which ids of workspaces or builds the service says something of. */
type Known = (ids: ReadonlyArray<Uuid.Uuid>) => Effect.Effect<ReadonlySet<Uuid.Uuid>>

interface Needs {
  readonly daemon: DockerDaemon
  readonly containers: WorkspaceContainers
  readonly volumes: WorkspaceVolumes
  readonly options: { readonly deployment: string }
}

/** Removes the remains of deleted workspaces, and ends what runs by starts that have failed since. */
export const sweeps =
  ({ containers, daemon, options, volumes }: Needs) =>
  (exists: Known, unsuccessful: Known): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(sweepAge)
      const isOld = ({ createdAt }: { readonly createdAt: number }) => createdAt < before
      const found = (yield* containers.list(containers.ours)).filter(isOld)
      const temporary = (yield* volumes.list(containers.ours)).filter((volume) => isOld(volume) && volume.labels[labels.keep] === "false")
      const ids = new Set([...found, ...temporary].flatMap((one) => containers.workspaceOf(one) ?? []))
      const existing = ids.size === 0 ? new Set<Uuid.Uuid>() : yield* exists([...ids])
      const isLeft = (one: { readonly labels: FoundContainer["labels"] }): boolean => {
        const id = containers.workspaceOf(one)
        return id !== undefined && !existing.has(id)
      }
      const builds = new Set(found.flatMap(({ labels: own }) => Uuid.parse(own[labels.build] ?? "") ?? []))
      const ended: ReadonlySet<string> = builds.size === 0 ? new Set() : yield* unsuccessful([...builds])
      const left = found.filter((container) => isLeft(container) || ended.has(container.labels[labels.build] ?? ""))
      // What a killed process has left of the filling of the runtime
      const fillers = found.filter(({ labels: own }) => own[labels.part] === "runtime")
      yield* containers.endAll([...left, ...fillers], Duration.zero)
      yield* Effect.forEach(temporary.filter(isLeft), ({ name }) => volumes.remove(name), { concurrency, discard: true })
      if (left.length > 0)
        yield* Effect.logInfo(`removed ${left.length} containers of workspaces that are gone, and of starts that have failed`)
      const runtimes = (yield* volumes.list({ ...containers.ours, [labels.part]: "runtime" })).filter(isOld)
      // Those in use stay: the daemon refuses to remove them, and the newest is made again when it is needed
      yield* Effect.forEach(runtimes, ({ name }) => Effect.catchIf(volumes.remove(name), isConflict, () => Effect.void), {
        discard: true
      })
      yield* daemon.call("images cannot be removed", (docker, abortSignal) =>
        docker.pruneImages({
          filters: {
            label: [`${labels.deployment}=${options.deployment}`, `${labels.part}=image`],
            dangling: ["false"],
            until: [imageAge]
          },
          abortSignal
        })
      )
    })
