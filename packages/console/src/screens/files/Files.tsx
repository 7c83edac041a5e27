/** The files of a workspace: one folder, or one file. */
import type { FileEntry, WorkspaceAgent } from "@atelier/client"
import * as files from "@atelier/client/files"
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { ChevronRight, FilePlus, Folder, FolderPlus, House, Upload as UploadIcon } from "lucide-react"
import { type DragEvent, useEffect, useRef, useState } from "react"
import { client } from "../../app/client.js"
import { useLive } from "../../app/live.js"
import { filesText } from "../../texts/files.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { useSorted } from "../../ui/lists/sorted.js"
import { Table, TableSkeleton } from "../../ui/lists/Table.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { AgentError, WithAgent } from "./Agents.js"
import { chosenFiles, type Dropped, maximumEntries, readDropped, TooManyFiles } from "./dropped.js"
import { MakeDialog, RemoveDialog, RenameDialog } from "./FileDialogs.js"
import { fileColumns } from "./fileColumns.js"
import { FileView } from "./FileView.js"
import { type Address, LeaveGuard } from "./LeaveGuard.js"
import { ancestors, folderOf, within } from "./paths.js"
import { writeVersion } from "./transfer.js"
import { UploadButtons } from "./UploadButtons.js"
import { UploadList } from "./UploadList.js"
import { type Chosen, useUploads } from "./uploads.js"
import "./files.css"

const route = getRouteApi("/@{$owner}/$workspace/files")

export const Files = () => {
  const { agent, path } = route.useSearch()
  return <WithAgent name={agent}>{(found, isConnected) => <OfAgent agent={found} isConnected={isConnected} path={path} />}</WithAgent>
}

interface PlaceProps {
  readonly agent: WorkspaceAgent
  readonly isConnected: boolean
  readonly path: string | undefined
}

const agentIn = ({ search }: Address): unknown =>
  typeof search === "object" && search !== null && "agent" in search ? search.agent : undefined

const OfAgent = ({ agent, isConnected, path }: PlaceProps) => {
  const queryClient = useQueryClient()
  // Here, because uploads go on while other folders and files are looked at
  const uploads = useUploads(isConnected ? agent.id : undefined, (done) => {
    notify(filesText.uploaded(done[0]?.name ?? "", done.length))
    void queryClient.invalidateQueries({ queryKey: ["files", agent.id] })
  })
  const taken = uploads.all.filter(({ state }) => state === "taken").length
  const manyActions = (
    <>
      {taken < 2 ? null : (
        <Button size="small" onClick={uploads.replaceAll}>
          {filesText.replaceAll(taken)}
        </Button>
      )}
      {uploads.all.length < 2 ? null : (
        <Button size="small" onClick={uploads.removeAll}>
          {filesText.cancelAll}
        </Button>
      )}
    </>
  )
  return (
    <>
      {uploads.all.length === 0 ? null : (
        <Section isFlush title={filesText.uploads} actions={manyActions}>
          <UploadList uploads={uploads.all} onRemove={uploads.remove} onReplace={uploads.replace} />
        </Section>
      )}
      <Place agent={agent} isConnected={isConnected} path={path} onUpload={uploads.add} />
      <LeaveGuard
        isNeeded={uploads.all.some(({ state }) => state !== "failed")}
        isLeft={(current, next) => current.pathname !== next.pathname || agentIn(current) !== agentIn(next)}
        title={filesText.uploadsTitle}
        hint={filesText.uploadsHint}
      />
    </>
  )
}

/** Where the agent's files begin for a user who has named no place. */
const home = "."

/** What is at a path, as the links lead to it: a folder that a link leads to is shown as a folder. */
const useKind = (agent: string, path: string, isConnected: boolean) =>
  useQuery({
    queryKey: ["files", agent, "kind", path],
    enabled: isConnected,
    queryFn: async ({ signal }) => {
      const entry = await files.describeFile(client, { workspaceagent: agent, path }, { signal })
      if (entry.type !== "symlink") return entry
      // A list follows the link, and fails for a file
      const isFolder = await files.listFiles(client, { workspaceagent: agent, path, limit: "1" }, { signal }).then(
        () => true,
        () => false
      )
      return { ...entry, type: isFolder ? ("directory" as const) : ("file" as const) }
    }
  })

type Upload = (files: ReadonlyArray<Chosen>) => void

