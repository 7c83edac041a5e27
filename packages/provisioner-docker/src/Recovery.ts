/** Takes up the workspaces of a daemon again, after the server has started. */
import type { RunningWorkspace } from "@atelier/core/provisioning"
import { type ContainerState, decodeContainerState } from "@atelier/provisioner/container"
import { Effect, Either, Option, Redacted, Stream } from "effect"
import type { DockerWorkspaces, ExpectedWorkspace } from "./DockerWorkspaces.js"
import type { Outages } from "./Outages.js"

/** Workspaces that are looked at at once. */
const concurrency = 4

/** What has to run of a workspace with this state. A workspace that was handed over runs in the containers of the build before. */
export const expectedOf = ({ agents, handed_over_from, workspace_build_id, workspace_id }: ContainerState): ExpectedWorkspace => ({
  workspace_id,
  builds: handed_over_from === undefined ? [workspace_build_id] : [workspace_build_id, handed_over_from],
  agents: agents.map(({ name }) => name)
})

interface Needs {
  readonly workspaces: Pick<DockerWorkspaces, "revive">
  readonly outages: Pick<Outages, "add">
  readonly deployment: string
}

/**
 * Starts the containers that should run and do not. A container that is gone is told of in the log of its agent: the next start of the workspace makes it
 * anew.
 */
export const recovery = ({ deployment, outages, workspaces }: Needs) => {
  const decode = decodeContainerState("docker", deployment)
  const stateOf = (bytes: Uint8Array) => Option.fromNullable(Option.getOrUndefined(Either.getRight(decode(bytes))))
  const one = ({ state }: RunningWorkspace) =>
    Effect.gen(function* () {
      const found = Option.getOrUndefined(Option.flatMap(state, stateOf))
      if (found === undefined || found.agents.length === 0) return
      const gone = yield* workspaces.revive(expectedOf(found), found.handed_over_from === undefined ? [] : found.agents)
      for (const { name, token } of found.agents) {
        if (!gone.includes(name)) continue
        const message = "The container of this agent is gone from the Docker daemon. Start the workspace again."
        outages.add({ token: Redacted.make(token), message })
      }
    }).pipe(Effect.catchAllCause((cause) => Effect.logError("a workspace cannot be recovered", cause)))
  return (running: Stream.Stream<RunningWorkspace>): Effect.Effect<void> =>
    Stream.runDrain(Stream.mapEffect(running, one, { concurrency, unordered: true }))
}
