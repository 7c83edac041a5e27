/** The page on which a user starts a workspace. */
import { CurrentActor } from "@atelier/core/access"
import { WorkspaceBuildCreation, Workspaces, type WorkspaceView } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { appPage } from "./appPage.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { withQuery } from "../server/codec/withQuery.js"
import { type Asked, type FormPages, pair } from "./forms.js"
import { seeOther } from "./PageOptions.js"
import { text } from "./text.js"

/** The path of the page, below the mount's prefix. */
export const startPath = (user: string, workspace: string): string => `/@${encodeURIComponent(user)}/${encodeURIComponent(workspace)}/start`

/** Whether a start has nothing to do. */
const isStarted = ({ latest_build }: WorkspaceView): boolean => ["pending", "starting", "running"].includes(latest_build.status)

export const startPage = ({ buttonPage, mount, served, settings, submitted }: FormPages) =>
  Effect.gen(function* () {
    const workspaces = yield* Workspaces
    const builds = yield* WorkspaceBuildCreation

    const pathOf = ({ params }: RequestInfo): string => startPath(params["user"] ?? "", params["place"] ?? "")

    /** Where the start can be followed: the workspace's own place in the console. */
    const placeOf = ({ name, owner_name }: WorkspaceView): string =>
      settings.console === undefined
        ? `${mount}/`
        : `${settings.console.base}@${encodeURIComponent(owner_name)}/${encodeURIComponent(name)}`

    const form = (asked: Asked, workspace: WorkspaceView, reason?: string, status?: number) =>
      buttonPage(
        asked,
        {
          title: text.startTitle(workspace.name),
          lead: text.startLead(workspace.latest_build.status),
          action: pathOf(asked.info),
          button: text.startWorkspace,
          isLeft: true
        },
        reason,
        status
      )

    /** Answers for a workspace that the signed-in user may start. */
    const ofStopped = <R>(answer: (asked: Asked, workspace: WorkspaceView) => Effect.Effect<ReturnType<typeof seeOther>, never, R>) =>
      served((asked) =>
        Effect.gen(function* () {
          const { info, request } = asked
          const missing = appPage(settings, asked.brand, {
            status: 404,
            title: text.workspaceMissing,
            message: text.workspaceMissingReason
          })
          if (info.user?._tag !== "Right") return seeOther(withQuery(`${mount}/login`, { redirect: request.originalUrl }))
          return yield* Effect.gen(function* () {
            const workspace = yield* workspaces.getByName(info.params["user"] ?? "", info.params["place"] ?? "", { includeDeleted: false })
            if (!(yield* builds.mayStart(workspace.id))) return missing
            return isStarted(workspace) ? seeOther(placeOf(workspace)) : yield* answer(asked, workspace)
          }).pipe(
            Effect.catchTag("NotFound", () => Effect.succeed(missing)),
            Effect.provideService(CurrentActor, info.user.right)
          )
        })
      )

    const show = ofStopped((asked, workspace) => Effect.succeed(form(asked, workspace)))
    const start = ofStopped((asked, workspace) =>
      submitted(
        asked,
        "POST /api/v2/workspaces/{workspace}/builds",
        Effect.as(
          builds.create(workspace.id, { transition: "start", rich_parameter_values: [], orphan: false }),
          seeOther(placeOf(workspace))
        ),
        ({ reason, status }) => Effect.succeed(form(asked, workspace, reason, status))
      )
    )
    return pair("/@:user/:place/start", undefined, show, start)
  })
