/** The ports of an agent: what listens, what is shared, and how to reach it. */
import type { Template, Workspace, WorkspaceAgent, WorkspaceAgentPortShare } from "@atelier/client"
import * as agents from "@atelier/client/agents"
import * as portShares from "@atelier/client/portShares"
import * as templates from "@atelier/client/templates"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { ChevronDown, ExternalLink, Share2, X } from "lucide-react"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { useMay } from "../../../app/session.js"
import { portsText } from "../../../texts/ports.js"
import { Badge } from "../../../ui/page/Badge.js"
import { Button, ButtonAnchor, IconButton } from "../../../ui/forms/Button.js"
import { Code } from "../../../ui/text/Code.js"
import { Input, Select } from "../../../ui/forms/Field.js"
import { Popover } from "../../../ui/floating/Popover.js"
import { notify, notifyError } from "../../../ui/floating/Toast.js"
import { useAppHost } from "./appHost.js"

interface Props {
  readonly agent: WorkspaceAgent
  readonly workspace: Workspace
}

type Level = WorkspaceAgentPortShare["share_level"]
type Protocol = WorkspaceAgentPortShare["protocol"]

/** From the narrowest to the widest. */
const levels: ReadonlyArray<Level> = ["owner", "organization", "authenticated", "public"]

/** How far ports may be shared, by the template. */
const levelsUpTo = (maximum: Template["max_port_share_level"] | undefined): ReadonlyArray<Level> =>
  levels.slice(1, levels.indexOf(maximum ?? "owner") + 1)

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

export const Ports = ({ agent, workspace }: Props) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      align="start"
      label={portsText.title}
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button>
          {portsText.title} <ChevronDown aria-hidden />
        </Button>
      }
    >
      {isOpen ? <Panel agent={agent} workspace={workspace} /> : null}
    </Popover>
  )
}

/** The ports of an agent, and what may be done with them. */
const usePorts = ({ agent, workspace }: Props) => {
  const { id, organization_id, owner_id, template_id } = workspace
  const host = useAppHost()
  const queryClient = useQueryClient()
  const may = useMay({ share: { on: "workspace", to: "update", owner: owner_id, organization: organization_id, id } })
  const listening = useQuery({
    queryKey: ["ports", agent.id],
    queryFn: ({ signal }) => agents.listListeningPorts(client, { workspaceagent: agent.id }, { signal }),
    refetchInterval: 3_000
  })
  const sharesKey = ["ports", "shares", id]
  const shares = useQuery({
    queryKey: sharesKey,
    queryFn: ({ signal }) => portShares.listPortShares(client, { workspace: id }, { signal })
  })
  const template = useQuery({
    queryKey: ["templates", "one", template_id],
    queryFn: ({ signal }) => templates.getTemplate(client, { template: template_id }, { signal })
  })
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sharesKey })
  const share = useMutation({
    mutationFn: (body: { readonly port: number; readonly share_level: Level; readonly protocol: Protocol }) =>
      portShares.sharePort(client, { workspace: id, body: { agent_name: agent.name, ...body } }),
    onSuccess: ({ port, share_level }) => {
      notify(portsText.shared(port, portsText.levels[share_level]))
      return refresh()
    },
    onError: notifyError
  })
  const unshare = useMutation({
    mutationFn: (port: number) => portShares.unsharePort(client, { workspace: id, body: { agent_name: agent.name, port } }),
    onSuccess: (_, port) => {
      notify(portsText.unshared(port))
      return refresh()
    },
    onError: notifyError
  })
  return {
    listening,
    shares,
    template,
    share,
    unshare,
    mayShare: may.share,
    isBusy: share.isPending || unshare.isPending,
    own: (shares.data?.shares ?? []).filter(({ agent_name, share_level }) => agent_name === agent.name && share_level !== "owner"),
    ports: (listening.data?.ports ?? []).toSorted((one, other) => one.port - other.port),
    allowed: levelsUpTo(template.data?.max_port_share_level),
    /** The address of a port; undefined where ports have no hosts of their own. */
    addressOf: (port: number, protocol: Protocol = "http"): string | undefined =>
      host === undefined || host === ""
        ? undefined
        : `${location.protocol}//${host.replace("*", `${port}${protocol === "https" ? "s" : ""}--${agent.name}--${workspace.name}--${workspace.owner_name}`)}/`
  }
}

type PortsOf = ReturnType<typeof usePorts>

const Panel = ({ agent, workspace }: Props) => {
  const ports = usePorts({ agent, workspace })
  const port = ports.ports[0]?.port ?? 8080
  return (
    <div className="agent-panel ports">
      <Listening ports={ports} hasApps={agent.apps.length > 0} />
      <Shared ports={ports} />
      <section>
        <h3>{portsText.forward}</h3>
        <Code isWrapped text={`atelier port-forward ${workspace.owner_name}/${workspace.name}.${agent.name} ${port}`} />
      </section>
    </div>
  )
}

