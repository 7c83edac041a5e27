/** What runs the builds of an organization: daemons, their keys, and their jobs. */
import type { Organization, ProvisionerDaemon, ProvisionerJob, ProvisionerKey } from "@atelier/client"
import * as provisionerKeys from "@atelier/client/provisionerKeys"
import * as provisioning from "@atelier/client/provisioning"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Cpu, Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { provisionersText } from "../../texts/deployment.js"
import { dialogText } from "../../texts/ui.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Secret } from "../../ui/floating/Secret.js"
import { Empty } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { Views } from "../../ui/lists/Views.js"
import { OrganizationFrame } from "./OrganizationFrame.js"

export const Provisioners = () => {
  const { organization } = useParams({ from: "/organizations/$organization/provisioners" })
  return (
    <OrganizationFrame name={organization}>
      {(known) => (
        <>
          <Daemons organization={known} />
          <Keys organization={known} />
          <Jobs organization={known} />
        </>
      )}
    </OrganizationFrame>
  )
}

interface Props {
  readonly organization: Organization
}

const shownJobs = 50
const recheck = 10_000

const daemonTones: Readonly<Record<ProvisionerDaemon["status"], Tone>> = { idle: "green", busy: "blue", offline: "grey" }

const tagsOf = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")

const Daemons = ({ organization: { id } }: Props) => {
  const query = useQuery({
    queryKey: ["provisioners", "daemons", id],
    queryFn: ({ signal }) => provisioning.listProvisionerDaemons(client, { organization: id, offline: true }, { signal }),
    refetchInterval: recheck
  })
  return (
    <Section isFlush title={provisionersText.daemons} description={provisionersText.daemonsHint}>
      <List
        query={query}
        empty={
          <Empty icon={<Cpu />} title={provisionersText.noDaemons}>
            {provisionersText.noDaemonsHint}
          </Empty>
        }
        row={({ current_job, id, last_seen_at, name, provisioners, status, tags, version }) => (
          <ListRow
            key={id}
            title={name}
            second={[version, provisioners.join(", "), tagsOf(tags)].filter((text) => text !== "").join(" · ")}
          >
            {current_job === null ? null : (
              <span className="faint truncate">{current_job.template_display_name || current_job.template_name}</span>
            )}
            <Time at={last_seen_at} />
            <Status tone={daemonTones[status]} isMoving={status === "busy"}>
              {provisionersText.daemonStatuses[status]}
            </Status>
          </ListRow>
        )}
      />
    </Section>
  )
}

const Keys = ({ organization: { id } }: Props) => {
  const [isCreating, setCreating] = useState(false)
  const [shown, setShown] = useState<string | undefined>()
  const [deleting, setDeleting] = useState<ProvisionerKey | undefined>()
  const on = { on: "provisioner_daemon", organization: id }
  const may = useMay({ read: { ...on, to: "read" }, create: { ...on, to: "create" }, delete: { ...on, to: "delete" } })
  const queryClient = useQueryClient()
  const queryKey = ["provisioners", "keys", id]
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => provisionerKeys.listProvisionerKeys(client, { organization: id }, { signal })
  })
  const close = (): void => setCreating(false)
  if (!may.read) return null
  return (
    <Section
      isFlush
      title={provisionersText.keys}
      description={provisionersText.keysHint}
      actions={
        may.create ? (
          <Button icon={<Plus />} onClick={() => setCreating(true)}>
            {provisionersText.createKey}
          </Button>
        ) : undefined
      }
    >
      <List
        query={query}
        empty={provisionersText.noKeys}
        row={(key) => (
          <ListRow key={key.id} title={key.name} second={tagsOf(key.tags)}>
            <span className="faint">
              {provisionersText.created} <Time at={key.created_at} />
            </span>
            {may.delete ? (
              <IconButton size="small" label={provisionersText.deleteKey} icon={<Trash2 />} onClick={() => setDeleting(key)} />
            ) : null}
          </ListRow>
        )}
      />
      <Dialog isOpen={isCreating} onClose={close} title={provisionersText.createKeyTitle}>
        <Form
          onSubmit={async (form) => {
            const lines = String(form.get("tags") ?? "").split("\n")
            const tags = lines.flatMap((line) => {
              const [name = "", ...value] = line.trim().split("=")
              return name === "" ? [] : [[name, value.join("=")] as const]
            })
            const { key } = await provisionerKeys.createProvisionerKey(client, {
              organization: id,
              body: { name: String(form.get("name")).trim(), tags: Object.fromEntries(tags) }
            })
            await queryClient.invalidateQueries({ queryKey })
            close()
            setShown(key)
          }}
        >
          <Field label={provisionersText.keyName} name="name">
            <Input autoFocus spellCheck={false} autoCapitalize="off" />
          </Field>
          <Field label={provisionersText.tags} name="tags" hint={provisionersText.tagsHint} isOptional>
            <TextArea rows={3} spellCheck={false} />
          </Field>
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {provisionersText.createKey}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
      <Secret
        title={provisionersText.keyTitle}
        description={provisionersText.keyOnce}
        done={provisionersText.done}
        secret={shown}
        onClose={() => setShown(undefined)}
      />
      <ConfirmDialog
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={provisionersText.deleteKeyTitle(deleting?.name ?? "")}
        description={provisionersText.deleteKeyText}
        action={provisionersText.deleteKey}
        isDangerous
        onConfirm={async () => {
          if (deleting === undefined) return
          await provisionerKeys.deleteProvisionerKey(client, { organization: id, provisionerkey: deleting.name })
          await queryClient.invalidateQueries({ queryKey })
          notify(provisionersText.keyDeleted(deleting.name))
        }}
      />
    </Section>
  )
}

