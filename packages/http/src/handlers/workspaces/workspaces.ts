import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Feed, type Uuid } from "@atelier/core/platform"
import { WorkspaceBuildCreation, WorkspaceBuilds, WorkspaceCreation, Workspaces, type WorkspaceView } from "@atelier/core/workspaces"
import { Cause, Effect, Exit, Option } from "effect"
import * as contract from "../../contract/workspaces/workspaces.js"
import { Workspace } from "../../contract/workspaces/workspaces.js"
import { StoreFaults } from "../../server/operate/StoreFaults.js"
import { eventSocketOrEvents, type ServerEvent, serverSentEvents } from "../../sockets/events.js"
import * as Handlers from "../Handlers.js"
import { answerJobLogs } from "../provisioning/jobLogs.js"

export const workspaces = Handlers.group(contract.workspaces, (handlers) =>
  Effect.gen(function* () {
    const creation = yield* WorkspaceCreation
    const workspaces = yield* Workspaces
    const faults = yield* StoreFaults

    /** A view that cannot be read is an event too. */
    const eventOf = (view: Exit.Exit<WorkspaceView, unknown>): Effect.Effect<ServerEvent<WorkspaceView>> => {
      if (Exit.isSuccess(view)) return Effect.succeed({ type: "data", data: view.value })
      return Option.match(Cause.failureOption(view.cause), {
        onNone: () => Effect.map(faults.refusalOf(view.cause, "a watched workspace cannot be read"), (error) => ({ type: "error", error })),
        onSome: (error) => Effect.succeed({ type: "error", error })
      })
    }

    /** A sign of life, then the workspace, and again whenever it changes. */
    const watch = (id: Uuid.Uuid) =>
      Effect.map(workspaces.watch(id), ({ right, values }) => ({
        right,
        values: Feed.startWith(Feed.mapEffect(values, eventOf), { type: "ping" } as const)
      }))

    return handlers
      .handle("createMemberWorkspace", ({ path, payload }) => creation.create(path, payload))
      .handle("createWorkspace", ({ path, payload }) => creation.create(path, payload))
      .handle("listWorkspaces", ({ urlParams }) => workspaces.list(urlParams.q, urlParams))
      .handle("getWorkspace", ({ path, urlParams }) => workspaces.get(path.workspace, { includeDeleted: urlParams.include_deleted }))
      .handle("getWorkspaceByName", ({ path, urlParams }) =>
        workspaces.getByName(path.user, path.workspacename, { includeDeleted: urlParams.include_deleted })
      )
      .handle("updateWorkspace", ({ path, payload }) => workspaces.rename(path.workspace, payload.name))
      .handle("watchWorkspace", ({ path }) => Effect.flatMap(watch(path.workspace), (events) => serverSentEvents(Workspace, events)))
      .handle("watchWorkspaceSocket", ({ path, request }) =>
        Effect.flatMap(watch(path.workspace), (events) => eventSocketOrEvents(request, Workspace, events))
      )
  })
)

export const builds = Handlers.group(contract.builds, (handlers) =>
  Effect.map(Effect.all([WorkspaceBuilds, WorkspaceBuildCreation]), ([builds, creation]) =>
    handlers
      .handle("createWorkspaceBuild", ({ path, payload }) =>
        creation.create(path.workspace, {
          ...payload,
          log_level: payload.log_level || undefined,
          reason: payload.reason || undefined
        })
      )
      .handle("listWorkspaceBuilds", ({ path, urlParams }) => builds.list(path.workspace, urlParams))
      .handle("getWorkspaceBuildByNumber", ({ path }) => builds.getByNumber(path.user, path.workspacename, path.buildnumber))
      .handle("getWorkspaceBuild", ({ path }) => builds.get(path.workspacebuild))
      .handle("getWorkspaceBuildParameters", ({ path }) => builds.parameters(path.workspacebuild))
      .handle("getWorkspaceBuildResources", ({ path }) => builds.resources(path.workspacebuild))
      .handle("getWorkspaceBuildState", ({ path }) =>
        Effect.map(builds.state(path.workspacebuild), (state) =>
          HttpServerResponse.uint8Array(state, { status: 200, contentType: "application/json" })
        )
      )
      .handle("getWorkspaceBuildLogs", ({ path, request, urlParams }) =>
        answerJobLogs({
          request,
          format: urlParams.format,
          read: builds.logs(path.workspacebuild, urlParams.after),
          follow: builds.followLogs(path.workspacebuild, urlParams.after)
        })
      )
      .handle("cancelWorkspaceBuild", ({ path, urlParams }) =>
        Effect.as(builds.cancel(path.workspacebuild, { expectStatus: urlParams.expect_status }), {
          message: "Job has been marked as canceled..."
        })
      )
  )
)
