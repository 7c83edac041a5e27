/** One task: its conversation, and the workspace beside it. */
import type { Task, Workspace } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { EllipsisVertical, ExternalLink, Pause, Play, RotateCw, Trash2 } from "lucide-react"
import { Suspense, useEffect, useState } from "react"
import { client } from "../../app/client.js"
import { lazyPart } from "../../app/lazy.js"
import { queryClient } from "../../app/queries.js"
import { useMay } from "../../app/session.js"
import { tasksText, taskText } from "../../texts/tasks.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Status } from "../../ui/page/Badge.js"
import { Button, ButtonLink, IconButton } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Menu, MenuItem } from "../../ui/floating/Menu.js"
import { Page, PageHeader, PropertyList, Section } from "../../ui/page/Page.js"
import { ErrorState, Skeleton, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { useWatchedWorkspace } from "../workspaces/detail/workspace.js"
import { agentsOf } from "../workspaces/state.js"
import { usePause, useResume } from "./actions.js"
import { Conversation } from "./Conversation.js"
import { taskQuery } from "./queries.js"
import { canPause, canResume, isBuilding, messageOf, stateOf } from "./state.js"
import "./tasks.css"

/** Logs, apps and terminals come after the conversation. */
const Beside = lazyPart(() => import("./Beside.js").then(({ Beside }) => Beside))

const BesideSkeleton = () => (
  <Section>
    <SkeletonLines count={4} />
  </Section>
)

const route = getRouteApi("/tasks/$owner/$task")

const crumbs = [{ label: tasksText.title, link: { to: "/tasks" } as const }]

const whileMoving = 2_000
const atRest = 10_000

export const TaskDetail = () => {
  const { owner, task: name } = route.useParams()
  const { data, error, refetch } = useQuery({
    ...taskQuery(owner, name),
    refetchInterval: ({ state }) => (state.data !== undefined && stateOf(state.data).isMoving ? whileMoving : atRest)
  })
  if (data !== undefined) return <Loaded key={data.id} task={data} />
  if (error !== null) return <ErrorState isScreen error={error} onRetry={refetch} />
  return (
    <Page>
      <PageHeader title={name} icon={<Skeleton width={32} height={32} />} crumbs={crumbs} />
      <SkeletonLines count={8} />
    </Page>
  )
}

/** What the user may do to the task: its workspace's rights decide. */
const useRights = ({ organization_id, owner_id }: Task, workspace: Workspace | undefined) => {
  const object = { on: "workspace", owner: owner_id, organization: organization_id, id: workspace?.id }
  return useMay({
    pause: { ...object, to: "stop" },
    resume: { ...object, to: "start" },
    send: { ...object, to: "application_connect" },
    update: { ...object, to: "update" },
    delete: { ...object, to: "delete" }
  })
}

const Loaded = ({ task }: { readonly task: Task }) => {
  const { display_name, name, owner_name, template_display_name, template_icon, template_name, workspace_name } = task
  const { data: workspace, error, refetch } = useWatchedWorkspace(owner_name, workspace_name)
  const { isMoving, label, tone } = stateOf(task)
  const message = messageOf(task)
  const may = useRights(task, workspace)
  // The workspace is live: what the task is follows from it
  const { latest_app_status, latest_build } = workspace ?? {}
  const seen = [
    latest_build?.id,
    latest_build?.status,
    latest_app_status?.id,
    ...(latest_build === undefined ? [] : agentsOf(latest_build)).map(({ lifecycle_state }) => lifecycle_state)
  ].join(" ")
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ["tasks"] })
  }, [seen])
  return (
    <Page>
      <PageHeader
        crumbs={crumbs}
        title={display_name || name}
        icon={<Avatar name={template_display_name || template_name} src={template_icon} size={32} isThing />}
        description={
          <span className="tk-line">
            <Status tone={tone} isMoving={isMoving}>
              {label}
            </Status>
            {message === "" ? null : (
              <span className="truncate faint" title={message}>
                {message}
              </span>
            )}
          </span>
        }
        actions={<Actions task={task} may={may} />}
      />
      <Trouble task={task} workspace={workspace} mayResume={may.resume} />
      <div className="tk-columns">
        <Conversation task={task} workspace={workspace} may={may} />
        <div className="tk-beside">
          {workspace !== undefined ? (
            <Suspense fallback={<BesideSkeleton />}>
              <Beside workspace={workspace} />
            </Suspense>
          ) : error === null ? (
            <BesideSkeleton />
          ) : (
            <ErrorState error={error} onRetry={refetch} />
          )}
          <Facts task={task} />
        </div>
      </div>
    </Page>
  )
}