const jobTones: Readonly<Record<ProvisionerJob["status"], Tone>> = {
  pending: "blue",
  running: "blue",
  canceling: "blue",
  succeeded: "green",
  canceled: "grey",
  failed: "red",
  unknown: "grey"
}

/** States that are often looked for. */
const jobStates: Readonly<Record<string, ReadonlyArray<ProvisionerJob["status"]>>> = {
  waiting: ["pending"],
  running: ["running", "canceling"],
  failed: ["failed"]
}

const { jobViews } = provisionersText

const Jobs = ({ organization: { id } }: Props) => {
  const [view, setView] = useState<string | undefined>()
  const status = view === undefined ? undefined : jobStates[view]
  const query = useQuery({
    queryKey: ["provisioners", "jobs", id, view],
    queryFn: ({ signal }) =>
      provisioning.listProvisionerJobs(
        client,
        { organization: id, limit: shownJobs, ...(status === undefined ? {} : { status }) },
        { signal }
      ),
    refetchInterval: recheck
  })
  return (
    <Section
      isFlush
      title={provisionersText.jobs}
      description={provisionersText.jobsHint}
      actions={
        <Views
          views={[
            { label: jobViews.all, filter: undefined },
            { label: jobViews.waiting, filter: "waiting" },
            { label: jobViews.running, filter: "running" },
            { label: jobViews.failed, filter: "failed" }
          ]}
          filter={view}
          onChoose={setView}
        />
      }
    >
      <List
        query={query}
        empty={view === undefined ? provisionersText.noJobs : provisionersText.noJobsOf}
        row={({ created_at, error, id, metadata, queue_position, queue_size, status, type, worker_name = "" }) => {
          const isMoving = status === "pending" || status === "running" || status === "canceling"
          const { template_display_name, template_name, workspace_build_transition, workspace_name } = metadata
          return (
            <ListRow
              key={id}
              title={
                <>
                  <span>{workspace_name ?? (template_display_name || template_name)}</span>{" "}
                  <Badge>{workspace_build_transition ?? provisionersText.types[type]}</Badge>
                </>
              }
              second={error ?? (worker_name === "" ? id : worker_name)}
            >
              {status === "pending" && queue_size > 0 ? (
                <span className="faint">{provisionersText.queue(queue_position, queue_size)}</span>
              ) : null}
              <Time at={created_at} />
              <Status tone={jobTones[status]} isMoving={isMoving}>
                {status}
              </Status>
            </ListRow>
          )
        }}
      />
    </Section>
  )
}
