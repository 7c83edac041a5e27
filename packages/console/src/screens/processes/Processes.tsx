/** The processes of a workspace, and a box that runs commands. */
import type { Process, WorkspaceAgent } from "@atelier/client"
import * as processes from "@atelier/client/processes"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { CircleStop, EllipsisVertical, Play, SquareChevronRight, Trash2, X, Zap } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { processesText } from "../../texts/processes.js"
import { Status } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Field, Input } from "../../ui/forms/Field.js"
import { Form } from "../../ui/forms/Form.js"
import { Log } from "../../ui/text/Log.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { type Column, Table, TableSkeleton } from "../../ui/lists/Table.js"
import { duration, Time } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { AgentError, WithAgent } from "../files/Agents.js"
import { useOutput } from "./output.js"
import "./processes.css"

const route = getRouteApi("/@{$owner}/$workspace/processes")

export const Processes = () => {
  const { agent } = route.useSearch()
  return <WithAgent name={agent}>{(found, isConnected) => <OfAgent agent={found} isConnected={isConnected} />}</WithAgent>
}

/** What runs, as the user wrote it. */
const commandOf = ({ args, program }: Process): string => {
  // A line of the shell is the shell's last argument
  const line = args.at(-1)
  return line !== undefined && /^-\w*c$/.test(args.at(-2) ?? "") ? line : [program, ...args].join(" ")
}

const stateOf = ({ exit_code, signal, status }: Process): { readonly tone: Tone; readonly label: string } => {
  if (status === "running") return { tone: "green", label: processesText.running }
  if (exit_code !== null) return { tone: exit_code === 0 ? "grey" : "red", label: processesText.ended(exit_code) }
  return { tone: "amber", label: processesText.endedBy(signal ?? "") }
}

/** Milliseconds between looks at the list, which no stream tells of. */
const interval = { busy: 2_000, idle: 10_000 }

/** Says which process is shown, in the address. */
const useShow = () => {
  const navigate = route.useNavigate()
  return (process: string | undefined): void =>
    void navigate({
      search: ({ agent }) => ({ ...(agent === undefined ? {} : { agent }), ...(process === undefined ? {} : { process }) }),
      replace: true
    })
}

const OfAgent = ({ agent: { id: agent }, isConnected }: { readonly agent: WorkspaceAgent; readonly isConnected: boolean }) => {
  const queryClient = useQueryClient()
  const show = useShow()
  return (
    <>
      <RunBox
        agent={agent}
        isConnected={isConnected}
        onStarted={async (id) => {
          await queryClient.invalidateQueries({ queryKey: ["processes", agent] })
          show(id)
        }}
      />
      {isConnected ? <ProcessList key={agent} agent={agent} /> : null}
    </>
  )
}

interface Actions {
  readonly show: (process: string) => void
  readonly stop: (process: string, signal?: string) => void
  readonly remove: (process: Process) => void
}

const columnsOf = (actions: Actions): ReadonlyArray<Column<Process>> => [
  {
    id: "process",
    header: processesText.process,
    width: "minmax(64px, 1fr)",
    cell: (process) => (
      <div className="mono truncate" title={commandOf(process)}>
        {commandOf(process)}
      </div>
    )
  },
  {
    id: "state",
    header: processesText.state,
    width: "96px",
    cell: (process) => {
      const { label, tone } = stateOf(process)
      return <Status tone={tone}>{label}</Status>
    }
  },
  {
    id: "pid",
    header: processesText.pid,
    width: "80px",
    from: 560,
    align: "end",
    cell: ({ pid }) => <span className="muted">{pid}</span>
  },
  { id: "started", header: processesText.started, width: "120px", from: 640, cell: ({ started_at }) => <Time at={started_at} /> },
  {
    id: "actions",
    header: <span className="visually-hidden">{processesText.columnActions}</span>,
    width: "40px",
    align: "end",
    cell: (process) => <ProcessMenu process={process} actions={actions} />
  }
]

const ProcessMenu = ({ actions: { remove, show, stop }, process }: { readonly process: Process; readonly actions: Actions }) => {
  const { id, status } = process
  const label = processesText.actions(commandOf(process))
  return (
    <Menu label={label} trigger={<IconButton size="small" label={label} icon={<EllipsisVertical />} />}>
      <MenuItem icon={<SquareChevronRight />} onSelect={() => show(id)}>
        {processesText.show}
      </MenuItem>
      <MenuItem icon={<CircleStop />} isDisabled={status !== "running"} onSelect={() => stop(id)}>
        {processesText.stop}
      </MenuItem>
      <MenuItem icon={<Zap />} isDisabled={status !== "running"} onSelect={() => stop(id, "SIGKILL")}>
        {processesText.kill}
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} isDangerous onSelect={() => remove(process)}>
        {processesText.remove}
      </MenuItem>
    </Menu>
  )
}