const Listening = ({ hasApps, ports: of }: { readonly ports: PortsOf; readonly hasApps: boolean }) => {
  const { addressOf, allowed, isBusy, listening, mayShare, own, ports, share } = of
  return (
    <section>
      <h3>{portsText.listening}</h3>
      {listening.isLoadingError ? (
        <p className="agent-error" role="alert">
          {listening.error.message}
        </p>
      ) : listening.data === undefined ? null : ports.length === 0 ? (
        <p className="muted">{hasApps ? portsText.noOther : portsText.none}</p>
      ) : null}
      <ul>
        {ports.map(({ port, process_name }) => (
          <li key={port} className="ports-row">
            <PortLink port={port} address={addressOf(port, own.find((each) => each.port === port)?.protocol)} />
            <span className="truncate faint" title={process_name}>
              {process_name}
            </span>
            {mayShare && allowed.length > 0 && !own.some((each) => each.port === port) ? (
              <IconButton
                size="small"
                label={portsText.sharePort(port)}
                icon={<Share2 />}
                disabled={isBusy}
                onClick={() => share.mutate({ port, share_level: allowed[0] ?? "owner", protocol: "http" })}
              />
            ) : null}
          </li>
        ))}
      </ul>
      <OpenPort addressOf={addressOf} />
    </section>
  )
}

const Shared = ({ ports }: { readonly ports: PortsOf }) => {
  const { addressOf, allowed, isBusy, mayShare, own, share, shares, template } = ports
  return (
    <section>
      <h3>{portsText.sharedTitle}</h3>
      {shares.isLoadingError ? (
        <p className="agent-error" role="alert">
          {shares.error.message}
        </p>
      ) : own.length === 0 ? (
        <p className="muted">{allowed.length === 0 && template.isSuccess ? portsText.notAllowed : portsText.noneShared}</p>
      ) : null}
      <ul>
        {own.map((each) => (
          <li key={each.port} className="ports-row">
            <PortLink port={each.port} address={addressOf(each.port, each.protocol)} />
            {mayShare ? <ShareControls share={each} ports={ports} /> : <Badge>{portsText.levels[each.share_level]}</Badge>}
          </li>
        ))}
      </ul>
      {mayShare && allowed.length > 0 ? (
        <ShareForm
          allowed={allowed}
          isBusy={isBusy}
          onShare={(port, share_level, protocol) => share.mutateAsync({ port, share_level, protocol })}
        />
      ) : null}
    </section>
  )
}

interface ControlsProps {
  readonly share: WorkspaceAgentPortShare
  readonly ports: PortsOf
}

/** Changes how far a port is shared. */
const ShareControls = ({ ports: { allowed, isBusy, share, unshare }, share: { port, protocol, share_level } }: ControlsProps) => (
  <>
    <Select
      aria-label={portsText.levelOf(port)}
      value={share_level}
      disabled={isBusy}
      onChange={(event) =>
        share.mutate({ port, protocol, share_level: levels.find((level) => level === event.target.value) ?? share_level })
      }
      choices={[...new Set([...allowed, share_level])].map((value) => ({ value, label: portsText.levels[value] }))}
    />
    <Select
      aria-label={portsText.protocolOf(port)}
      value={protocol}
      disabled={isBusy}
      onChange={(event) => share.mutate({ port, share_level, protocol: event.target.value === "https" ? "https" : "http" })}
      choices={[
        { value: "http", label: "HTTP" },
        { value: "https", label: "HTTPS" }
      ]}
    />
    <IconButton size="small" label={portsText.unshare(port)} icon={<X />} disabled={isBusy} onClick={() => unshare.mutate(port)} />
  </>
)

const PortLink = ({ address, port }: { readonly port: number; readonly address: string | undefined }) =>
  address === undefined ? (
    <span className="mono">{port}</span>
  ) : (
    <a className="ports-link mono" href={address} target="_blank" rel="noreferrer" aria-label={portsText.open(port)}>
      {port} <ExternalLink aria-hidden />
    </a>
  )

const OpenPort = ({ addressOf }: { readonly addressOf: (port: number) => string | undefined }) => {
  const [port, setPort] = useState("")
  const address = isPort(port) ? addressOf(Number(port)) : undefined
  if (addressOf(1) === undefined) return <p className="muted">{portsText.noHost}</p>
  return (
    <div className="agent-open">
      <Input
        inputMode="numeric"
        aria-label={portsText.number}
        placeholder={portsText.number}
        value={port}
        onChange={(event) => setPort(event.target.value)}
      />
      <ButtonAnchor href={address} aria-disabled={address === undefined || undefined} target="_blank" rel="noreferrer">
        {portsText.openPort}
      </ButtonAnchor>
    </div>
  )
}

interface ShareProps {
  readonly allowed: ReadonlyArray<Level>
  readonly isBusy: boolean
  readonly onShare: (port: number, level: Level, protocol: Protocol) => Promise<unknown>
}

const ShareForm = ({ allowed, isBusy, onShare }: ShareProps) => {
  const [port, setPort] = useState("")
  const [level, setLevel] = useState(allowed[0] ?? "owner")
  return (
    <form
      className="agent-open"
      onSubmit={(event) => {
        event.preventDefault()
        // A refusal is said by a notice, and what was typed stays
        if (isPort(port))
          onShare(Number(port), level, "http").then(
            () => setPort((now) => (now === port ? "" : now)),
            () => undefined
          )
      }}
    >
      <Input
        inputMode="numeric"
        aria-label={portsText.shareNumber}
        placeholder={portsText.number}
        value={port}
        onChange={(event) => setPort(event.target.value)}
      />
      <Select
        aria-label={portsText.level}
        value={level}
        onChange={(event) => setLevel(allowed.find((each) => each === event.target.value) ?? level)}
        choices={allowed.map((value) => ({ value, label: portsText.levels[value] }))}
      />
      <Button type="submit" disabled={!isPort(port) || isBusy}>
        {portsText.share}
      </Button>
    </form>
  )
}