const Place = ({ agent, isConnected, onUpload, path = home }: PlaceProps & { readonly onUpload: Upload }) => {
  const { data: found, error, refetch } = useKind(agent.id, path, isConnected)
  // What is there stays while the agent is away, and while the agent of the next build is asked: it may be a file that is edited
  const [seen, setSeen] = useState<{ readonly path: string; readonly entry: FileEntry }>()
  if (found !== undefined && (seen?.path !== path || seen.entry !== found)) setSeen({ path, entry: found })
  const data = found ?? (seen?.path === path ? seen.entry : undefined)
  if (data === undefined) {
    return <Section isFlush>{error === null ? <TableSkeleton rows={6} /> : <AgentError error={error} onRetry={refetch} />}</Section>
  }
  if (data.type !== "directory") {
    return (
      <FileView key={data.path} agent={agent} entry={data} isConnected={isConnected} crumbs={<Crumbs agent={agent} path={data.path} />} />
    )
  }
  return isConnected ? <FolderView key={`${agent.id} ${data.path}`} agent={agent} path={data.path} onUpload={onUpload} /> : null
}

/** The way to a path, each part a link. Below the agent's own folder it begins there. */
const Crumbs = ({ agent: { expanded_directory = "" }, path }: { readonly agent: WorkspaceAgent; readonly path: string }) => {
  const all = ancestors(path)
  const own = all.findIndex((each) => each.path === expanded_directory)
  const shown = own === -1 || own === all.length - 1 ? all : all.slice(own + 1)
  return (
    <nav className="files-crumbs" aria-label={filesText.place}>
      <Link
        from="/@{$owner}/$workspace/files"
        search={({ agent }) => (agent === undefined ? {} : { agent })}
        title={filesText.home}
        aria-label={filesText.home}
      >
        <House aria-hidden />
      </Link>
      {shown.map(({ name, path: here }, index) => (
        <span key={here} className="files-crumb">
          {name === "/" || shown[index - 1]?.name === "/" ? null : <ChevronRight aria-hidden />}
          {index === shown.length - 1 ? (
            <span className="files-here" aria-current="page">
              {name}
            </span>
          ) : (
            <Link from="/@{$owner}/$workspace/files" search={(before) => ({ ...before, path: here })}>
              {name}
            </Link>
          )}
        </span>
      ))}
    </nav>
  )
}

const pageSize = "500"

type Asked = { readonly kind: "folder" | "file" } | { readonly kind: "rename" | "remove"; readonly entry: FileEntry }

const byKind = (one: FileEntry, other: FileEntry): number => Number(other.type === "directory") - Number(one.type === "directory")
const byKindAndName = (one: FileEntry, other: FileEntry): number => byKind(one, other) || one.name.localeCompare(other.name)

interface FolderProps {
  readonly agent: WorkspaceAgent
  readonly path: string
  readonly onUpload: Upload
}

/** The entries of a folder, in parts; followed as they change. */
const useFolder = (agent: string, path: string) => {
  const queryClient = useQueryClient()
  const queryKey = ["files", agent, "list", path]
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      files.listFiles(
        client,
        { workspaceagent: agent, path, limit: pageSize, ...(pageParam === "" ? {} : { after: pageParam }) },
        { signal }
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next
  })
  const soon = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(soon.current), [])
  useLive({
    of: ["files", agent, path],
    open: (signal) => files.watchFiles(client, { workspaceagent: agent, path }, { signal }),
    onValue: () => {
      // Many files may change at once
      soon.current ??= setTimeout(() => {
        soon.current = undefined
        void queryClient.invalidateQueries({ queryKey })
      }, 250)
    }
  })
  return query
}

