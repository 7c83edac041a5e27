/** Starts a workspace of the caller's own and tells what happens, from the build's log to the agents that are ready. */
import type { Client } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import * as workspaces from "@atelier/client/workspaces"

/** Returns the names of the workspace's agents. Throws an `AtelierError` if the service refuses, and an `Error` if the build fails. */
export const start = async (
  client: Client,
  name: string,
  say: (line: string) => void,
  signal?: AbortSignal
): Promise<ReadonlyArray<string>> => {
  const { id: workspace } = await workspaces.getWorkspaceByName(client, { user: "me", workspacename: name }, { signal })
  const { id: workspacebuild } = await builds.createWorkspaceBuild(client, { workspace, body: { transition: "start" } }, { signal })

  // Ends with the build, and goes on where it was if the connection is cut
  for await (const { output, stage } of builds.followWorkspaceBuildLogs(client, { workspacebuild }, { signal })) say(`${stage}: ${output}`)

  const { job, resources } = await builds.getWorkspaceBuild(client, { workspacebuild }, { signal })
  if (job.status !== "succeeded") throw new Error(`${name} could not be started: ${job.error}`)
  return resources.flatMap(({ agents }) => agents.map((agent) => agent.name))
}
