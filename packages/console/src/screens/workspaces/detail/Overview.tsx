/** What a workspace is now: its build while it runs, its agents, and facts about it. */
import type { Workspace } from "@atelier/client"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Clock, Moon, Play, Unplug } from "lucide-react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { useMay } from "../../../app/session.js"
import { actionsText } from "../../../texts/workspaces.js"
import { buildsText, workspaceText } from "../../../texts/workspace.js"
import { Avatar } from "../../../ui/page/Avatar.js"
import { Button, IconButton } from "../../../ui/forms/Button.js"
import { PropertyList, Section } from "../../../ui/page/Page.js"
import { Empty } from "../../../ui/page/States.js"
import { Time } from "../../../ui/page/Time.js"
import { notify, notifyError } from "../../../ui/floating/Toast.js"
import { useAction } from "../actions.js"
import { agentsOf, canStart, isBuilding } from "../state.js"
import { Activity } from "./Activity.js"
import { AgentCard } from "./AgentCard.js"
import { BuildLog } from "./BuildLog.js"
import { useWorkspaceQuery } from "./workspace.js"
import "./Overview.css"

export const Overview = () => {
  const { data: workspace } = useWorkspaceQuery()
  if (workspace === undefined) return null
  const { latest_build } = workspace
  const agents = agentsOf(latest_build)
  return (
    <div className="wd-columns">
      <div className="wd-main">
        {isBuilding(latest_build) ? (
          <Section title={`${buildsText.transitions[latest_build.transition]} · ${buildsText.number(latest_build.build_number)}`}>
            <BuildLog key={latest_build.id} build={latest_build} />
          </Section>
        ) : null}
        {latest_build.status === "running" ? (
          agents.length === 0 ? (
            <Section>
              <Empty icon={<Unplug />} title={workspaceText.noAgents}>
                {workspaceText.noAgentsHint}
              </Empty>
            </Section>
          ) : (
            agents.map((agent) => <AgentCard key={agent.id} agent={agent} workspace={workspace} />)
          )
        ) : isBuilding(latest_build) ? null : (
          <Off workspace={workspace} />
        )}
      </div>
      <Facts workspace={workspace} />
    </div>
  )
}

const Off = ({ workspace }: { readonly workspace: Workspace }) => {
  const { id, organization_id, owner_id } = workspace
  const may = useMay({ start: { on: "workspace", to: "start", owner: owner_id, organization: organization_id, id } })
  const act = useAction()
  return (
    <Section>
      <Empty
        icon={<Moon />}
        title={workspaceText.off}
        action={
          canStart(workspace) && may.start ? (
            <Button icon={<Play />} isBusy={act.isPending} onClick={() => act.mutate({ workspace, action: "start" })}>
              {actionsText.start}
            </Button>
          ) : undefined
        }
      >
        {workspaceText.offHint}
      </Empty>
    </Section>
  )
}

const hour = 3_600_000

const Facts = ({ workspace }: { readonly workspace: Workspace }) => {
  const { created_at, id, last_used_at, latest_build, next_start_at, organization_id, owner_avatar_url, owner_id, owner_name } = workspace
  const may = useMay({
    update: { on: "workspace", to: "update", owner: owner_id, organization: organization_id, id },
    // A workspace may be shared with a user who does not see its template
    template: { on: "template", to: "read", organization: organization_id, id: workspace.template_id }
  })
  const template = workspace.template_display_name || workspace.template_name
  const version = <span className="mono">{latest_build.template_version_name}</span>
  const params = { organization: workspace.organization_name, template: workspace.template_name }
  const extend = useMutation({
    mutationFn: (deadline: string) =>
      workspaceSettings.extendWorkspace(client, {
        workspace: id,
        body: { deadline: new Date(new Date(deadline).getTime() + hour).toISOString() }
      }),
    onSuccess: () => {
      notify(workspaceText.extended)
      return queryClient.invalidateQueries({ queryKey: ["workspaces"] })
    },
    onError: notifyError
  })
  const { deadline, max_deadline } = latest_build
  const isRunning = latest_build.status === "running"
  return (
    <div className="wd-main">
      <Section title={workspaceText.about}>
        <PropertyList
          properties={[
            {
              label: workspaceText.owner,
              value: (
                <span className="ov-owner">
                  <Avatar name={owner_name} src={owner_avatar_url} size={18} />
                  {owner_name}
                </span>
              )
            },
            {
              label: workspaceText.template,
              value: may.template ? (
                <Link className="link" to="/templates/$organization/$template" params={params}>
                  {template}
                </Link>
              ) : (
                template
              )
            },
            {
              label: workspaceText.version,
              value: may.template ? (
                <Link
                  className="link"
                  to="/templates/$organization/$template/versions/$version"
                  params={{ ...params, version: latest_build.template_version_name }}
                >
                  {version}
                </Link>
              ) : (
                version
              )
            },
            { label: workspaceText.created, value: <Time at={created_at} /> },
            { label: workspaceText.used, value: <Time at={last_used_at} /> },
            isRunning
              ? {
                  label: workspaceText.deadline,
                  value:
                    deadline === null ? (
                      workspaceText.never
                    ) : (
                      <span className="ov-owner">
                        <Time at={deadline} />
                        {may.update ? (
                          <IconButton size="small" label={workspaceText.extend} icon={<Clock />} onClick={() => extend.mutate(deadline)} />
                        ) : null}
                      </span>
                    )
                }
              : undefined,
            isRunning && max_deadline !== null ? { label: workspaceText.maximum, value: <Time at={max_deadline} /> } : undefined,
            next_start_at === null ? undefined : { label: workspaceText.autostart, value: <Time at={next_start_at} /> },
            latest_build.daily_cost === 0 ? undefined : { label: workspaceText.cost, value: workspaceText.credits(latest_build.daily_cost) }
          ]}
        />
      </Section>
      <Resources workspace={workspace} />
      <Activity workspace={workspace} />
    </div>
  )
}

const Resources = ({ workspace: { latest_build } }: { readonly workspace: Workspace }) => {
  const shown = latest_build.resources.filter(({ hide }) => !hide)
  if (shown.length === 0) return null
  return (
    <Section title={workspaceText.resources}>
      <ul className="ov-resources">
        {shown.map(({ icon, id, metadata, name, type }) => (
          <li key={id}>
            <div className="ov-resource">
              <Avatar name={type} src={icon} size={24} isThing />
              <div className="ov-resource-text">
                <div className="truncate">{name}</div>
                <div className="truncate faint mono ov-type">{type}</div>
              </div>
            </div>
            {(metadata ?? [])
              .filter(({ key }) => key !== "type")
              .map(({ key, sensitive, value }) => (
                <div key={key} className="ov-fact">
                  <span className="faint">{key}</span>
                  <span className="mono">{sensitive ? workspaceText.sensitive : value}</span>
                </div>
              ))}
          </li>
        ))}
      </ul>
    </Section>
  )
}