interface ActionsProps {
  readonly task: Task
  readonly may: { readonly pause: boolean; readonly resume: boolean; readonly delete: boolean }
}

const Actions = ({ may, task }: ActionsProps) => {
  const { display_name, id, name, owner_name, workspace_name } = task
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const pause = usePause()
  const resume = useResume()
  const isBusy = pause.isPending || resume.isPending
  return (
    <>
      {may.pause && canPause(task) ? (
        <Button icon={<Pause />} isBusy={pause.isPending} disabled={isBusy} onClick={() => pause.mutate(task)}>
          {taskText.pause}
        </Button>
      ) : null}
      {may.resume && canResume(task) ? (
        <Button kind="primary" icon={<Play />} isBusy={resume.isPending} disabled={isBusy} onClick={() => resume.mutate(task)}>
          {task.status === "paused" ? taskText.resume : taskText.retry}
        </Button>
      ) : null}
      <ButtonLink icon={<ExternalLink />} to="/@{$owner}/$workspace" params={{ owner: owner_name, workspace: workspace_name }}>
        {taskText.openWorkspace}
      </ButtonLink>
      {may.delete ? (
        <Menu label={taskText.more} trigger={<IconButton kind="secondary" label={taskText.more} icon={<EllipsisVertical />} />}>
          <MenuItem icon={<Trash2 />} isDangerous isDisabled={isBuilding(task)} onSelect={() => setDeleting(true)}>
            {taskText.delete}
          </MenuItem>
        </Menu>
      ) : null}
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={tasksText.deleteTitle(display_name || name)}
        description={tasksText.deleteHint}
        action={taskText.delete}
        isDangerous
        onConfirm={async () => {
          await tasks.deleteTask(client, { user: owner_name, task: id })
          notify(tasksText.deleted(display_name || name))
          await navigate({ to: "/tasks" })
          void queryClient.invalidateQueries({ queryKey: ["tasks", "list"] })
        }}
      />
    </>
  )
}

interface TroubleProps {
  readonly task: Task
  readonly workspace: Workspace | undefined
  readonly mayResume: boolean
}

/** Why the task cannot go on, and what helps. */
const Trouble = ({ mayResume, task, workspace }: TroubleProps) => {
  const resume = useResume()
  if (task.status !== "error") return null
  const { owner_name, workspace_build_number, workspace_name, workspace_status } = task
  if (workspace_status === "running") {
    return (
      <Callout kind="error" title={taskText.unhealthyTitle}>
        {taskText.unhealthyHint}
      </Callout>
    )
  }
  return (
    <Callout
      kind="error"
      title={taskText.failedTitle}
      action={
        <span className="tk-buttons">
          {workspace_build_number === undefined ? null : (
            <ButtonLink
              size="small"
              to="/@{$owner}/$workspace/builds/$build"
              params={{ owner: owner_name, workspace: workspace_name, build: String(workspace_build_number) }}
            >
              {taskText.showLog}
            </ButtonLink>
          )}
          {mayResume && canResume(task) ? (
            <Button size="small" icon={<RotateCw />} isBusy={resume.isPending} onClick={() => resume.mutate(task)}>
              {taskText.retry}
            </Button>
          ) : null}
        </span>
      }
    >
      {workspace?.latest_build.job.error ?? taskText.failedHint}
    </Callout>
  )
}

/** A long prompt scrolls, by keys too. */
const Prompt = ({ text }: { readonly text: string }) => (
  <span className="tk-prompt" role="region" aria-label={taskText.prompt} tabIndex={0}>
    {text}
  </span>
)

const Facts = ({ task }: { readonly task: Task }) => (
  <Section title={taskText.facts}>
    <PropertyList
      properties={[
        {
          label: taskText.owner,
          value: (
            <span className="tk-owner">
              <Avatar name={task.owner_name} src={task.owner_avatar_url} size={18} />
              <span className="truncate">{task.owner_name}</span>
            </span>
          )
        },
        { label: taskText.template, value: task.template_display_name || task.template_name },
        { label: taskText.created, value: <Time at={task.created_at} /> },
        { label: taskText.prompt, value: <Prompt text={task.initial_prompt} /> }
      ]}
    />
  </Section>
)