const ProcessList = ({ agent }: { readonly agent: string }) => {
  const { process: shown } = route.useSearch()
  const show = useShow()
  const queryClient = useQueryClient()
  const queryKey = ["processes", agent]
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => processes.listProcesses(client, { workspaceagent: agent }, { signal }),
    refetchInterval: ({ state }) => (state.data?.processes.some(({ status }) => status === "running") ? interval.busy : interval.idle)
  })
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey })
  const [removing, setRemoving] = useState<Process>()
  const signalled = useMutation({
    mutationFn: ({ process, signal }: { readonly process: string; readonly signal: string }) =>
      processes.signalProcess(client, { workspaceagent: agent, process, body: { signal } }),
    onSuccess: () => {
      notify(processesText.stopped)
      return refresh()
    },
    onError: notifyError
  })
  const stop = (process: string, signal = "SIGTERM"): void => signalled.mutate({ process, signal })
  const all = (data?.processes ?? []).toSorted((one, other) => other.started_at.localeCompare(one.started_at))
  const chosen = all.find(({ id }) => id === shown)
  return (
    <>
      {chosen === undefined ? null : (
        <Output
          key={chosen.id}
          agent={agent}
          process={chosen}
          isStopping={signalled.isPending}
          onStop={() => stop(chosen.id)}
          onEnd={() => void refresh()}
          onHide={() => show(undefined)}
        />
      )}
      <Section isFlush title={processesText.title} description={processesText.hint}>
        {isLoadingError ? (
          <AgentError error={error} onRetry={refetch} />
        ) : data === undefined ? (
          <TableSkeleton rows={3} />
        ) : all.length === 0 ? (
          <Empty icon={<SquareChevronRight />} title={processesText.none}>
            {processesText.noneHint}
          </Empty>
        ) : (
          <Table
            label={processesText.title}
            columns={columnsOf({ show, stop, remove: setRemoving })}
            count={all.length}
            rowAt={(index) => all[index]}
            keyOf={({ id }) => id}
            nameOf={commandOf}
            onOpen={({ id }) => show(id)}
          />
        )}
      </Section>
      <ConfirmDialog
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={processesText.removeTitle}
        description={processesText.removeHint}
        action={processesText.remove}
        isDangerous
        onConfirm={async () => {
          if (removing === undefined) return
          await processes.deleteProcess(client, { workspaceagent: agent, process: removing.id })
          if (removing.id === shown) show(undefined)
          await refresh()
          notify(processesText.removed)
        }}
      />
    </>
  )
}

interface RunProps {
  readonly agent: string
  readonly isConnected: boolean
  readonly onStarted: (id: string) => Promise<void>
}

const RunBox = ({ agent, isConnected, onStarted }: RunProps) => {
  const [command, setCommand] = useState("")
  const [isBusy, setBusy] = useState(false)
  return (
    <Section title={processesText.runTitle}>
      <Form
        onSubmit={async () => {
          if (command.trim() === "" || !isConnected) return
          setBusy(true)
          try {
            const { id } = await processes.startProcess(client, { workspaceagent: agent, body: { command, stdin: false } })
            setCommand((now) => (now === command ? "" : now))
            await onStarted(id)
          } finally {
            setBusy(false)
          }
        }}
      >
        <Field label={processesText.command} name="command" hint={processesText.commandHint}>
          <div className="processes-run">
            <Input
              className="mono"
              value={command}
              onChange={(event) => setCommand(event.target.value)}
              spellCheck={false}
              autoCapitalize="off"
            />
            <Button type="submit" kind="primary" icon={<Play />} isBusy={isBusy} disabled={command.trim() === "" || !isConnected}>
              {processesText.run}
            </Button>
          </div>
        </Field>
      </Form>
    </Section>
  )
}

interface OutputProps {
  readonly agent: string
  readonly process: Process
  readonly isStopping: boolean
  readonly onStop: () => void
  readonly onEnd: () => void
  readonly onHide: () => void
}

const Output = ({ agent, isStopping, onEnd, onHide, onStop, process }: OutputProps) => {
  const { error, lines, state } = useOutput(agent, process.id, process.output_start, onEnd)
  const { label, tone } = stateOf(process)
  const command = commandOf(process)
  return (
    <Section
      title={<span className="mono">{command}</span>}
      description={
        <span className="processes-state">
          <Status tone={tone}>{label}</Status>
          {process.ended_at === null ? null : (
            <span className="faint">{processesText.took(duration(Date.parse(process.ended_at) - Date.parse(process.started_at)))}</span>
          )}
        </span>
      }
      actions={
        <div className="processes-tools">
          {process.status === "running" ? (
            <Button icon={<CircleStop />} isBusy={isStopping} onClick={onStop}>
              {processesText.stop}
            </Button>
          ) : null}
          <IconButton label={processesText.hide} icon={<X />} onClick={onHide} />
        </div>
      }
    >
      {process.output_start > 0 ? <p className="faint processes-cut">{processesText.cut}</p> : null}
      {error === undefined ? null : (
        <p className="processes-error" role="alert">
          {error.message}
        </p>
      )}
      {lines.length === 0 ? (
        <p className="muted">{processesText.silent}</p>
      ) : (
        <Log
          label={processesText.output(command)}
          lines={lines.map(({ channel, id, text }) => (channel === "stderr" ? { id, text, level: "warn" as const } : { id, text }))}
          fileName={`process-${process.pid}.log`}
          isLive={state === "live"}
          height={360}
        />
      )}
    </Section>
  )
}
