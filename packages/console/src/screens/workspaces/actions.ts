/** What a user can do to a workspace. */
import type { Workspace } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { asAtelierError, client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { actionsText } from "../../texts/workspaces.js"
import { notify, notifyError } from "../../ui/Toast.js"

export type Action = "start" | "stop" | "restart" | "update" | "delete"

const reason = "dashboard"

/** Starts the build of an action. A restart and an update of a running workspace are two builds, of which the server starts the second by itself. */
export const begin = ({ id, latest_build, template_active_version_id }: Workspace, action: Action, orphan = false): Promise<unknown> => {
  const build = (body: builds.CreateWorkspaceBuildInput["body"]) =>
    builds.createWorkspaceBuild(client, { workspace: id, body: { ...body, reason } })
  const isRunning = latest_build.status === "running"
  switch (action) {
    case "start":
      return build({ transition: "start" })
    case "stop":
      return build({ transition: "stop" })
    case "restart":
      return isRunning ? build({ transition: "stop", on_success: { transition: "start" } }) : build({ transition: "start" })
    case "update":
      return isRunning
        ? build({ transition: "stop", on_success: { transition: "start", template_version_id: template_active_version_id } })
        : build({ transition: "start", template_version_id: template_active_version_id })
    case "delete":
      return build({ transition: "delete", ...(orphan ? { orphan } : {}) })
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
          await begin(next, action).catch((error: unknown) => refusals.push(error))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return refusals
    },
    onSuccess: (refusals, { action, chosen }) => {
      const done = chosen.length - refusals.length
      if (done > 0) notify(said[action](actionsText.many(done, refusals.length)))
      else notifyError(refusals[0])
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
