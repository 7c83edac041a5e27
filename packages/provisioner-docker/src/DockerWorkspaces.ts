/** The workspaces of a deployment at one Docker daemon: what builds, the recovery and the sweep do to them. */
import { makeKeyedLock, Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { tokenEntries } from "./AgentFiles.js"
import type { StartInput, StartOptions } from "./Attempt.js"
import type { DaemonError, DockerDaemon } from "./DockerDaemon.js"
import type { Say } from "./Images.js"
import type { ImageUsers } from "./ImageUsers.js"
import { containerName, labels } from "./Labels.js"
import { machinePorts } from "./MachinePorts.js"
import type { Networks } from "./Networks.js"
import { tarOf } from "./Tar.js"
import { sweeps } from "./Sweep.js"
import type { FoundContainer, WorkspaceContainers } from "./WorkspaceContainers.js"
import type { Started, Starts } from "./WorkspaceStart.js"
import type { WorkspaceVolumes } from "./WorkspaceVolumes.js"

/** A workspace that should run. */
export interface ExpectedWorkspace {
  readonly workspace_id: Uuid.Uuid
  /** The build that made its containers, or took them over. */
  readonly builds: ReadonlyArray<Uuid.Uuid>
  readonly agents: ReadonlyArray<string>
}

const concurrency = 4

interface AgentToken {
  /** Of the agent. */
  readonly name: string
  readonly token: string
}

interface Needs {
  readonly daemon: DockerDaemon
  readonly containers: WorkspaceContainers
  readonly volumes: WorkspaceVolumes
  readonly users: ImageUsers
  readonly networks: Pick<Networks, "isShared">
  readonly starts: Starts
  readonly options: StartOptions
}

/** The container of an agent that one of these builds has made, or taken over. */
const agentOf = (workspaceId: Uuid.Uuid, found: ReadonlyArray<FoundContainer>, name: string, builds: ReadonlyArray<string>) =>
  found.find(
    ({ labels: own, name: container }) =>
      container === containerName(workspaceId, name) && own[labels.part] === "agent" && builds.some((build) => own[labels.build] === build)
  )

export const makeDockerWorkspaces = (needs: Needs) => {
  const { containers, options, starts, users, volumes } = needs
  const locked = makeKeyedLock<Uuid.Uuid>()
  const ofWorkspace = (workspaceId: Uuid.Uuid) => containers.list(containers.ofWorkspace(workspaceId))

  const start = (input: StartInput, say: Say): Effect.Effect<Started, DaemonError> =>
    locked(input.workspace_id)(
      Effect.all([ofWorkspace(input.workspace_id), volumes.list(containers.ofWorkspace(input.workspace_id))], {
        concurrency: "unbounded"
      }).pipe(Effect.flatMap(([found, known]) => starts.start(input, { containers: found, volumes: known }, say)))
    )

  /** Removes volumes of a workspace without containers: all, or those whose content no stop outlives. */
  const removeVolumes = (workspaceId: Uuid.Uuid, which: "all" | "temporary") =>
    Effect.gen(function* () {
      const found = yield* volumes.list(containers.ofWorkspace(workspaceId))
      const removed = found.filter(({ labels: own }) => which === "all" || own[labels.keep] === "false")
      yield* Effect.forEach(removed, ({ name }) => volumes.remove(name), { concurrency, discard: true })
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
        const again = ({ id }: FoundContainer) => Effect.zipRight(containers.stop(id, options.stopGrace), containers.start(id))
        yield* Effect.forEach(found, again, { concurrency, discard: true })
      })
    )

  return { start, portFor: machinePorts(needs), stop, remove, runs, adopt, revive, rejoin, sweep: sweeps(needs) }
}

export type DockerWorkspaces = ReturnType<typeof makeDockerWorkspaces>
