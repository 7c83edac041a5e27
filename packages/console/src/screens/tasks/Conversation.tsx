/** What was said with a task's program, and what it reported; live while the task is. */
import type { Task, Workspace, WorkspaceAppStatus } from "@atelier/client"
import * as tasks from "@atelier/client/tasks"
import { useQuery } from "@tanstack/react-query"
import { ArrowUp, ExternalLink, MessagesSquare, Play } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { client, statusOf } from "../../app/client.js"
import { isWebAddress } from "../../app/config.js"
import { queryClient } from "../../app/queries.js"
import { taskStateText, taskText } from "../../texts/tasks.js"
import { StatusDot } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"
import { Callout } from "../../ui/page/Callout.js"
import { Field, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../ui/forms/Form.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { agentsOf } from "../workspaces/state.js"
import { refreshTasks } from "./actions.js"
import { type Entry, entriesOf, promptOnly } from "./conversation.js"
import { Said } from "./Said.js"
import { submitByKeys } from "./submitByKeys.js"

interface Props {
  readonly task: Task
  readonly workspace: Workspace | undefined
  readonly may: { readonly send: boolean; readonly resume: boolean; readonly update: boolean }
}

const whileWorking = 1_500
const atRest = 5_000

/** The conversation can be read of a task that is active, and as it was stored before and after. */
const readable = new Set<Task["status"]>(["active", "paused", "pending", "initializing"])

const logsKey = (id: string) => ["tasks", "log", id]

export const Conversation = ({ may, task, workspace }: Props) => {
  const { created_at, current_state, id, initial_prompt, owner_name, status } = task
  const isActive = status === "active"
  // Here, because a program that does not answer for a moment takes the box away, not the text
  const [text, setText] = useState("")
  const { data, error, isPending, refetch } = useQuery({
    queryKey: logsKey(id),
    queryFn: ({ signal }) => tasks.getTaskLogs(client, { user: owner_name, task: id }, { signal }),
    enabled: readable.has(status),
    refetchInterval: isActive ? (current_state?.state === "working" ? whileWorking : atRest) : false
  })
  // Its source is another one
  useEffect(() => {
    if (readable.has(status)) void queryClient.invalidateQueries({ queryKey: logsKey(id) })
  }, [id, status])
  const messages = data === undefined || data.logs.length === 0 ? promptOnly(initial_prompt, created_at) : data.logs
  const reports =
    workspace === undefined ? [] : agentsOf(workspace.latest_build).flatMap(({ apps }) => apps.flatMap(({ statuses }) => statuses))
  const entries = entriesOf(messages, reports)
  return (
    <Section
      title={taskText.conversation}
      actions={
        data?.snapshot === true && data.snapshot_at !== undefined ? (
          <span className="faint tk-sub">
            {taskText.snapshot} <Time at={data.snapshot_at} />
          </span>
        ) : undefined
      }
    >
      <div className="tk-conversation">
        {isPending && readable.has(status) && error === null ? (
          <SkeletonLines count={4} />
        ) : entries.length === 0 ? (
          <Empty icon={<MessagesSquare />} title={taskText.empty} />
        ) : (
          <Entries entries={entries} owner={owner_name} />
        )}
        {error === null ? null : data === undefined && statusOf(error) !== 409 && statusOf(error) !== 404 ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : (
          <Callout kind="warning" title={taskText.unread}>
            {error.message}
          </Callout>
        )}
        {status === "pending" || status === "initializing" ? (
          <p className="faint" role="status">
            {taskText.starting}
          </p>
        ) : null}
        {may.send && (isActive || text !== "") ? <Composer task={task} text={text} onText={setText} /> : null}
        {status === "paused" ? <Resumption task={task} may={may} /> : null}
      </div>
    </Section>
  )
}

const nearEnd = 48

const Entries = ({ entries, owner }: { readonly entries: ReadonlyArray<Entry>; readonly owner: string }) => {
  const scroller = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  const last = entries.at(-1)
  // A message may grow while the program writes it
  const newest = last === undefined ? "" : `${last.key} ${last.kind === "said" ? last.text.length : 0}`
  useEffect(() => {
    const element = scroller.current
    if (element !== null && isFollowing.current) element.scrollTop = element.scrollHeight
  }, [entries.length, newest])
  return (
    <div
      ref={scroller}
      className="tk-entries"
      role="log"
      aria-label={taskText.conversation}
      tabIndex={0}
      onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < nearEnd
      }}
    >
      {entries.map((entry) =>
        entry.kind === "report" ? (
          <Report key={entry.key} report={entry.report} />
        ) : (
          <Said
            key={entry.key}
            by={entry.isInput ? taskText.you(owner) : taskText.agent}
            at={entry.at}
            text={entry.text}
            isInput={entry.isInput}
          />
        )
      )}
    </div>
  )
}

