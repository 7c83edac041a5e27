/** All workspaces that the user may see. */
import type { Workspace } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import * as users from "@atelier/client/users"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { ArrowUpCircle, Box, EllipsisVertical, Play, Plus, RotateCw, SearchX, Square, Star, SquareTerminal, Trash2, X } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { serverPage } from "../../app/config.js"
import { useOrganization } from "../../app/session.js"
import { tableText } from "../../texts/ui.js"
import { actionsText, statusText, workspacesText } from "../../texts/workspaces.js"
import { Avatar } from "../../ui/Avatar.js"
import { Badge, Status } from "../../ui/Badge.js"
import { Button, ButtonLink, IconButton } from "../../ui/Button.js"
import { ConfirmDialog } from "../../ui/Dialog.js"
import { Filter, type FilterKey } from "../../ui/Filter.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/Menu.js"
import { Page, PageHeader } from "../../ui/Page.js"
import { Empty, ErrorState } from "../../ui/States.js"
import { type Column, Table, TableSkeleton } from "../../ui/Table.js"
import { Time } from "../../ui/Time.js"
import { type Action, useAction, useActions, useFavorite, useWake } from "./actions.js"
import { DeleteDialog } from "./DeleteDialog.js"
import { useWorkspacePages } from "./pages.js"
import { agentsOf, canStart, canStop, isBuilding, stateOf } from "./state.js"
import "./WorkspaceList.css"

const route = getRouteApi("/workspaces")

const truth = ["true", "false"]
const found = 8

const plainKeys: ReadonlyArray<FilterKey> = [
  {
    key: "owner",
    search: async (typed, signal) => [
      "me",
      ...(await users.listUsers(client, { q: typed, limit: found }, { signal })).users.map(({ username }) => username)
    ]
  },
  { key: "status", values: Object.keys(statusText).slice(0, 10) },
  {
    key: "template",
    search: async (_, signal) => (await templates.listTemplates(client, {}, { signal })).map(({ name }) => name)
  },
  { key: "name" },
  { key: "organization" },
  { key: "outdated", values: truth },
  { key: "healthy", values: truth },
  { key: "dormant", values: truth },
  { key: "shared", values: truth },
  { key: "has-agent", values: ["connecting", "connected", "disconnected", "timeout"] },
  { key: "param" },
  { key: "last_used_before" },
  { key: "last_used_after" },
  { key: "shared_with_user", values: ["me"] },
  { key: "shared_with_group" }
]

const hints: Readonly<Record<string, string>> = workspacesText.filterHints
const keys = plainKeys.map((each): FilterKey => ({ ...each, hint: hints[each.key] ?? "" }))

const { views } = workspacesText
const chips: ReadonlyArray<readonly [label: string, filter: string | undefined]> = [
  [views.mine, undefined],
  [views.all, ""],
  [views.running, "status:running"],
  [views.failed, "status:failed"],
  [views.outdated, "outdated:true"]
]

/** The filter that no words in the address mean. */
const mine = "owner:me"

export const WorkspaceList = () => {
  const { filter } = route.useSearch()
  const navigate = useNavigate()
  const organization = useOrganization()
  const shown = filter ?? mine
  const q = [shown, organization === undefined || shown.includes("organization:") ? "" : `organization:${organization.id}`].join(" ").trim()
  const { count, error, isPending, onRange, refetch, rowAt } = useWorkspacePages(q)
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set())
  const [deleting, setDeleting] = useState<Workspace | undefined>()
  const [isDeletingMany, setDeletingMany] = useState(false)
  const act = useAction()
  const actOnMany = useActions()

  const setFilter = (next: string | undefined): void => {
    setSelection(new Set())
    void navigate({ to: "/workspaces", search: next === undefined || next === mine ? {} : { filter: next } })
  }
  const rows = (): ReadonlyArray<Workspace> => Array.from({ length: count }, (_, index) => rowAt(index)).flatMap((row) => row ?? [])
  const selected = selection.size === 0 ? [] : rows().filter(({ id }) => selection.has(id))
  const onMany = (action: Action, chosen: ReadonlyArray<Workspace>): void =>
    actOnMany.mutate({ action, chosen }, { onSuccess: () => setSelection(new Set()) })

  const { columns: heads } = workspacesText
  const columns: ReadonlyArray<Column<Workspace>> = [
    { id: "name", header: heads.name, width: "minmax(0, 2.2fr)", cell: (row) => <NameCell workspace={row} /> },
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
    },
    {
      id: "actions",
      header: <span className="visually-hidden">{heads.actions}</span>,
      width: "var(--ws-actions)",
      align: "end",
      cell: (row) => (
        <RowActions workspace={row} onAction={(action) => act.mutate({ workspace: row, action })} onDelete={() => setDeleting(row)} />
      )
    }
  ]

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
        <div className="ws-views" role="group" aria-label={views.label}>
          {chips.map(([label, value]) => (
            <button key={label} type="button" className="ws-view" aria-pressed={filter === value} onClick={() => setFilter(value)}>
              {label}
            </button>
          ))}
        </div>
      </div>
      {isPending ? (
        <div className="ws-card">
          <TableSkeleton />
        </div>
      ) : error !== null && count === 0 ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : count === 0 ? (
        <NoWorkspaces isFiltered={filter !== undefined && filter !== ""} onClear={() => setFilter(undefined)} />
      ) : (
        <div className="ws-card">
          <div className="ws-count" role="status">
            {workspacesText.count(count)}
          </div>
          <Table
            label={workspacesText.title}
            columns={columns}
            count={count}
            rowAt={rowAt}
            keyOf={({ id }) => id}
            nameOf={({ name }) => name}
            rowHeight={56}
            onRange={onRange}
            selection={selection}
            onSelect={setSelection}
            onOpen={({ name, owner_name }) =>
              void navigate({ to: "/@{$owner}/$workspace", params: { owner: owner_name, workspace: name } })
            }
          />
        </div>
      )}
      {selected.length === 0 ? null : (
        <div className="ws-bulk" role="toolbar" aria-label={workspacesText.selection}>
          <span>{tableText.selected(selection.size)}</span>
          <Button
            size="small"
            kind="quiet"
            icon={<Play />}
            disabled={!selected.some(canStart)}
            onClick={() => onMany("start", selected.filter(canStart))}
          >
            {actionsText.start}
          </Button>
          <Button
            size="small"
            kind="quiet"
            icon={<Square className="icon-solid" />}
            disabled={!selected.some(canStop)}
            onClick={() => onMany("stop", selected.filter(canStop))}
          >
            {actionsText.stop}
          </Button>
          <Button
            size="small"
            kind="quiet"
            icon={<ArrowUpCircle />}
            disabled={!selected.some(({ outdated }) => outdated)}
            onClick={() =>
              onMany(
                "update",
                selected.filter(({ latest_build, outdated }) => outdated && !isBuilding(latest_build))
              )
            }
          >
            {actionsText.update}
          </Button>
          <Button size="small" kind="quiet" icon={<Trash2 />} onClick={() => setDeletingMany(true)}>
            {actionsText.delete}
          </Button>
          <IconButton size="small" label={tableText.clear} icon={<X />} onClick={() => setSelection(new Set())} />
        </div>
      )}
      <DeleteDialog workspace={deleting} onClose={() => setDeleting(undefined)} />
      <ConfirmDialog
        isOpen={isDeletingMany}
        onClose={() => setDeletingMany(false)}
        title={actionsText.deleteManyTitle(selected.length)}
        description={actionsText.deleteHint}
        action={actionsText.deleteManyAction(selected.length)}
        isDangerous
        typedName={`delete ${selected.length}`}
        onConfirm={() => actOnMany.mutateAsync({ action: "delete", chosen: selected }).then(() => setSelection(new Set()))}
      >
        <ul className="ws-names">
          {selected.slice(0, 20).map(({ id, name, owner_name }) => (
            <li key={id} className="truncate mono">
              {owner_name}/{name}
            </li>
          ))}
        </ul>
      </ConfirmDialog>
    </Page>
  )
}

