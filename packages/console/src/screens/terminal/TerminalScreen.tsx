/** The terminals of a workspace, in tabs. Their shells outlive a lost connection and a reload of the page. */
import type { Workspace, WorkspaceAgent } from "@atelier/client"
import { getRouteApi, Link } from "@tanstack/react-router"
import { ChevronDown, ChevronRight, ChevronUp, Lock, Plus, Search, SquareTerminal, X } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { useMay } from "../../app/session.js"
import { actionsText, workspacesText } from "../../texts/workspaces.js"
import { terminalText } from "../../texts/terminal.js"
import { Button, ButtonLink, IconButton } from "../../ui/forms/Button.js"
import { Menu, MenuItem } from "../../ui/floating/Menu.js"
import { useTitle } from "../../ui/page/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { useAction } from "../workspaces/actions.js"
import { useWatchedWorkspace } from "../workspaces/detail/workspace.js"
import { canStart, isBuilding } from "../workspaces/state.js"
import { useColours } from "./colours.js"
import type { ConnectionState } from "./connection.js"
import { toneOf, useFontSize } from "./terminalState.js"
import { TerminalTabs } from "./TerminalTabs.js"
import { TerminalTools } from "./TerminalTools.js"
import { type TerminalHandle, TerminalView } from "./TerminalView.js"
import { useTerminals } from "./useTerminals.js"
import "./Terminal.css"

const route = getRouteApi("/@{$owner}/$workspace/terminals")

export const TerminalScreen = () => {
  const { owner, workspace: name } = route.useParams()
  const { data, error, refetch } = useWatchedWorkspace(owner, name)
  useTitle(`${terminalText.heading} · ${owner}/${name}`)
  if (data === undefined) {
    return error === null ? (
      <div className="term">
        <h1 className="visually-hidden">{terminalText.title(name)}</h1>
        <SkeletonLines count={8} />
      </div>
    ) : (
      <ErrorState isScreen error={error} onRetry={refetch} />
    )
  }
  return <Allowed key={data.id} workspace={data} />
}

const Allowed = ({ workspace }: { readonly workspace: Workspace }) => {
  const { id, organization_id, owner_id } = workspace
  const may = useMay({ ssh: { on: "workspace", to: "ssh", owner: owner_id, organization: organization_id, id } })
  if (!may.ssh && !may.isPending) {
    return (
      <Empty isScreen icon={<Lock />} title={terminalText.notAllowed}>
        {terminalText.notAllowedHint}
      </Empty>
    )
  }
  return <Terminals workspace={workspace} />
}

const Terminals = ({ workspace }: { readonly workspace: Workspace }) => {
  const { name, owner_name } = workspace
  const theme = useColours()
  const font = useFontSize()
  const { tabs, shown, handle, agents, ...terminals } = useTerminals(workspace)
  const { add, close, endSearch, isSearching, labelOf, move, nameOf, onKey, renew, setState, setTitle, show, states } = terminals
  const [renaming, setRenaming] = useState<string>()
  const [found, setFound] = useState({ at: 0, count: 0 })
  const [hovered, setHovered] = useState<string>()

  return (
    <div className="term">
      <div className="term-head">
        <nav className="term-crumbs" aria-label={workspacesText.title}>
          <Link to="/@{$owner}/$workspace" params={{ owner: owner_name, workspace: name }} className="truncate">
            {owner_name}/{name}
          </Link>
          <ChevronRight aria-hidden />
        </nav>
        <h1 className="term-title">{terminalText.heading}</h1>
        <TerminalTools
          workspace={workspace}
          tabs={tabs}
          labelOf={labelOf}
          font={font}
          isSearching={isSearching}
          onSearch={() => (isSearching ? endSearch() : terminals.search())}
          onCopy={terminals.copy}
          onPaste={terminals.paste}
          onRename={setRenaming}
          onMove={move}
          onClose={close}
        />
      </div>
      <TerminalTabs
        tabs={tabs.all.map((tab) => ({ id: tab.id, label: labelOf(tab), name: nameOf(tab), ...toneOf(states[tab.id]) }))}
        shown={tabs.shown}
        renaming={renaming}
        onRenaming={setRenaming}
        onShow={show}
        onClose={close}
        onMove={move}
        onRename={terminals.rename}
      >
        <AddButton agents={agents} onAdd={add} />
      </TerminalTabs>
      {isSearching ? <SearchBar found={found} onFind={(...asked) => handle.current?.find(...asked)} onEnd={endSearch} /> : null}
      <div className="term-body">
        {shown === undefined ? (
          <Empty
            icon={<SquareTerminal />}
            title={terminalText.none}
            action={
              agents.length === 0 ? undefined : (
                <Button kind="primary" icon={<Plus />} onClick={() => add()}>
                  {terminalText.add}
                </Button>
              )
            }
          >
            {terminalText.noneHint}
          </Empty>
        ) : (
          <Notice
            workspace={workspace}
            agent={agents.find(({ name }) => name === shown.agent)}
            agentName={shown.agent}
            state={states[shown.id]}
            onRetry={() => handle.current?.tryNow()}
            onRenew={() => renew(shown.id)}
          />
        )}
        <div className="term-panels">
          {tabs.all.map((tab) => (
            <TerminalView
              key={tab.id}
              ref={tab === shown ? handle : undefined}
              tab={tab}
              label={labelOf(tab)}
              agent={agents.find(({ name }) => name === tab.agent)}
              isShown={tab === shown}
              takesFocus
              theme={theme}
              fontSize={font.size}
              onState={(state) => setState(tab.id, state)}
              onTitle={(title) => setTitle(tab.id, title)}
              onFound={(next) => tab === shown && setFound(next)}
              onHover={setHovered}
              onKey={onKey}
              onRenew={() => renew(tab.id)}
            />
          ))}
        </div>
        {hovered === undefined ? null : <div className="term-address truncate mono">{hovered}</div>}
      </div>
    </div>
  )
}

