/** The workspaces of a deployment at one Docker daemon: what builds, the recovery and the sweep do to them. */
import { makeKeyedLock, Uuid } from "@atelier/core/platform"
import { Clock, Duration, Effect } from "effect"
import { tokenEntries } from "./AgentFiles.js"
import type { StartInput, StartOptions } from "./Attempt.js"
import { DaemonError, type DockerDaemon, isConflict } from "./DockerDaemon.js"
import type { Say } from "./Images.js"
import type { ImageUsers } from "./ImageUsers.js"
import { containerName, labels } from "./Labels.js"
import { portOf } from "./MachinePorts.js"
import type { Networks } from "./Networks.js"
import { tarOf } from "./Tar.js"
import type { FoundContainer, WorkspaceContainers } from "./WorkspaceContainers.js"
import type { Started, Starts } from "./WorkspaceStart.js"

/** A workspace that should run. */
export interface ExpectedWorkspace {
  readonly workspace_id: Uuid.Uuid
  /** The build that made its containers, or took them over. */
  readonly builds: ReadonlyArray<Uuid.Uuid>
  readonly agents: ReadonlyArray<string>
}

/** How long a removed thing has to be there until a sweep counts it as left behind. */
const sweepAge = Duration.minutes(5)

/** How long images that the engine has built are kept without a container. */
const imageAge = "168h"

const concurrency = 4

/** Ports that are asked for until one is free: of those that others hold, the daemon's containers tell most. */
const portAttempts = 100

interface AgentToken {
  /** Of the agent. */
  readonly name: string
  readonly token: string
}

/** Which ids of workspaces or builds the service says something of. */
type Known = (ids: ReadonlyArray<Uuid.Uuid>) => Effect.Effect<ReadonlySet<Uuid.Uuid>>

interface Needs {
  readonly daemon: DockerDaemon
  readonly containers: WorkspaceContainers
  readonly users: ImageUsers
  readonly networks: Pick<Networks, "isShared">
  readonly starts: Starts
  readonly options: StartOptions
}

