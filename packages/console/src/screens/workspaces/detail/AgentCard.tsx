/** An agent: what it offers, what it measures, and what it logs. */
import type { Workspace, WorkspaceAgent, WorkspaceAgentLog, WorkspaceAgentMetadata, WorkspaceApp } from "@atelier/client"
import * as agents from "@atelier/client/agents"
import { AppWindow, Cable, ChevronDown, SquareCode, SquareTerminal } from "lucide-react"
import { Suspense, useRef, useState } from "react"
import { client } from "../../../app/client.js"
import { config, isWebAddress, serverPage } from "../../../app/config.js"
import { lazyPart } from "../../../app/lazy.js"
import { useGrowing, useLive } from "../../../app/live.js"
import { editorsText } from "../../../texts/ports.js"
import { workspaceText } from "../../../texts/workspace.js"
import { Avatar } from "../../../ui/page/Avatar.js"
import { Badge, Status, StatusDot } from "../../../ui/page/Badge.js"
import type { Tone } from "../../../ui/page/tone.js"
import { Button, ButtonAnchor, ButtonLink } from "../../../ui/forms/Button.js"
import { Code } from "../../../ui/text/Code.js"
import { Select } from "../../../ui/forms/Field.js"
import { Log } from "../../../ui/text/Log.js"
import { Popover } from "../../../ui/floating/Popover.js"
import { Tooltip } from "../../../ui/floating/Tooltip.js"
import { useAppHost } from "./appHost.js"
import { editorsOf, folderOf } from "./editors.js"
import { Ports } from "./Ports.js"
import "./AgentCard.css"

// Few agents have some
const Devcontainers = lazyPart(() => import("./Devcontainers.js").then(({ Devcontainers }) => Devcontainers))

interface Props {
  readonly agent: WorkspaceAgent
  readonly workspace: Workspace
}

const toneOf = ({ lifecycle_state, status }: WorkspaceAgent): Tone => {
  if (status === "connecting") return "blue"
  if (status !== "connected") return "red"
  if (lifecycle_state === "ready") return "green"
  return ["created", "starting", "shutting_down"].includes(lifecycle_state) ? "blue" : "amber"
}

const stateOf = ({ lifecycle_state, status }: WorkspaceAgent): string =>
  status === "connected" ? workspaceText.lifecycles[lifecycle_state] : workspaceText.agentStates[status]

export const AgentCard = ({ agent, workspace }: Props) => {
  const { apps, display_apps, latency = {}, name, scripts, status } = agent
  const isConnected = status === "connected"
  const tone = toneOf(agent)
  const preferred = Object.values(latency).find((each) => each.preferred)
  const shown = apps.filter(({ hidden }) => !hidden)
  return (
    <section className="section agent">
      <div className="agent-head">
        <h2 className="truncate agent-name">{name}</h2>
        <Status tone={tone} isMoving={tone === "blue"}>
          {stateOf(agent)}
        </Status>
        <span className="agent-facts faint">
          {[agent.operating_system, agent.architecture, agent.version].filter((each) => each !== "").join(" · ")}
          {preferred === undefined ? null : <Badge>{workspaceText.latency(preferred.latency_ms)}</Badge>}
        </span>
      </div>
      <div className="agent-apps">
        {display_apps.includes("web_terminal") ? (
          <ButtonLink
            kind={isConnected ? "primary" : "secondary"}
            icon={<SquareTerminal />}
            to="/@{$owner}/$workspace/terminals"
            params={{ owner: workspace.owner_name, workspace: workspace.name }}
            search={{ agent: name }}
          >
            {workspaceText.terminal}
          </ButtonLink>
        ) : null}
        {shown.map((app) => (
          <AppButton key={app.id} app={app} agent={agent} workspace={workspace} />
        ))}
        {display_apps.includes("port_forwarding_helper") && isConnected ? <Ports agent={agent} workspace={workspace} /> : null}
        <Editors agent={agent} workspace={workspace} />
        {display_apps.includes("ssh_helper") ? <Ssh agent={agent} workspace={workspace} /> : null}
      </div>
      {isConnected ? <Metadata agent={agent} /> : null}
      <Suspense>{isConnected ? <Devcontainers agent={agent} workspace={workspace} /> : null}</Suspense>
      {scripts.length === 0 ? null : (
        <ul className="agent-scripts" aria-label={workspaceText.scripts}>
          {scripts.map(({ cron, display_name, exit_code, id, status }) => (
            <li key={id}>
              <StatusDot tone={status === undefined ? "grey" : status === "ok" ? "green" : "red"} />
              <span className="truncate">{display_name}</span>
              <span className="faint">{workspaceText.scriptStates[status ?? "none"]}</span>
              {cron === "" ? null : <span className="faint mono">{cron}</span>}
              {exit_code === undefined || exit_code === 0 ? null : <Badge tone="red">{workspaceText.exit(exit_code)}</Badge>}
            </li>
          ))}
        </ul>
      )}
      <Logs agent={agent} workspace={workspace} />
    </section>
  )
}

