/** Builds of workspaces: begin them, show their log, and wait for their end. */
import { AtelierError, type Client, type Workspace, type WorkspaceBuild } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import * as workspaces from "@atelier/client/workspaces"
import { exitCodes, Failure, Interrupted } from "../Failure.js"
import { patiently } from "../requests/patiently.js"
import type { Session } from "../Session.js"
import { agentsOf } from "./find.js"

/** Shows a build's log until its end, and returns it. Fails if it has not succeeded. */
export const followBuild = async (client: Client, { id }: Pick<WorkspaceBuild, "id">, session: Session): Promise<WorkspaceBuild> => {
  const { out, signal } = session
  let stage = ""
  for await (const line of builds.followWorkspaceBuildLogs(client, { workspacebuild: id }, { signal })) {
    if (line.stage !== stage) out.log(`==> ${line.stage}`)
    stage = line.stage
    if (line.output !== "") out.log(`    ${line.output}`)
  }
  const build = await patiently(() => builds.getWorkspaceBuild(client, { workspacebuild: id }, { signal }), signal)
  const { job } = build
  if (job.status === "succeeded") return build
  throw new Failure({
    message:
      job.status === "canceled"
        ? "The build was canceled."
        : `The build has failed: ${job.error === undefined || job.error === "" ? job.status : job.error}`,
    hint: `"${session.program} logs ${build.workspace_owner_name}/${build.workspace_name}" shows the whole log.`
  })
}

/** Tells an interrupted user that the service goes on. */
export const continuing = async <A>(workspace: Workspace, session: Session, work: Promise<A>): Promise<A> => {
  try {
    return await work
  } catch (error) {
    if (!session.signal.aborted) throw error
    const name = `${workspace.owner_name}/${workspace.name}`
    throw new Interrupted(`The service goes on. "${session.program} logs -f ${name}" follows it.`)
  }
}

/** Tells the user of startup scripts that have not succeeded: the workspace runs all the same. */
const tellStartErrors = (workspace: Workspace, { out, program }: Session): void => {
  for (const { lifecycle_state, name } of agentsOf(workspace)) {
    if (lifecycle_state !== "start_error" && lifecycle_state !== "start_timeout") continue
    const problem = lifecycle_state === "start_error" ? "has failed" : "takes longer than it may"
    const place = `${workspace.owner_name}/${workspace.name}.${name}`
    out.warn(`the startup script of the agent ${name} ${problem}. "${program} logs ${place} --only agent" shows its output.`)
  }
}

/** Waits until commands can run in a workspace that is built, and returns it as it is then. */
export const untilReady = async (client: Client, workspace: string, session: Session): Promise<Workspace> => {
  const { out, signal } = session
  const read = () => patiently(() => workspaces.getWorkspace(client, { workspace }, { signal }), signal)
  const built = await read()
  if (agentsOf(built).length === 0) return built
  await out.waiting(
    "Waiting for the agent",
    patiently(() => client.sandboxes.get(workspace, { signal }), signal)
  )
  const ready = await read()
  tellStartErrors(ready, session)
  return ready
}

export type Change = Parameters<typeof builds.createWorkspaceBuild>[1]["body"]

/** The build that is under way in a workspace. */
export const underWay = ({ latest_build }: Workspace): WorkspaceBuild | undefined =>
  ["pending", "starting", "stopping", "canceling", "deleting"].includes(latest_build.status) ? latest_build : undefined

/** Whether a build is the one that a change asks for. A change that asks for more than the transition and the version asks for a build of its own. */
const isAsked = (build: WorkspaceBuild, change: Change): boolean => {
  const { on_success, orphan = false, rich_parameter_values = [], template_version_id = build.template_version_id, transition } = change
  const isSame = build.transition === transition && build.template_version_id === template_version_id
  return isSame && on_success === undefined && !orphan && rich_parameter_values.length === 0
}

/** Begins a build after the one that is under way. If the service has begun an equal build in that time, as in a restart, that build is returned. */
export const beginBuild = async (client: Client, workspace: Workspace, body: Change, session: Session): Promise<WorkspaceBuild> => {
  const { out, signal } = session
  for (let before = underWay(workspace); ;) {
    if (before !== undefined) {
      out.say(`Waiting for the build that is under way (${before.transition}).`)
      // Its failure does not matter for the next one
      await followBuild(client, before, session).catch((error: unknown) => {
        if (!(error instanceof Failure)) throw error
      })
    }
    try {
      return await builds.createWorkspaceBuild(client, { workspace: workspace.id, body: { reason: "cli", ...body } }, { signal })
    } catch (error) {
      if (!(error instanceof AtelierError) || error.status !== 409) throw error
      before = underWay(await workspaces.getWorkspace(client, { workspace: workspace.id }, { signal }))
      if (before === undefined) throw error
      if (isAsked(before, body)) return before
    }
  }
}

/** Waits until a workspace is gone; the build's own log may be gone before its end is read. */
export const followDeletion = async (client: Client, build: WorkspaceBuild, session: Session): Promise<void> => {
  try {
    await followBuild(client, build, session)
  } catch (error) {
    if (error instanceof AtelierError && (error.status === 404 || error.status === 410)) return
    if (error instanceof Failure && error.code === exitCodes.notFound) return
    throw error
  }
}
