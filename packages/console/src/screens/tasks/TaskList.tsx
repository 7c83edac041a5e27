/** The tasks that the user may see, and the box where the next one begins. */
import type { Task } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { SearchX, Sparkles, Trash2 } from "lucide-react"
import { useState } from "react"
import { client, statusOf } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import type { Check } from "../../app/check.js"
import { useMay, useOrganization } from "../../app/session.js"
import { tasksText } from "../../texts/tasks.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Status } from "../../ui/page/Badge.js"
import { Button } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Filter, type FilterKey } from "../../ui/lists/Filter.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { SelectionBar } from "../../ui/lists/SelectionBar.js"
import { Empty, ErrorState } from "../../ui/page/States.js"
import { byText, byTime, useSorted } from "../../ui/lists/sorted.js"
import { type Column, Table, TableSkeleton } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { type View, Views } from "../../ui/lists/Views.js"
import { findOrganizations, findUsernames } from "../people/queries.js"
import { mine, taskTemplatesQuery, tasksQuery } from "./queries.js"
import { isBuilding, messageOf, stateOf } from "./state.js"
import { TaskPrompt } from "./TaskPrompt.js"
import "./tasks.css"

const route = getRouteApi("/tasks")

const { filterHints } = tasksText

const keys: ReadonlyArray<FilterKey> = [
  { key: "owner", hint: filterHints.owner, search: findUsernames },
  { key: "status", hint: filterHints.status, values: ["pending", "initializing", "active", "paused", "unknown", "error"] },
  { key: "organization", hint: filterHints.organization, search: findOrganizations }
]

const views: ReadonlyArray<View> = [
  { label: tasksText.views.mine, filter: undefined },
  { label: tasksText.views.all, filter: "" },
  { label: tasksText.views.active, filter: "status:active" },
  { label: tasksText.views.paused, filter: "status:paused" },
  { label: tasksText.views.failed, filter: "status:error" }
]

const whileMoving = 2_000
const atRest = 10_000

/** What decides whether a task may be deleted: the right is the same for all tasks of an owner in an organization. */
const placeOf = ({ organization_id, owner_id }: Task): string => `${organization_id} ${owner_id}`

const deletionOf = ({ organization_id, owner_id }: Task): Check => ({
  on: "workspace",
  to: "delete",
  owner: owner_id,
  organization: organization_id
})

const none: ReadonlyArray<Task> = []

const { columns: heads } = tasksText
const columns: ReadonlyArray<Column<Task>> = [
  {
    id: "name",
    header: heads.name,
    width: "minmax(0, 2.4fr)",
    compare: byText(({ display_name, name }) => display_name || name),
    cell: (task) => <NameCell task={task} />
  },
  { id: "status", header: heads.status, width: "minmax(92px, 1.4fr)", from: 576, cell: (task) => <StateCell task={task} /> },
  {
    id: "template",
    header: heads.template,
    compare: byText(({ template_display_name, template_name }) => template_display_name || template_name),
    width: "minmax(0, 1fr)",
    from: 800,
    cell: ({ template_display_name, template_name }) => <span className="truncate muted">{template_display_name || template_name}</span>
  },
  {
    id: "owner",
    header: heads.owner,
    compare: byText(({ owner_name }) => owner_name),
    width: "minmax(0, 1fr)",
    from: 960,
    cell: ({ owner_avatar_url, owner_name }) => (
      <span className="tk-owner">
        <Avatar name={owner_name} src={owner_avatar_url} size={18} />
        <span className="truncate">{owner_name}</span>
      </span>
    )
  },
  {
    id: "created",
    header: heads.created,
    compare: byTime(({ created_at }) => created_at),
    width: "112px",
    from: 640,
    cell: ({ created_at }) => (
      <span className="muted">
        <Time at={created_at} />
      </span>
    )
  }
]

export const TaskList = () => {
  const { filter } = route.useSearch()
  const navigate = useNavigate()
  const organization = useOrganization()
  const shown = filter ?? mine
  const q = [shown, organization === undefined || shown.includes("organization:") ? "" : `organization:${organization.id}`].join(" ").trim()
  const { data, error, refetch } = useQuery({
    ...tasksQuery(q),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.tasks.some((task) => stateOf(task).isMoving) === true ? whileMoving : atRest)
  })
  const { onSort, rows, sorting } = useSorted("tasks", columns, data?.tasks ?? none)
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set())
  const selected = rows.filter(({ id }) => selection.has(id))
  const clear = (): void => setSelection(new Set())
  const setFilter = (next: string | undefined): void => {
    clear()
    void navigate({ to: "/tasks", search: next === undefined || next === mine ? {} : { filter: next } })
  }
  // The prompt says why there is no task
  const { data: templates } = useQuery(taskTemplatesQuery)
  const hasNone = filter === undefined && templates?.length === 0 && data?.tasks.length === 0
  const tools = (
    <div className="tk-tools">
      <Filter value={shown} onChange={setFilter} label={tasksText.filter} placeholder={tasksText.filterPlaceholder} keys={keys} />
      <Views views={views} filter={filter} onChoose={setFilter} />
    </div>
  )

  return (
    <Page>
      <PageHeader title={tasksText.title} description={tasksText.description} />
      <TaskPrompt />
      {hasNone ? null : tools}
      {data === undefined ? (
        error === null ? (
          <div className="tk-card">
            <TableSkeleton />
          </div>
        ) : (
          <ErrorState error={error} onRetry={refetch} />
        )
      ) : hasNone ? null : rows.length === 0 ? (
        <NoTasks isFiltered={filter !== undefined && filter !== ""} onClear={() => setFilter(undefined)} />
      ) : (
        <div className="tk-card">
          <div className="tk-count" role="status">
            {tasksText.count(rows.length)}
          </div>
          <Table
            label={tasksText.title}
            columns={columns}
            count={rows.length}
            rowAt={(index) => rows[index]}
            sorting={sorting}
            onSort={onSort}
            keyOf={({ id }) => id}
            nameOf={({ display_name, name }) => display_name || name}
            rowHeight={56}
            selection={selection}
            onSelect={setSelection}
            onOpen={({ name, owner_name }) => void navigate({ to: "/tasks/$owner/$task", params: { owner: owner_name, task: name } })}
          />
        </div>
      )}
      <ManyActions selected={selected} onDone={clear} />
    </Page>
  )
}