const reportTones: Readonly<Record<WorkspaceAppStatus["state"], Tone>> = {
  working: "blue",
  idle: "green",
  complete: "green",
  failure: "red"
}

const Report = ({ report: { created_at, message, state, uri } }: { readonly report: WorkspaceAppStatus }) => (
  <div className="tk-report">
    <StatusDot tone={reportTones[state]} />
    <span className="tk-report-state">{taskStateText[state === "failure" ? "failed" : state]}</span>
    {message === "" ? null : (
      <span className="truncate" title={message}>
        {message}
      </span>
    )}
    {isWebAddress(uri) && uri !== "" ? (
      <a className="link tk-report-link" href={uri} target="_blank" rel="noreferrer" title={uri}>
        <ExternalLink aria-hidden />
        <span className="visually-hidden">{uri}</span>
      </a>
    ) : null}
    <span className="tk-report-time">
      <Time at={created_at} />
    </span>
  </div>
)

interface ComposerProps extends Pick<Props, "task"> {
  readonly text: string
  readonly onText: (change: (text: string) => string) => void
}

const Composer = ({ onText, task: { current_state, id, owner_name, status }, text }: ComposerProps) => {
  const isActive = status === "active"
  return (
    <Form
      className="tk-composer"
      onSubmit={async () => {
        await tasks.sendTaskMessage(client, { user: owner_name, task: id, body: { input: text } })
        // What was typed meanwhile is the next message
        onText((now) => (now === text ? "" : now))
        await queryClient.invalidateQueries({ queryKey: ["tasks"] })
      }}
    >
      <Field
        label={taskText.message}
        name="input"
        hint={!isActive ? taskText.notActive : current_state?.state === "working" ? taskText.working : taskText.sendKeys}
      >
        <TextArea
          rows={2}
          placeholder={taskText.messagePlaceholder}
          value={text}
          onChange={({ target: { value } }) => onText(() => value)}
          onKeyDown={submitByKeys}
        />
      </Field>
      <FormActions>
        <SubmitButton icon={<ArrowUp />} disabled={!isActive || text === ""}>
          {taskText.send}
        </SubmitButton>
      </FormActions>
    </Form>
  )
}

/** A paused task goes on, with another prompt if its user writes one. */
const Resumption = ({ may, task: { display_name, id, initial_prompt, name, owner_name } }: Pick<Props, "task" | "may">) => {
  const [typed, setTyped] = useState<string | undefined>()
  const text = typed ?? initial_prompt
  const isChanged = text !== initial_prompt
  return (
    <>
      <Callout title={taskText.pausedTitle}>{taskText.pausedHint}</Callout>
      {may.update && may.resume ? (
        <Form
          className="tk-composer"
          onSubmit={async () => {
            const task = { user: owner_name, task: id }
            await tasks.updateTaskInput(client, { ...task, body: { input: text } })
            // Refused, the task has its prompt all the same: the button above resumes it
            await tasks.resumeTask(client, task).finally(refreshTasks)
            notify(taskText.resumed(display_name || name))
          }}
        >
          <Field label={taskText.newPrompt} name="input" hint={taskText.newPromptHint}>
            <TextArea
              rows={2}
              maxLength={32_767}
              value={text}
              onChange={(event) => setTyped(event.target.value)}
              onKeyDown={submitByKeys}
            />
          </Field>
          <FormActions>
            <SubmitButton kind="secondary" icon={<Play />} disabled={!isChanged || text.trim() === ""}>
              {taskText.resumeWith}
            </SubmitButton>
          </FormActions>
        </Form>
      ) : null}
    </>
  )
}