const AddButton = ({ agents, onAdd }: { readonly agents: ReadonlyArray<WorkspaceAgent>; readonly onAdd: (agent?: string) => void }) =>
  agents.length < 2 ? (
    <IconButton
      size="small"
      label={terminalText.add}
      keys="Ctrl Shift Enter"
      icon={<Plus />}
      disabled={agents.length === 0}
      onClick={() => onAdd()}
    />
  ) : (
    <Menu align="start" label={terminalText.add} trigger={<IconButton size="small" label={terminalText.add} icon={<Plus />} />}>
      {agents.map(({ id, name }) => (
        <MenuItem key={id} icon={<SquareTerminal />} onSelect={() => onAdd(name)}>
          {terminalText.addOn(name)}
        </MenuItem>
      ))}
    </Menu>
  )

interface SearchProps {
  readonly found: { readonly at: number; readonly count: number }
  readonly onFind: TerminalHandle["find"]
  readonly onEnd: () => void
}

const SearchBar = ({ found: { at, count }, onEnd, onFind }: SearchProps) => {
  const [typed, setTyped] = useState("")
  return (
    <div className="term-search" role="search">
      <Search aria-hidden />
      <input
        type="search"
        autoFocus
        aria-label={terminalText.search}
        placeholder={terminalText.search}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          onFind(event.target.value, "previous", true)
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onEnd()
          else if (event.key === "Enter") onFind(typed, event.shiftKey ? "next" : "previous", false)
          else return
          event.preventDefault()
        }}
      />
      <span className="term-found" role="status">
        {typed === "" ? "" : count === 0 ? terminalText.nothing : terminalText.found(at, count)}
      </span>
      <IconButton size="small" label={terminalText.previous} icon={<ChevronUp />} onClick={() => onFind(typed, "previous", false)} />
      <IconButton size="small" label={terminalText.next} icon={<ChevronDown />} onClick={() => onFind(typed, "next", false)} />
      <IconButton size="small" label={terminalText.closeSearch} icon={<X />} onClick={onEnd} />
    </div>
  )
}

interface NoticeProps {
  readonly workspace: Workspace
  readonly agent: WorkspaceAgent | undefined
  readonly agentName: string
  readonly state: ConnectionState | undefined
  readonly onRetry: () => void
  readonly onRenew: () => void
}

/** Says what keeps a terminal from being used, and what can be done about it. */
const Notice = (props: NoticeProps) => {
  const said = useNotice(props)
  return (
    <div className="term-notice" role="status" data-shown={said !== undefined || undefined}>
      {said?.text === undefined ? null : <span>{said.text}</span>}
      {said?.action}
    </div>
  )
}

const useNotice = ({
  agent,
  agentName,
  onRenew,
  onRetry,
  state,
  workspace
}: NoticeProps): { readonly text: string; readonly action?: ReactNode } | undefined => {
  const { id, latest_build, name, organization_id, owner_id, owner_name } = workspace
  const may = useMay({ start: { on: "workspace", to: "start", owner: owner_id, organization: organization_id, id } })
  const act = useAction()
  const now = useSeconds(state?.kind === "lost")
  if (isBuilding(latest_build)) {
    const params = { owner: owner_name, workspace: name, build: String(latest_build.build_number) }
    return {
      text: terminalText.building,
      action: (
        <ButtonLink size="small" to="/@{$owner}/$workspace/builds/$build" params={params}>
          {terminalText.showBuild}
        </ButtonLink>
      )
    }
  }
  if (latest_build.status !== "running") {
    return {
      text: terminalText.off,
      action:
        canStart(workspace) && may.start ? (
          <Button size="small" isBusy={act.isPending} onClick={() => act.mutate({ workspace, action: "start" })}>
            {actionsText.start}
          </Button>
        ) : undefined
    }
  }
  if (agent === undefined) return { text: terminalText.agentMissing(agentName) }
  if (agent.status === "connecting") return { text: terminalText.agentConnecting(agentName) }
  if (agent.status !== "connected") return { text: terminalText.agentLost(agentName) }
  switch (state?.kind) {
    case "lost": {
      const seconds = Math.ceil((state.again - now) / 1_000)
      return {
        text: seconds > 0 ? terminalText.lostFor(seconds) : terminalText.lostNow,
        action: (
          <Button size="small" onClick={onRetry}>
            {terminalText.tryNow}
          </Button>
        )
      }
    }
    case "ended":
      return {
        text: terminalText.ended,
        action: (
          <Button size="small" onClick={onRenew}>
            {terminalText.renew}
          </Button>
        )
      }
    case "refused":
      return {
        text: `${terminalText.refused} ${state.error.message}`,
        action: (
          <Button size="small" onClick={onRetry}>
            {terminalText.tryAgain}
          </Button>
        )
      }
    case "connecting":
      return { text: terminalText.connecting }
    default:
      return undefined
  }
}

/** The time, every second while it is needed. */
const useSeconds = (isNeeded: boolean): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isNeeded) return undefined
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isNeeded])
  return now
}