/** Where an app is opened; undefined for one that has no address here. */
const addressOf = (
  app: WorkspaceApp,
  { name }: WorkspaceAgent,
  { name: workspace, owner_name }: Workspace,
  host: string | undefined
): string | undefined => {
  if (app.external)
    return app.url !== undefined && /^[a-z][a-z0-9+.-]*:/i.test(app.url) && !/^(?:javascript|data|vbscript):/i.test(app.url)
      ? app.url
      : undefined
  if (app.subdomain && app.subdomain_name !== undefined && host !== undefined && host !== "") {
    return `${location.protocol}//${host.replace("*", app.subdomain_name)}/`
  }
  return serverPage(`/@${owner_name}/${workspace}.${name}/apps/${encodeURIComponent(app.slug)}/`)
}

/** Whether an app is a program in a terminal. */
const runsCommand = ({ command, external }: WorkspaceApp): boolean => !external && command !== undefined && command !== ""

const appTones: Readonly<Record<WorkspaceApp["health"], Tone | undefined>> = {
  disabled: undefined,
  healthy: undefined,
  initializing: "blue",
  unhealthy: "amber"
}

const AppButton = ({ agent, app, workspace }: Props & { readonly app: WorkspaceApp }) => {
  const host = useAppHost()
  const address = addressOf(app, agent, workspace, host)
  const label = app.display_name === undefined || app.display_name === "" ? app.slug : app.display_name
  const text = (
    <span className="truncate" title={label}>
      {label}
    </span>
  )
  const tone = appTones[app.health]
  const isReady = address !== undefined && (app.external || agent.status === "connected")
  const icon = app.icon === undefined || app.icon === "" ? <AppWindow /> : <Avatar name={label} src={app.icon} size={16} isThing />
  const button = runsCommand(app) ? (
    <ButtonLink
      icon={icon}
      to="/@{$owner}/$workspace/terminals"
      params={{ owner: workspace.owner_name, workspace: workspace.name }}
      search={{ agent: agent.name, app: app.slug }}
    >
      {text}
    </ButtonLink>
  ) : (
    <ButtonAnchor
      icon={icon}
      href={isReady ? address : undefined}
      target={app.external && !isWebAddress(address ?? "") ? "_self" : "_blank"}
      rel="noreferrer"
      aria-disabled={!isReady || undefined}
    >
      {text}
      {tone === undefined ? null : <StatusDot tone={tone} isMoving={tone === "blue"} />}
    </ButtonAnchor>
  )
  return app.tooltip === undefined || app.tooltip === "" ? button : <Tooltip label={app.tooltip}>{button}</Tooltip>
}

/** Links that open the agent's folder in editors on the user's machine. */
const Editors = ({ agent: { directory, display_apps, expanded_directory, name: agent }, workspace: { name, owner_name } }: Props) => {
  const editors = editorsOf(display_apps)
  if (editors.length === 0) return null
  const host = `${agent}.${name}.${owner_name}.atelier`
  const place = { host, user: owner_name, folder: folderOf(expanded_directory || directory || "/") }
  return (
    <Popover
      align="start"
      label={editorsText.title}
      trigger={
        <Button icon={<SquareCode />}>
          {editorsText.short} <ChevronDown aria-hidden />
        </Button>
      }
    >
      <div className="agent-panel">
        <h3>{editorsText.title}</h3>
        <ul>
          {editors.map(({ id, link, name }) => (
            <li key={id}>
              <a className="agent-port" href={link(place)}>
                {name}
              </a>
            </li>
          ))}
        </ul>
        <p className="muted">{editorsText.hint}</p>
        <Code text="atelier config-ssh" />
      </div>
    </Popover>
  )
}