interface ManyProps {
  readonly selected: ReadonlyArray<Task>
  readonly onDone: () => void
}

/** What can be done to several tasks at once. */
const ManyActions = ({ onDone, selected }: ManyProps) => {
  const [isDeleting, setDeleting] = useState(false)
  // What is asked about stays the same while states change
  const [chosen, setChosen] = useState<ReadonlyArray<Task>>([])
  const may = useMay(Object.fromEntries(selected.map((task) => [placeOf(task), deletionOf(task)])))
  const deletable = selected.filter((task) => !isBuilding(task) && may[placeOf(task)] === true)
  const remove = useMutation({
    mutationFn: async (chosen: ReadonlyArray<Task>) => {
      const refusals: Array<unknown> = []
      // One after the other: each begins a build
      for (const { id, owner_name } of chosen) {
        await tasks.deleteTask(client, { user: owner_name, task: id }).catch((refusal: unknown) => {
          // The session is over: the others would be refused as well
          if (statusOf(refusal) === 401) throw refusal
          refusals.push(refusal)
        })
      }
      return refusals
    },
    onSuccess: (refusals, chosen) => {
      const done = chosen.length - refusals.length
      if (done > 0) notify(tasksText.deletedMany(done, refusals.length))
      else notifyError(refusals[0])
      onDone()
      return queryClient.invalidateQueries({ queryKey: ["tasks"] })
    }
  })
  return (
    <>
      <SelectionBar count={selected.length} onClear={onDone}>
        <Button
          size="small"
          kind="quiet"
          icon={<Trash2 />}
          isBusy={remove.isPending}
          disabled={deletable.length === 0}
          onClick={() => {
            setChosen(deletable)
            setDeleting(true)
          }}
        >
          {tasksText.delete}
        </Button>
      </SelectionBar>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={tasksText.deleteManyTitle(chosen.length)}
        description={tasksText.deleteHint}
        action={tasksText.deleteMany(chosen.length)}
        isDangerous
        onConfirm={() => remove.mutateAsync(chosen)}
      >
        <ul className="tk-names">
          {chosen.map(({ display_name, id, name, owner_name }) => (
            <li key={id} className="truncate">
              {display_name || name} <span className="faint">{owner_name}</span>
            </li>
          ))}
        </ul>
      </ConfirmDialog>
    </>
  )
}

const NameCell = ({ task }: { readonly task: Task }) => {
  const { display_name, initial_prompt, name, owner_name, template_display_name, template_icon, template_name } = task
  const title = display_name || name
  return (
    <div className="tk-name">
      <Avatar name={template_display_name || template_name} src={template_icon} size={32} isThing />
      <div className="tk-name-text">
        <Link to="/tasks/$owner/$task" params={{ owner: owner_name, task: name }} className="truncate tk-link" title={title}>
          {title}
        </Link>
        <div className="truncate faint tk-sub">
          <span className="tk-sub-status">
            <Status {...stateOf(task)}>{stateOf(task).label}</Status> ·{" "}
          </span>
          <span>{initial_prompt.trim() === "" ? name : initial_prompt}</span>
        </div>
      </div>
    </div>
  )
}

const StateCell = ({ task }: { readonly task: Task }) => {
  const { isMoving, label, tone } = stateOf(task)
  const message = messageOf(task)
  return (
    <div className="tk-state">
      <Status tone={tone} isMoving={isMoving}>
        {label}
      </Status>
      {message === "" ? null : (
        <span className="truncate faint tk-sub" title={message}>
          {message}
        </span>
      )}
    </div>
  )
}

const NoTasks = ({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) =>
  isFiltered ? (
    <Empty icon={<SearchX />} title={tasksText.noMatch} action={<Button onClick={onClear}>{tasksText.clearFilter}</Button>}>
      {tasksText.noMatchHint}
    </Empty>
  ) : (
    <Empty icon={<Sparkles />} title={tasksText.none}>
      {tasksText.noneHint}
    </Empty>
  )