export const makeDockerWorkspaces = ({ containers, daemon, networks, options, starts, users }: Needs) => {
  const locked = makeKeyedLock<Uuid.Uuid>()
  const ofWorkspace = (workspaceId: Uuid.Uuid) => containers.list(containers.ofWorkspace(workspaceId))

  const start = (input: StartInput, say: Say): Effect.Effect<Started, DaemonError> =>
    locked(input.workspace_id)(
      Effect.all([ofWorkspace(input.workspace_id), containers.volumes(containers.ofWorkspace(input.workspace_id))], {
        concurrency: "unbounded"
      }).pipe(
        Effect.flatMap(([found, volumes]) =>
          starts.start(input, { containers: found, volumes: new Set(volumes.map(({ name }) => name)) }, say)
        )
      )
    )

  /** The port that a workspace has for itself where it has the network of the daemon's machine; undefined elsewhere. */
  const portFor = (workspaceId: Uuid.Uuid): Effect.Effect<number | undefined, DaemonError> =>
    Effect.gen(function* () {
      if (!(yield* networks.isShared)) return undefined
      const taken = new Map(yield* containers.takenPorts)
      for (let attempt = 0; attempt < portAttempts; attempt++) {
        const port = portOf(workspaceId, taken)
        const holder = yield* containers.reservePort(workspaceId, port)
        if (holder === workspaceId) return port
        // A workspace whose containers are not made yet, or another service's
        taken.set(`${holder} ${port}`, port)
      }
      return yield* new DaemonError({ message: "no port of the machine's network is free for the workspace" })
    })

  /** Removes volumes of a workspace without containers: all, or those whose content no stop outlives. */
  const removeVolumes = (workspaceId: Uuid.Uuid, which: "all" | "temporary") =>
    Effect.gen(function* () {
      const found = yield* containers.volumes(containers.ofWorkspace(workspaceId))
      const removed = found.filter(({ labels: own }) => which === "all" || own[labels.keep] === "false")
      yield* Effect.forEach(removed, ({ name }) => containers.removeVolume(name), { concurrency, discard: true })
      return found.length - removed.length
    })

  const end = (workspaceId: Uuid.Uuid) => Effect.flatMap(ofWorkspace(workspaceId), (found) => containers.endAll(found, options.stopGrace))

  /** Ends the workspace's containers, and removes what no stop outlives. Doing it twice is fine. */
  const stop = (workspaceId: Uuid.Uuid, say: Say): Effect.Effect<void, DaemonError> =>
    locked(workspaceId)(
      end(workspaceId).pipe(
        Effect.zipRight(removeVolumes(workspaceId, "temporary")),
        Effect.zipRight(say("All containers of the workspace have ended."))
      )
    )

  /** Ends the workspace's containers, and removes its volumes. With `keepsFiles`, those that outlive a stop stay. */
  const remove = (workspaceId: Uuid.Uuid, keepsFiles: boolean, say: Say): Effect.Effect<void, DaemonError> =>
    locked(workspaceId)(
      end(workspaceId).pipe(
        Effect.zipRight(removeVolumes(workspaceId, keepsFiles ? "temporary" : "all")),
        Effect.flatMap((left) =>
          say(left === 0 ? "The workspace's containers and volumes have been removed." : `The workspace's volumes stay: ${left}.`)
        )
      )
    )

  const agentOf = (workspaceId: Uuid.Uuid, found: ReadonlyArray<FoundContainer>, name: string, builds: ReadonlyArray<string>) =>
    found.find(
      ({ labels: own, name: container }) =>
        container === containerName(workspaceId, name) &&
        own[labels.part] === "agent" &&
        builds.some((build) => own[labels.build] === build)
    )

  /** Whether all agents of a workspace run in containers of one of these builds. */
  const runs = ({ agents, builds, workspace_id }: ExpectedWorkspace): Effect.Effect<boolean, DaemonError> =>
    Effect.map(ofWorkspace(workspace_id), (found) => agents.every((name) => agentOf(workspace_id, found, name, builds)?.isRunning === true))

  /** Writes the token that an agent begins with when its container is started. */
  const writeToken = (container: FoundContainer, token: string): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      const info = yield* containers.inspect(container.id)
      if (info === undefined) return
      const user = yield* users.of({ id: info.Image, user: info.Config.User }, undefined, `${container.name}.user`, container.labels)
      yield* containers.write(container.id, "/", yield* tarOf(tokenEntries(token, user)))
    })

  /** Writes the new tokens of a workspace that was handed over, for agents that are started again. */
  const adopt = ({ builds, workspace_id }: ExpectedWorkspace, tokens: ReadonlyArray<AgentToken>): Effect.Effect<void, DaemonError> =>
    locked(workspace_id)(
      Effect.gen(function* () {
        const found = yield* ofWorkspace(workspace_id)
        yield* Effect.forEach(
          tokens,
          ({ name, token }) => {
            // Another build may have made the workspace anew since
            const container = agentOf(workspace_id, found, name, builds)
            return container === undefined ? Effect.void : writeToken(container, token)
          },
          { concurrency, discard: true }
        )
      })
    )

  /**
   * Starts the containers of a workspace that should run and does not, as they are. Tokens are those of a workspace that was handed over: a crash may have
   * kept them from the containers. Returns the agents whose containers are gone, which the next start of the workspace makes anew.
   */
  const revive = (expected: ExpectedWorkspace, tokens: ReadonlyArray<AgentToken>): Effect.Effect<ReadonlyArray<string>, DaemonError> =>
    locked(expected.workspace_id)(
      Effect.gen(function* () {
        const found = yield* ofWorkspace(expected.workspace_id)
        const gone: Array<string> = []
        for (const name of expected.agents) {
          const agent = agentOf(expected.workspace_id, found, name, expected.builds)
          if (agent === undefined) {
            gone.push(name)
            continue
          }
          const besides = found.filter(({ labels: own }) => own[labels.part] === "sidecar" && own[labels.agent] === name)
          const token = tokens.find((one) => one.name === name)
          // One that runs too: its agent may be started again by the daemon
          if (token !== undefined) yield* writeToken(agent, token.token)
          if (!agent.isRunning) yield* containers.start(agent.id)
          // A container beside an agent has lost its network with the agent's last container
          for (const { id, isRunning } of besides) {
            if (isRunning && !agent.isRunning) yield* containers.stop(id, options.stopGrace)
            if (!isRunning || !agent.isRunning) yield* containers.start(id)
          }
        }
        return gone
      })
    )

  /** Starts the containers beside an agent again, whose own container has begun anew with another network. */
  const rejoin = (workspaceId: Uuid.Uuid, agent: string): Effect.Effect<void, DaemonError> =>
    locked(workspaceId)(
      Effect.gen(function* () {
        const found = (yield* ofWorkspace(workspaceId)).filter(
          ({ labels: own }) => own[labels.part] === "sidecar" && own[labels.agent] === agent
        )
        yield* Effect.forEach(found, ({ id }) => Effect.zipRight(containers.stop(id, options.stopGrace), containers.start(id)), {
          concurrency,
          discard: true
        })
      })
    )

  /** Removes the remains of deleted workspaces, and ends what runs by starts that have failed since. */
  const sweep = (exists: Known, unsuccessful: Known): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(sweepAge)
      const isOld = ({ createdAt }: { readonly createdAt: number }) => createdAt < before
      const found = (yield* containers.list(containers.ours)).filter(isOld)
      const volumes = (yield* containers.volumes(containers.ours)).filter(
        (volume) => isOld(volume) && volume.labels[labels.keep] === "false"
      )
      const ids = new Set([...found, ...volumes].flatMap((one) => containers.workspaceOf(one) ?? []))
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
      yield* Effect.forEach(volumes.filter(isLeft), ({ name }) => containers.removeVolume(name), { concurrency, discard: true })
      if (left.length > 0)
        yield* Effect.logInfo(`removed ${left.length} containers of workspaces that are gone, and of starts that have failed`)
      const runtimes = (yield* containers.volumes({ ...containers.ours, [labels.part]: "runtime" })).filter(isOld)
      // Those in use stay: the daemon refuses to remove them, and the newest is made again when it is needed
      yield* Effect.forEach(runtimes, ({ name }) => Effect.catchIf(containers.removeVolume(name), isConflict, () => Effect.void), {
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

  return { start, portFor, stop, remove, runs, adopt, revive, rejoin, sweep }
}

export type DockerWorkspaces = ReturnType<typeof makeDockerWorkspaces>
