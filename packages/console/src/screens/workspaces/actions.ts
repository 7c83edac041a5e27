/** What a user can do to a workspace. */
import { AtelierError, type Workspace } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import * as templateVersions from "@atelier/client/templateVersions"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { asAtelierError, client, statusOf } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { actionsText } from "../../texts/workspaces.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"

export type Action = "start" | "stop" | "restart" | "update" | "delete"

const reason = "dashboard"

type Body = builds.CreateWorkspaceBuildInput["body"]

const build = (workspace: string, body: Body) => builds.createWorkspaceBuild(client, { workspace, body: { ...body, reason } })

/** The server queues the start that follows a stop, also if the page is closed before: with the template's active version, unless one is named. */
const stopThenStart = (workspace: string, parameters: Body["rich_parameter_values"], version?: string) =>
  build(workspace, {
    transition: "stop",
    on_success: {
      transition: "start",
      ...(parameters === undefined ? {} : { rich_parameter_values: parameters }),
      ...(version === undefined ? {} : { template_version_id: version })
    }
  })

/** Asks before the page is left while it has to do something. */
const whileOpen = async <A>(work: () => Promise<A>): Promise<A> => {
  const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
  addEventListener("beforeunload", ask)
  try {
    return await work()
  } finally {
    removeEventListener("beforeunload", ask)
  }
}

/** Fails where a start with the active version would be refused: the server does not look at the values of a start that follows a stop before. */
const requireValues = async ({ latest_build, owner_id, template_active_version_id }: Workspace): Promise<void> => {
  const values = await builds.getWorkspaceBuildParameters(client, { workspacebuild: latest_build.id })
  const { parameters } = await templateVersions.evaluateDynamicParameters(client, {
    templateversion: template_active_version_id,
    body: { owner_id, inputs: Object.fromEntries(values.map(({ name, value }) => [name, value])) }
  })
  const validations = (parameters ?? []).flatMap(({ diagnostics, name }) =>
    (diagnostics ?? []).filter(({ severity }) => severity === "error").map(({ summary }) => ({ field: name, detail: summary }))
  )
  if (validations.length > 0) throw new AtelierError({ status: 400, message: actionsText.valuesMissing, validations })
}

/** Starts a workspace again with the version that it has, and with other values of its parameters if some are given. */
export const restart = async (workspace: Workspace, parameters?: Body["rich_parameter_values"]): Promise<unknown> => {
  const { id, latest_build, name, outdated } = workspace
  const start: Body = { transition: "start", ...(parameters === undefined ? {} : { rich_parameter_values: parameters }) }
  if (latest_build.status !== "running") return build(id, start)
  if (!outdated) return stopThenStart(id, parameters)
  try {
    return await stopThenStart(id, parameters, latest_build.template_version_id)
  } catch (error) {
    // Later, the server starts another version than the active one only for users who may change the template
    if (statusOf(error) !== 403) throw error
  }
  notify(actionsText.stayHere(name))
  return whileOpen(async () => {
    const stop = await build(id, { transition: "stop" })
    for await (const line of builds.followWorkspaceBuildLogs(client, { workspacebuild: stop.id })) void line
    const { job } = await builds.getWorkspaceBuild(client, { workspacebuild: stop.id })
    if (job.status !== "succeeded") throw new AtelierError({ status: 409, message: actionsText.notStopped, detail: job.error })
    return build(id, start)
  })
}

/** Starts a workspace with the newest version of its template. */
export const update = async (workspace: Workspace, parameters?: Body["rich_parameter_values"]): Promise<unknown> => {
  const { id, latest_build, template_active_version_id } = workspace
  if (latest_build.status === "running") {
    if (parameters === undefined) await requireValues(workspace)
    return stopThenStart(id, parameters)
  }
  return build(id, {
    transition: "start",
    template_version_id: template_active_version_id,
    ...(parameters === undefined ? {} : { rich_parameter_values: parameters })
  })
}

/** Starts the build of an action. */
export const begin = (workspace: Workspace, action: Action, orphan = false): Promise<unknown> => {
  switch (action) {
    case "start":
      return build(workspace.id, { transition: "start" })
    case "stop":
      return build(workspace.id, { transition: "stop" })
    case "restart":
      return restart(workspace)
    case "update":
      return update(workspace)
    case "delete":
      return build(workspace.id, { transition: "delete", ...(orphan ? { orphan } : {}) })
  }
}

const said: Readonly<Record<Action, (name: string) => string>> = {
  start: actionsText.started,
  stop: actionsText.stopped,
  restart: actionsText.restarted,
  update: actionsText.updated,
  delete: actionsText.deleted
}

const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ["workspaces"] })

/** Begins an action, and says so. A newer version may ask for parameters that the workspace has not: their form opens. */
export const useAction = () => {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: ({ action, workspace }: { readonly workspace: Workspace; readonly action: Action }) => begin(workspace, action),
    onSuccess: (_, { action, workspace }) => {
      notify(said[action](workspace.name))
      return refresh()
    },
    onError: (error, { action, workspace: { name, owner_name } }) => {
      if (action !== "update" || asAtelierError(error).validations.length === 0) return notifyError(error)
      return navigate({
        to: "/@{$owner}/$workspace/settings/parameters",
        params: { owner: owner_name, workspace: name },
        search: { update: true }
      })
    }
  })
}

const atOnce = 4

/** Begins an action of many workspaces, some at a time, and says how many were refused. */
export const useActions = () =>
  useMutation({
    mutationFn: async ({ action, chosen }: { readonly chosen: ReadonlyArray<Workspace>; readonly action: Action }) => {
      const waiting = [...chosen]
      const refusals: Array<unknown> = []
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          await begin(next, action).catch((error: unknown) => {
            // The session is over: the others would be refused as well
            if (statusOf(error) === 401) throw error
            refusals.push(error)
          })
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return refusals
    },
    onSuccess: (refusals, { action, chosen }) => {
      const done = chosen.length - refusals.length
      if (done > 0) notify(said[action](actionsText.many(done, refusals.length)))
      else if (refusals.length > 0) notifyError(refusals[0])
      return refresh()
    },
    onError: notifyError
  })

export const useFavorite = () =>
  useMutation({
    mutationFn: ({ favorite, id }: Workspace) =>
      favorite
        ? workspaceSettings.removeFavoriteWorkspace(client, { workspace: id })
        : workspaceSettings.addFavoriteWorkspace(client, { workspace: id }),
    onSuccess: refresh,
    onError: notifyError
  })

export const useCancelBuild = () =>
  useMutation({
    mutationFn: ({ latest_build }: Workspace) => builds.cancelWorkspaceBuild(client, { workspacebuild: latest_build.id }),
    onSuccess: (_, { name }) => {
      notify(actionsText.canceled(name))
      return refresh()
    },
    onError: notifyError
  })

export const useWake = () =>
  useMutation({
    mutationFn: ({ id }: Workspace) => workspaceSettings.setWorkspaceDormant(client, { workspace: id, body: { dormant: false } }),
    onSuccess: refresh,
    onError: notifyError
  })
