/** All workspaces that the user may see. */
import type { Workspace } from "@atelier/client"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { ArrowUpCircle, Box, EllipsisVertical, Play, Plus, RotateCw, SearchX, Square, Star, SquareTerminal, Trash2 } from "lucide-react"
import { useMemo, useState } from "react"
import { serverPage } from "../../app/config.js"
import { useMay, useMe, useOrganization } from "../../app/session.js"
import { actionsText, workspacesText } from "../../texts/workspaces.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import { Button, ButtonLink, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Filter } from "../../ui/lists/Filter.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { PagedTable } from "../../ui/lists/PagedTable.js"
import { SelectionBar } from "../../ui/lists/SelectionBar.js"
import { Empty } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { Views } from "../../ui/lists/Views.js"
import { type Action, useAction, useActions, useFavorite, useWake } from "./actions.js"
import { DeleteDialog } from "./DeleteDialog.js"
import { chips, keys, mine } from "./filter.js"
import { useWorkspacePages } from "./pages.js"
import { agentsOf, canDelete, canStart, canStop, canUpdate, stateOf } from "./state.js"
import "./WorkspaceList.css"

const route = getRouteApi("/workspaces")

export const WorkspaceList = () => {
  const { filter } = route.useSearch()
  const navigate = useNavigate()
  const organization = useOrganization()
  const shown = filter ?? mine
  const q = [shown, organization === undefined || shown.includes("organization:") ? "" : `organization:${organization.id}`].join(" ").trim()
  const pages = useWorkspacePages(q)
  // As they were chosen: their pages may be read no more
  const [chosen, setChosen] = useState<ReadonlyMap<string, Workspace>>(new Map())
  const [deleting, setDeleting] = useState<Workspace | undefined>()
  const me = useMe()
  // One question for all rows; the menu of a row asks for its workspace
  const may = useMay({ act: { on: "workspace", to: "start" } })
  const act = useAction()

  const byId = new Map([...chosen, ...pages.loaded.map((row) => [row.id, row] as const)])
  const selection = new Set(chosen.keys())
  const selected = Array.from(selection).flatMap((id) => byId.get(id) ?? [])
  const select = (next: ReadonlySet<string>): void => setChosen(new Map([...byId].filter(([id]) => next.has(id))))
  const clear = (): void => setChosen(new Map())

  const setFilter = (next: string | undefined): void => {
    clear()
    void navigate({ to: "/workspaces", search: next === undefined || next === mine ? {} : { filter: next } })
  }
  const { mutate } = act
  const { mutate: star } = useFavorite()
  const columns = useMemo(
    (): ReadonlyArray<Column<Workspace>> => [
      { id: "name", header: heads.name, width: "minmax(0, 2.2fr)", cell: (row) => <NameCell workspace={row} onStar={star} /> },
      ...plainColumns,
      {
        id: "actions",
        header: <span className="visually-hidden">{heads.actions}</span>,
        width: "var(--ws-actions)",
        align: "end",
        cell: (row) => (
          <RowActions
            workspace={row}
            isOffered={row.owner_id === me.id || may.act}
            onAction={(action) => mutate({ workspace: row, action })}
            onDelete={() => setDeleting(row)}
          />
        )
      }
    ],
    [may.act, me.id, mutate, star]
  )

  return (
    <Page>
      <PageHeader
        title={workspacesText.title}
        actions={
          <ButtonLink kind="primary" icon={<Plus />} to="/new">
            {workspacesText.create}
          </ButtonLink>
        }
      />
      <div className="ws-tools">
        <Filter
          value={shown}
          onChange={setFilter}
          label={workspacesText.filter}
          placeholder={workspacesText.filterPlaceholder}
          keys={keys}
        />
        <Views views={chips} filter={filter} onChoose={setFilter} />
      </div>
      <div className="ws-card">
        {pages.count === 0 ? null : (
          <div className="ws-count" role="status">
            {workspacesText.count(pages.count)}
          </div>
        )}
        <PagedTable
          label={workspacesText.title}
          columns={columns}
          pages={pages}
          empty={<NoWorkspaces isFiltered={filter !== undefined && filter !== ""} onClear={() => setFilter(undefined)} />}
          keyOf={({ id }) => id}
          nameOf={({ name }) => name}
          rowHeight={56}
          selection={selection}
          onSelect={select}
          onOpen={({ name, owner_name }) => void navigate({ to: "/@{$owner}/$workspace", params: { owner: owner_name, workspace: name } })}
        />
      </div>
      <ManyActions count={selection.size} chosen={selected} onDone={clear} />
      <DeleteDialog workspace={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  )
}

interface ManyProps {
  /** How many the user has chosen. Some of them may have been deleted since. */
  readonly count: number
  readonly chosen: ReadonlyArray<Workspace>
  /** Something was done to the chosen ones, or nothing is to be. */
  readonly onDone: () => void
}

/** What can be done to several workspaces at once. */
const ManyActions = ({ chosen, count, onDone }: ManyProps) => {
  const [isDeleting, setDeleting] = useState(false)
  const act = useActions()
  const bulk = (action: "start" | "stop" | "update", can: (workspace: Workspace) => boolean) => ({
    isBusy: act.isPending && act.variables.action === action,
    disabled: act.isPending || !chosen.some(can),
    onClick: () => act.mutate({ action, chosen: chosen.filter(can) }, { onSuccess: onDone })
  })
  const deletable = chosen.filter(canDelete)
  return (
    <>
      <SelectionBar count={count} onClear={onDone}>
        <Button size="small" kind="quiet" icon={<Play />} {...bulk("start", canStart)}>
          {actionsText.start}
        </Button>
        <Button size="small" kind="quiet" icon={<Square className="icon-solid" />} {...bulk("stop", canStop)}>
          {actionsText.stop}
        </Button>
        <Button size="small" kind="quiet" icon={<ArrowUpCircle />} {...bulk("update", canUpdate)}>
          {actionsText.update}
        </Button>
        <Button
          size="small"
          kind="quiet"
          icon={<Trash2 />}
          disabled={act.isPending || deletable.length === 0}
          onClick={() => setDeleting(true)}
        >
          {actionsText.delete}
        </Button>
      </SelectionBar>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={actionsText.deleteManyTitle(deletable.length)}
        description={actionsText.deleteHint}
        action={actionsText.deleteManyAction(deletable.length)}
        isDangerous
        typedName={`delete ${deletable.length}`}
        onConfirm={() => act.mutateAsync({ action: "delete", chosen: deletable }).then(onDone)}
      >
        <ul className="ws-names">
          {deletable.slice(0, 20).map(({ id, name, owner_name }) => (
            <li key={id} className="truncate mono">
              {owner_name}/{name}
            </li>
          ))}
        </ul>
      </ConfirmDialog>
    </>
  )
}

const { columns: heads } = workspacesText

const plainColumns: ReadonlyArray<Column<Workspace>> = [
  { id: "status", header: heads.status, width: "minmax(92px, 1fr)", from: 576, cell: (row) => <StatusCell workspace={row} /> },
  {
    id: "template",
    header: heads.template,
    width: "minmax(0, 1.2fr)",
    from: 800,
    cell: ({ template_display_name, template_name }) => (
      <span className="truncate ws-template">{template_display_name || template_name}</span>
    )
  },
  {
    id: "used",
    header: heads.used,
    width: "112px",
    from: 640,
    cell: ({ last_used_at }) => (
      <span className="muted">
        <Time at={last_used_at} />
      </span>
    )
  }
]

const NameCell = ({ onStar, workspace }: { readonly workspace: Workspace; readonly onStar: (workspace: Workspace) => void }) => {
  const { favorite, name, outdated, owner_name, shared_with = [], template_icon, template_display_name, template_name } = workspace
  return (
    <div className="ws-name">
      <Avatar name={template_display_name || template_name} src={template_icon} size={32} isThing />
      <div className="ws-name-text">
        <div className="ws-name-line">
          <Link to="/@{$owner}/$workspace" params={{ owner: owner_name, workspace: name }} className="truncate ws-link" title={name}>
            {name}
          </Link>
          <button
            type="button"
            className="ws-star"
            aria-pressed={favorite}
            aria-label={favorite ? workspacesText.unfavorite : workspacesText.favorite}
            onClick={() => onStar(workspace)}
          >
            <Star aria-hidden />
          </button>
          {outdated ? <Badge tone="accent">{workspacesText.updateAvailable}</Badge> : null}
          {shared_with.length > 0 ? <Badge>{workspacesText.shared}</Badge> : null}
        </div>
        <div className="truncate faint ws-sub">
          <span className="ws-sub-status">
            <StatusCell workspace={workspace} /> ·{" "}
          </span>
          {owner_name}
        </div>
      </div>
    </div>
  )
}

const StatusCell = ({ workspace }: { readonly workspace: Workspace }) => {
  const { isMoving, label, tone } = stateOf(workspace)
  return (
    <Status tone={tone} isMoving={isMoving}>
      {label}
    </Status>
  )
}

interface RowActionsProps {
  readonly workspace: Workspace
  /** The row has a button for the usual next action. */
  readonly isOffered: boolean
  readonly onAction: (action: Action) => void
  readonly onDelete: () => void
}

const RowActions = ({ isOffered, onAction, onDelete, workspace }: RowActionsProps) => {
  const { latest_build, name } = workspace
  return (
    <div className="ws-actions">
      {!isOffered ? null : canStart(workspace) ? (
        <IconButton size="small" label={actionsText.start} icon={<Play />} onClick={() => onAction("start")} />
      ) : latest_build.status === "running" ? (
        <IconButton size="small" label={actionsText.stop} icon={<Square className="icon-solid" />} onClick={() => onAction("stop")} />
      ) : null}
      <Menu
        label={workspacesText.more(name)}
        trigger={<IconButton size="small" label={workspacesText.more(name)} icon={<EllipsisVertical />} />}
      >
        <RowMenu workspace={workspace} onAction={onAction} onDelete={onDelete} />
      </Menu>
    </div>
  )
}

/** What the user may do to a workspace, asked when its menu opens. */
const RowMenu = ({ onAction, onDelete, workspace }: Omit<RowActionsProps, "isOffered">) => {
  const { dormant_at, id, latest_build, name, organization_id, outdated, owner_id, owner_name } = workspace
  const object = { owner: owner_id, organization: organization_id, id }
  const may = useMay({
    start: { on: "workspace", to: "start", ...object },
    stop: { on: "workspace", to: "stop", ...object },
    update: { on: "workspace", to: "update", ...object },
    delete: { on: "workspace", to: "delete", ...object }
  })
  const wake = useWake()
  const isRunning = latest_build.status === "running"
  const [agent] = isRunning ? agentsOf(latest_build) : []
  return (
    <>
      {agent === undefined ? null : (
        <MenuItem asChild>
          <a href={serverPage(`/@${owner_name}/${name}.${agent.name}/terminal`)} target="_blank" rel="noreferrer">
            <SquareTerminal aria-hidden />
            <span className="menu-item-label">{actionsText.terminal}</span>
          </a>
        </MenuItem>
      )}
      {dormant_at === null ? null : (
        <MenuItem icon={<Play />} isDisabled={!may.update} onSelect={() => wake.mutate(workspace)}>
          {actionsText.wake}
        </MenuItem>
      )}
      {canStart(workspace) ? (
        <MenuItem icon={<Play />} isDisabled={!may.start} onSelect={() => onAction("start")}>
          {actionsText.start}
        </MenuItem>
      ) : (
        <MenuItem icon={<Square className="icon-solid" />} isDisabled={!isRunning || !may.stop} onSelect={() => onAction("stop")}>
          {actionsText.stop}
        </MenuItem>
      )}
      <MenuItem icon={<RotateCw />} isDisabled={!isRunning || !may.start || !may.stop} onSelect={() => onAction("restart")}>
        {actionsText.restart}
      </MenuItem>
      {outdated ? (
        <MenuItem
          icon={<ArrowUpCircle />}
          isDisabled={!canUpdate(workspace) || !may.update}
          hint={actionsText.updateHint}
          onSelect={() => onAction("update")}
        >
          {actionsText.update}
        </MenuItem>
      ) : null}
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} isDangerous isDisabled={!canDelete(workspace) || !may.delete} onSelect={onDelete}>
        {actionsText.delete}
      </MenuItem>
    </>
  )
}

const NoWorkspaces = ({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) =>
  isFiltered ? (
    <Empty icon={<SearchX />} title={workspacesText.noMatch} action={<Button onClick={onClear}>{workspacesText.clearFilter}</Button>}>
      {workspacesText.noMatchHint}
    </Empty>
  ) : (
    <Empty
      icon={<Box />}
      title={workspacesText.empty}
      action={
        <ButtonLink kind="primary" icon={<Plus />} to="/new">
          {workspacesText.create}
        </ButtonLink>
      }
    >
      {workspacesText.emptyHint}
    </Empty>
  )
