/** The frame of one workspace: its header and its parts. */
import type { Workspace } from "@atelier/client"
import { getRouteApi, Outlet } from "@tanstack/react-router"
import { ArrowUpCircle, CircleStop, EllipsisVertical, Moon, Play, RotateCw, Square, Star, Trash2 } from "lucide-react"
import { useState } from "react"
import { useMay } from "../../../app/session.js"
import { actionsText, workspacesText } from "../../../texts/workspaces.js"
import { workspaceText } from "../../../texts/workspace.js"
import { Avatar } from "../../../ui/page/Avatar.js"
import { Badge, Status } from "../../../ui/page/Badge.js"
import { Button, ButtonLink, IconButton } from "../../../ui/forms/Button.js"
import { Callout } from "../../../ui/page/Callout.js"
import { Menu, MenuItem, MenuSeparator } from "../../../ui/floating/Menu.js"
import { Page, PageHeader } from "../../../ui/page/Page.js"
import { Empty, ErrorState, Skeleton, SkeletonLines } from "../../../ui/page/States.js"
import { type Tab, Tabs, usePartTitle } from "../../../ui/page/Tabs.js"
import { Time } from "../../../ui/page/Time.js"
import { useAction, useCancelBuild, useFavorite, useWake } from "../actions.js"
import { DeleteDialog } from "../DeleteDialog.js"
import { canStart, isBuilding, stateOf } from "../state.js"
import { useWatchedWorkspace } from "./workspace.js"
import "./WorkspaceFrame.css"

const route = getRouteApi("/@{$owner}/$workspace")

export const WorkspaceFrame = () => {
  const { owner, workspace: name } = route.useParams()
  const { data, error, refetch } = useWatchedWorkspace(owner, name)
  if (data === undefined) {
    return error !== null ? (
      <ErrorState isScreen error={error} onRetry={refetch} />
    ) : (
      <Page width="medium">
        <PageHeader
          title={name}
          icon={<Skeleton width={36} height={36} />}
          crumbs={[{ label: workspacesText.title, link: { to: "/workspaces" } }]}
        />
        <SkeletonLines count={8} />
      </Page>
    )
  }
  if (data.latest_build.status === "deleted") {
    return (
      <Empty
        isScreen
        icon={<Trash2 />}
        title={workspaceText.deleted}
        action={<ButtonLink to="/workspaces">{workspacesText.title}</ButtonLink>}
      >
        {workspaceText.deletedHint}
      </Empty>
    )
  }
  return <Loaded workspace={data} />
}

const Loaded = ({ workspace }: { readonly workspace: Workspace }) => {
  const { dormant_at, deleting_at, latest_build, name, outdated, owner_name, template_display_name, template_icon, template_name } =
    workspace
  const params = { owner: owner_name, workspace: name }
  const { tabs } = workspaceText
  const object = { owner: workspace.owner_id, organization: workspace.organization_id, id: workspace.id }
  const may = useMay({
    update: { on: "workspace", to: "update", ...object },
    share: { on: "workspace", to: "share", ...object },
    ssh: { on: "workspace", to: "ssh", ...object }
  })
  const { isMoving, label, tone } = stateOf(workspace)
  const parts: ReadonlyArray<Tab> = [
    { label: tabs.overview, link: { to: "/@{$owner}/$workspace", params }, isOverview: true },
    ...(may.ssh
      ? [
          { label: tabs.files, link: { to: "/@{$owner}/$workspace/files", params } as const },
          { label: tabs.processes, link: { to: "/@{$owner}/$workspace/processes", params } as const }
        ]
      : []),
    { label: tabs.builds, link: { to: "/@{$owner}/$workspace/builds", params }, hasParts: true },
    ...(may.update
      ? [
          { label: tabs.parameters, link: { to: "/@{$owner}/$workspace/settings/parameters", params } as const },
          { label: tabs.schedule, link: { to: "/@{$owner}/$workspace/settings/schedule", params } as const }
        ]
      : []),
    ...(may.share || may.update ? [{ label: tabs.sharing, link: { to: "/@{$owner}/$workspace/settings/sharing", params } as const }] : []),
    ...(may.update ? [{ label: tabs.settings, link: { to: "/@{$owner}/$workspace/settings", params } as const }] : [])
  ]
  const tabTitle = usePartTitle(parts, `${owner_name}/${name}`)
  return (
    <Page width="medium">
      <PageHeader
        title={name}
        tabTitle={tabTitle}
        icon={<Avatar name={template_display_name || template_name} src={template_icon} size={36} isThing />}
        crumbs={[{ label: workspacesText.title, link: { to: "/workspaces" } }]}
        description={
          <span className="wd-line">
            <Status tone={tone} isMoving={isMoving}>
              {label}
            </Status>
            <span className="faint truncate">{owner_name}</span>
            {outdated ? <Badge tone="accent">{workspacesText.updateAvailable}</Badge> : null}
          </span>
        }
        actions={<Actions workspace={workspace} />}
      />
      {dormant_at === null ? null : (
        <Callout kind="warning" title={workspaceText.dormant}>
          {workspaceText.dormantHint}
          {deleting_at === null ? null : (
            <>
              {" "}
              {workspaceText.deletingAt} <Time at={deleting_at} />
            </>
          )}
        </Callout>
      )}
      {latest_build.status === "failed" ? (
        <Callout
          kind="error"
          title={workspaceText.failed}
          action={
            <ButtonLink
              size="small"
              to="/@{$owner}/$workspace/builds/$build"
              params={{ ...params, build: String(latest_build.build_number) }}
            >
              {workspaceText.showLog}
            </ButtonLink>
          }
        >
          {latest_build.job.error}
        </Callout>
      ) : null}
      <Tabs label={tabs.label} tabs={parts} />
      <Outlet />
    </Page>
  )
}

