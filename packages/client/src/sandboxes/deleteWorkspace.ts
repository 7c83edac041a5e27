import { AtelierError } from "../AtelierError.js"
import type { CallOptions } from "../call.js"
import type { Client } from "../Client.js"
import * as builds from "../generated/builds.js"
import * as workspaces from "../generated/workspaces.js"

const isRefused = (error: unknown, ...statuses: ReadonlyArray<number>): boolean =>
  error instanceof AtelierError && statuses.includes(error.status)

const isUnfinished = (status: string): boolean => status === "pending" || status === "running" || status === "canceling"

/** Queues the deletion of a workspace; an unfinished build is canceled first. A workspace that is gone is no failure. */
export const deleteWorkspace = async (client: Client, workspace: string, options: CallOptions = {}): Promise<void> => {
  try {
    await builds.createWorkspaceBuild(client, { workspace, body: { transition: "delete" } }, options)
    return
  } catch (error) {
    if (isRefused(error, 404, 410)) return
    if (!isRefused(error, 409)) throw error
  }
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace }, options)) {
    if (latest_build.transition === "delete" && isUnfinished(latest_build.job.status)) return
    if (isUnfinished(latest_build.job.status)) {
      if (latest_build.job.status === "canceling") continue
      // It may have ended since
      await builds.cancelWorkspaceBuild(client, { workspacebuild: latest_build.id }, options).catch((error: unknown) => {
        if (!isRefused(error, 400)) throw error
      })
      continue
    }
    await builds.createWorkspaceBuild(client, { workspace, body: { transition: "delete" } }, options)
    return
  }
}