const FolderView = ({ agent: of, onUpload, path }: FolderProps) => {
  const { id: agent } = of
  const navigate = useNavigate({ from: "/@{$owner}/$workspace/files" })
  const queryClient = useQueryClient()
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, isLoadingError, refetch } = useFolder(agent, path)
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ["files", agent] })
  const [asked, setAsked] = useState<Asked>()
  const [isOver, setOver] = useState(false)
  const all = data?.pages.flatMap(({ entries }) => entries) ?? []
  const open = (to: string): void => void navigate({ search: (before) => ({ ...before, path: to }) })
  const above = folderOf(path)
  const add = async (read: () => Dropped | Promise<Dropped>): Promise<void> => {
    try {
      const { emptyFolders, files: found, unreadable } = await read()
      const pathOf = (names: ReadonlyArray<string>): string => names.reduce(within, path)
      onUpload(found.map(({ file, names }) => ({ path: pathOf(names), name: names.join("/"), file })))
      if (unreadable[0] !== undefined) notifyError(new Error(filesText.unreadable(unreadable[0], unreadable.length)))
      for (const names of emptyFolders)
        await files.makeDirectory(client, { workspaceagent: agent, body: { path: pathOf(names), parents: true } })
    } catch (error) {
      notifyError(error instanceof TooManyFiles ? new Error(filesText.tooMany(maximumEntries)) : error)
    }
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    // They are gone once the event has ended
    const entries = Array.from(event.dataTransfer.items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
    void add(() => readDropped(entries))
  }
  const columns = fileColumns({
    agent,
    onRename: (entry) => setAsked({ kind: "rename", entry }),
    onRemove: (entry) => setAsked({ kind: "remove", entry })
  })
  const { onSort, rows, sorting } = useSorted("files", columns, all)
  // Folders come first in every order. A part of a folder is shown in the order of names, in which its parts come
  const entries = (hasNextPage ? all : rows).toSorted(sorting === undefined || hasNextPage ? byKindAndName : byKind)
  return (
    <div
      className="files-area"
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={drop}
    >
      <Section
        isFlush
        title={<Crumbs agent={of} path={path} />}
        actions={
          <div className="files-tools">
            <IconButton kind="secondary" label={filesText.newFile} icon={<FilePlus />} onClick={() => setAsked({ kind: "file" })} />
            <IconButton kind="secondary" label={filesText.newFolder} icon={<FolderPlus />} onClick={() => setAsked({ kind: "folder" })} />
            <UploadButtons onChosen={(chosen) => void add(() => chosenFiles(chosen))} />
          </div>
        }
      >
        {isLoadingError ? (
          <AgentError error={error} onRetry={refetch} />
        ) : data === undefined ? (
          <TableSkeleton rows={6} />
        ) : entries.length === 0 ? (
          <Empty
            icon={<Folder />}
            title={filesText.empty}
            action={above === undefined ? undefined : <Button onClick={() => open(above)}>{filesText.up}</Button>}
          >
            {filesText.emptyHint}
          </Empty>
        ) : (
          <Table
            label={filesText.title}
            columns={columns}
            count={entries.length}
            rowAt={(index) => entries[index]}
            sorting={hasNextPage ? undefined : sorting}
            onSort={hasNextPage ? undefined : onSort}
            keyOf={(entry) => entry.path}
            nameOf={({ name }) => name}
            onOpen={(entry) => open(entry.path)}
          />
        )}
        {hasNextPage ? (
          <div className="files-more">
            <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              {filesText.older}
            </Button>
          </div>
        ) : null}
      </Section>
      {isOver ? (
        <div className="files-drop" aria-hidden>
          <UploadIcon /> {filesText.drop}
        </div>
      ) : null}
      <Dialogs agent={agent} path={path} asked={asked} onClose={() => setAsked(undefined)} onChanged={refresh} onOpen={open} />
    </div>
  )
}

interface DialogsProps {
  readonly agent: string
  readonly path: string
  readonly asked: Asked | undefined
  readonly onClose: () => void
  readonly onChanged: () => Promise<void>
  readonly onOpen: (path: string) => void
}

/** What asks before files are made, renamed or removed. */
const Dialogs = ({ agent, asked, onChanged, onClose, onOpen, path }: DialogsProps) => (
  <>
    <MakeDialog
      kind={asked?.kind === "folder" || asked?.kind === "file" ? asked.kind : undefined}
      onClose={onClose}
      onMake={async (kind, name) => {
        const to = within(path, name)
        if (kind === "folder") await files.makeDirectory(client, { workspaceagent: agent, body: { path: to } })
        else await writeVersion({ agent, path: to }, new Uint8Array(), { none: true })
        await onChanged()
        notify(filesText.made(name))
        if (kind === "file") onOpen(to)
      }}
    />
    <RenameDialog
      entry={asked?.kind === "rename" ? asked.entry : undefined}
      onClose={onClose}
      onRename={async (entry, name) => {
        await files.moveFile(client, { workspaceagent: agent, body: { from: entry.path, to: within(path, name) } })
        await onChanged()
        notify(filesText.renamed(name))
      }}
    />
    <RemoveDialog agent={agent} entry={asked?.kind === "remove" ? asked.entry : undefined} onClose={onClose} onRemoved={onChanged} />
  </>
)