const Actions = ({ workspace }: { readonly workspace: Workspace }) => {
  const { dormant_at, favorite, latest_build, outdated, owner_id, organization_id, id } = workspace
  const object = { owner: owner_id, organization: organization_id, id }
  const may = useMay({
    start: { on: "workspace", to: "start", ...object },
    stop: { on: "workspace", to: "stop", ...object },
    update: { on: "workspace", to: "update", ...object },
    delete: { on: "workspace", to: "delete", ...object }
  })
  const [isDeleting, setDeleting] = useState(false)
  const act = useAction()
  const cancel = useCancelBuild()
  const star = useFavorite()
  const wake = useWake()
  const isBusy = isBuilding(latest_build)
  const isRunning = latest_build.status === "running"
  const begin = (action: "start" | "stop" | "restart" | "update"): void => act.mutate({ workspace, action })
  const mayCancel = isBusy && latest_build.status !== "canceling" && workspace.template_allow_user_cancel_workspace_jobs && may.update
  return (
    <>
      {mayCancel ? (
        <Button icon={<CircleStop />} isBusy={cancel.isPending} onClick={() => cancel.mutate(workspace)}>
          {actionsText.cancel}
        </Button>
      ) : null}
      {dormant_at !== null && may.update ? (
        <Button kind="primary" icon={<Moon />} isBusy={wake.isPending} onClick={() => wake.mutate(workspace)}>
          {actionsText.wake}
        </Button>
      ) : null}
      {outdated && may.update && !isBusy ? (
        <Button icon={<ArrowUpCircle />} isBusy={act.isPending} onClick={() => begin("update")}>
          {actionsText.update}
        </Button>
      ) : null}
      {isRunning && may.stop ? (
        <Button icon={<Square className="icon-solid" />} isBusy={act.isPending} onClick={() => begin("stop")}>
          {actionsText.stop}
        </Button>
      ) : null}
      {canStart(workspace) && may.start ? (
        <Button kind="primary" icon={<Play />} isBusy={act.isPending} onClick={() => begin("start")}>
          {latest_build.status === "failed" ? actionsText.retry : actionsText.start}
        </Button>
      ) : null}
      <IconButton
        kind="secondary"
        className={favorite ? "wd-favorite" : ""}
        aria-pressed={favorite}
        label={favorite ? workspacesText.unfavorite : workspacesText.favorite}
        icon={<Star />}
        onClick={() => star.mutate(workspace)}
      />
      {may.update || may.delete ? (
        <Menu label={workspaceText.more} trigger={<IconButton kind="secondary" label={workspaceText.more} icon={<EllipsisVertical />} />}>
          <MenuItem icon={<RotateCw />} isDisabled={!isRunning || !may.start} onSelect={() => begin("restart")}>
            {actionsText.restart}
          </MenuItem>
          {latest_build.status === "failed" ? (
            <MenuItem icon={<Square className="icon-solid" />} isDisabled={!may.stop} onSelect={() => begin("stop")}>
              {actionsText.stop}
            </MenuItem>
          ) : null}
          <MenuSeparator />
          <MenuItem icon={<Trash2 />} isDangerous isDisabled={isBusy || !may.delete} onSelect={() => setDeleting(true)}>
            {actionsText.delete}
          </MenuItem>
        </Menu>
      ) : null}
      <DeleteDialog workspace={isDeleting ? workspace : undefined} onClose={() => setDeleting(false)} />
    </>
  )
}