const Ssh = ({ agent: { name: agent }, workspace: { name, owner_name } }: Props) => (
  <Popover align="start" label={workspaceText.ssh} trigger={<Button icon={<Cable />}>{workspaceText.sshShort}</Button>}>
    <div className="agent-panel">
      <h3>{workspaceText.ssh}</h3>
      <Code isWrapped text={`atelier login ${new URL(config.api, `${location.origin}/`).href}`} />
      <Code isWrapped text={`atelier ssh ${owner_name}/${name}.${agent}`} />
    </div>
  </Popover>
)

const staleAfter = 3

const Metadata = ({ agent: { id } }: Pick<Props, "agent">) => {
  const [values, setValues] = useState<ReadonlyArray<WorkspaceAgentMetadata>>([])
  const { error } = useLive({
    of: ["metadata", id],
    open: (signal) => agents.watchAgentMetadataSocket(client, { workspaceagent: id }, { signal }),
    onValue: setValues
  })
  if (values.length === 0) return error === undefined ? null : <p className="agent-error">{error.message}</p>
  return (
    <dl className="agent-metadata" aria-label={workspaceText.metadata}>
      {values.map(({ description: { display_name, interval, key }, result: { age, error, value } }) => (
        <div key={key} className="agent-value" data-stale={age > interval * staleAfter || undefined}>
          <dt className="truncate">{display_name}</dt>
          <dd className={`truncate mono ${error === "" ? "" : "agent-error"}`} title={error === "" ? value.trim() : error}>
            {error === "" ? value.trim() || "–" : error}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const Logs = ({ agent, workspace }: Props) => {
  const { id, lifecycle_state, log_sources, logs_length, name } = agent
  const [isOpen, setOpen] = useState(["starting", "start_error", "start_timeout"].includes(lifecycle_state))
  return (
    <details className="agent-logs" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {workspaceText.logs}
        {logs_length === 0 ? <span className="faint"> · {workspaceText.noLogs}</span> : null}
      </summary>
      {isOpen ? <AgentLog key={id} id={id} sources={log_sources} fileName={`${workspace.name}-${name}.log`} /> : null}
    </details>
  )
}

interface AgentLogProps {
  readonly id: string
  readonly sources: WorkspaceAgent["log_sources"]
  readonly fileName: string
}

const AgentLog = ({ fileName, id, sources }: AgentLogProps) => {
  const [lines, add] = useGrowing<WorkspaceAgentLog>()
  const [source, setSource] = useState("")
  const last = useRef(-1)
  const { error, state } = useLive({
    of: ["agent log", id],
    open: (signal) => agents.followAgentLogs(client, { workspaceagent: id }, { signal }),
    onValue: (batch) => {
      const fresh = batch.filter((each) => each.id > last.current)
      last.current = fresh.at(-1)?.id ?? last.current
      add(fresh)
    }
  })
  const shown = source === "" ? lines : lines.filter(({ source_id }) => source_id === source)
  return (
    <div className="agent-log">
      {error === undefined ? null : (
        <p className="agent-error" role="alert">
          {error.message}
        </p>
      )}
      {sources.length < 2 ? null : (
        <Select
          aria-label={workspaceText.source}
          value={source}
          onChange={(event) => setSource(event.target.value)}
          choices={[
            { value: "", label: workspaceText.allSources },
            ...sources.map(({ display_name, id }) => ({ value: id, label: display_name }))
          ]}
        />
      )}
      <Log
        label={workspaceText.logs}
        lines={shown.map(({ created_at, id, level, output }) => ({ id, text: output, at: created_at, level }))}
        fileName={fileName}
        isLive={state === "live"}
        height={320}
      />
    </div>
  )
}