const NameCell = ({ workspace }: { readonly workspace: Workspace }) => {
  const { favorite, name, outdated, owner_name, shared_with = [], template_icon, template_display_name, template_name } = workspace
  const star = useFavorite()
  return (
    <div className="ws-name">
      <Avatar name={template_display_name || template_name} src={template_icon} size={32} isThing />
      <div className="ws-name-text">
        <div className="ws-name-line">
          <Link
            to="/@{$owner}/$workspace"
            params={{ owner: owner_name, workspace: name }}
            className="truncate ws-link"
            title={name}
            tabIndex={-1}
          >
            {name}
          </Link>
          <button
            type="button"
            tabIndex={-1}
            className="ws-star"
            aria-pressed={favorite}
            aria-label={favorite ? workspacesText.unfavorite : workspacesText.favorite}
            onClick={() => star.mutate(workspace)}
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
  readonly onAction: (action: Action) => void
  readonly onDelete: () => void
}

const RowActions = ({ onAction, onDelete, workspace }: RowActionsProps) => {
  const { dormant_at, latest_build, name, outdated, owner_name } = workspace
  const wake = useWake()
  const isBusy = isBuilding(latest_build)
  const [agent] = latest_build.status === "running" ? agentsOf(latest_build) : []
  return (
    <div className="ws-actions">
      {canStart(workspace) ? (
        <IconButton size="small" tabIndex={-1} label={actionsText.start} icon={<Play />} onClick={() => onAction("start")} />
      ) : latest_build.status === "running" ? (
        <IconButton
          size="small"
          tabIndex={-1}
          label={actionsText.stop}
          icon={<Square className="icon-solid" />}
          onClick={() => onAction("stop")}
        />
      ) : null}
      <Menu
        label={workspacesText.more(name)}
        trigger={<IconButton size="small" tabIndex={-1} label={workspacesText.more(name)} icon={<EllipsisVertical />} />}
      >
        {agent === undefined ? null : (
          <MenuItem asChild>
            <a href={serverPage(`/@${owner_name}/${name}.${agent.name}/terminal`)} target="_blank" rel="noreferrer">
              <SquareTerminal aria-hidden />
              <span className="menu-item-label">{actionsText.terminal}</span>
            </a>
          </MenuItem>
        )}
        {dormant_at === null ? null : (
          <MenuItem icon={<Play />} onSelect={() => wake.mutate(workspace)}>
            {actionsText.wake}
          </MenuItem>
        )}
        {canStart(workspace) ? (
          <MenuItem icon={<Play />} onSelect={() => onAction("start")}>
            {actionsText.start}
          </MenuItem>
        ) : (
          <MenuItem
            icon={<Square className="icon-solid" />}
            isDisabled={latest_build.status !== "running"}
            onSelect={() => onAction("stop")}
          >
            {actionsText.stop}
          </MenuItem>
        )}
        <MenuItem icon={<RotateCw />} isDisabled={isBusy || latest_build.status !== "running"} onSelect={() => onAction("restart")}>
          {actionsText.restart}
        </MenuItem>
        {outdated ? (
          <MenuItem icon={<ArrowUpCircle />} isDisabled={isBusy} hint={actionsText.updateHint} onSelect={() => onAction("update")}>
            {actionsText.update}
          </MenuItem>
        ) : null}
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} isDangerous isDisabled={isBusy} onSelect={onDelete}>
          {actionsText.delete}
        </MenuItem>
      </Menu>
    </div>
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
