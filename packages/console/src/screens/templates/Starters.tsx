/** Templates that the deployment brings along: the way to the first workspace. */
import type { TemplateExample } from "@atelier/client"
import * as provisioning from "@atelier/client/provisioning"
import * as templates from "@atelier/client/templates"
import * as templateVersions from "@atelier/client/templateVersions"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { LayoutTemplate, Upload } from "lucide-react"
import { type DragEvent, useEffect, useRef, useState } from "react"
import { client } from "../../app/client.js"
import { useMay, useOrganization, useOrganizations } from "../../app/session.js"
import { startersText, templatesText } from "../../texts/templates.js"
import { dialogText } from "../../texts/ui.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button } from "../../ui/forms/Button.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input, Select } from "../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../ui/forms/Form.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { Empty, ErrorState, NoAccess, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { GallerySkeleton } from "../create/GallerySkeleton.js"
import { imported } from "./imported.js"
import { maximumArchive, readUploaded, type Uploaded } from "./source/uploaded.js"
import { VersionLog } from "./VersionLog.js"
import "../create/Gallery.css"

/** What the new template is made of. */
type Origin =
  | { readonly kind: "starter"; readonly starter: TemplateExample }
  | { readonly kind: "archive"; readonly archive: Uploaded; readonly title: string }

const titleOf = (origin: Origin): string => (origin.kind === "starter" ? origin.starter.name : origin.title)

export const Starters = () => {
  const [chosen, setChosen] = useState<Origin | undefined>()
  const chooser = useRef<HTMLInputElement>(null)
  const may = useMay({ create: { on: "template", to: "create", anyOrganization: true } })
  const { data, error, isLoadingError, isPending, refetch } = useQuery({
    queryKey: ["templates", "starters"],
    queryFn: ({ signal }) => templates.listTemplateExamples(client, { signal }),
    enabled: may.create
  })
  if (!may.isPending && !may.create) return <NoAccess isScreen />
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    try {
      if (file.size > maximumArchive) throw new Error(startersText.archiveTooLarge)
      const archive = await readUploaded(file.name, new Uint8Array(await file.arrayBuffer()))
      setChosen({ kind: "archive", archive, title: file.name })
    } catch (error) {
      notifyError(error)
    }
  }
  const hasFiles = ({ dataTransfer }: DragEvent): boolean => may.create && dataTransfer.types.includes("Files")
  return (
    <div
      onDragOver={(event) => (hasFiles(event) ? event.preventDefault() : undefined)}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        // A drop on the dialog comes here too: its form stays that of what was chosen
        if (chosen === undefined) void take(event.dataTransfer.files[0])
      }}
    >
      <Page width="medium">
        <PageHeader
          title={startersText.title}
          description={startersText.description}
          crumbs={[{ label: templatesText.title, link: { to: "/templates" } }]}
          actions={
            <>
              <Button icon={<Upload />} onClick={() => chooser.current?.click()}>
                {startersText.upload}
              </Button>
              <input
                ref={chooser}
                className="visually-hidden"
                type="file"
                accept=".tar,.zip,.tar.gz,.tgz,.gz"
                tabIndex={-1}
                aria-label={startersText.upload}
                onChange={({ target }) => {
                  void take(target.files?.[0])
                  target.value = ""
                }}
              />
            </>
          }
        />
        {isLoadingError ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : isPending ? (
          <GallerySkeleton />
        ) : data.length === 0 ? (
          <Empty icon={<LayoutTemplate />} title={startersText.none}>
            {startersText.noneHint}
          </Empty>
        ) : (
          <ul className="gallery">
            {data.map((starter) => (
              <li key={starter.id}>
                <div className="gallery-card">
                  <div className="gallery-head">
                    <Avatar name={starter.name} src={starter.icon} size={40} isThing />
                  </div>
                  <h2 className="gallery-name">{starter.name}</h2>
                  <p className="gallery-text">{starter.description}</p>
                  <div className="gallery-foot">
                    <Button
                      size="small"
                      aria-label={startersText.importOf(starter.name)}
                      onClick={() => setChosen({ kind: "starter", starter })}
                    >
                      {startersText.import}
                    </Button>
                  </div>
                </div>
              </li>
            ))}
          </ul>
        )}
        <Dialog
          isOpen={chosen !== undefined}
          onClose={() => setChosen(undefined)}
          title={startersText.dialogTitle(chosen === undefined ? "" : titleOf(chosen))}
          description={startersText.dialogText}
          size="medium"
        >
          {chosen === undefined ? null : <AddForm origin={chosen} onClose={() => setChosen(undefined)} />}
        </Dialog>
      </Page>
    </div>
  )
}

/** Stores the source, and names it as a new version has it. */
const sourceOf = async (origin: Origin) => {
  if (origin.kind === "starter") {
    const { id, tags } = origin.starter
    return { provisioner: tags.includes("terraform") ? "terraform" : "echo", example_id: id } as const
  }
  const { bytes, contentType, provisioner } = origin.archive
  const { hash } = await provisioning.uploadFile(client, { contentType, body: bytes })
  return { provisioner, file_id: hash }
}

const AddForm = ({ onClose, origin }: { readonly origin: Origin; readonly onClose: () => void }) => {
  const starter = origin.kind === "starter" ? origin.starter : undefined
  const all = useOrganizations()
  const may = useMay(Object.fromEntries(all.map(({ id }) => [id, { on: "template", to: "create", organization: id }])))
  const organizations = all.filter(({ id }) => may[id] === true)
  const looked = useOrganization()
  const chosen = organizations.find(({ id }) => id === looked?.id) ?? organizations.find(({ is_default }) => is_default) ?? organizations[0]
  const [version, setVersion] = useState<string | undefined>()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  if (may.isPending) return <SkeletonLines count={4} />
  return (
    <Form
      onSubmit={async (form) => {
        const controller = new AbortController()
        running.current = controller
        const text = (name: string): string => String(form.get(name) ?? "").trim()
        const organization = text("organization") || (chosen?.id ?? "")
        const { id } = await templateVersions.createTemplateVersion(client, {
          organization,
          body: { storage_method: "file", ...(await sourceOf(origin)) }
        })
        setVersion(id)
        await imported(id, controller.signal)
        const template = await templates.createTemplate(client, {
          organization,
          body: {
            name: text("name"),
            display_name: text("display_name"),
            description: starter?.description ?? "",
            icon: starter?.icon ?? "",
            template_version_id: id
          }
        })
        await queryClient.invalidateQueries({ queryKey: ["templates"] })
        notify(startersText.added(template.display_name || template.name))
        if (controller.signal.aborted) return
        void navigate({
          to: "/templates/$organization/$template/workspace",
          params: { organization: template.organization_name, template: template.name }
        })
      }}
    >
      <Field label={startersText.name} name="name" hint={startersText.nameHint}>
        <Input
          defaultValue={origin.kind === "starter" ? origin.starter.id : origin.archive.name}
          spellCheck={false}
          autoCapitalize="off"
          autoFocus
        />
      </Field>
      <Field label={startersText.displayName} name="display_name" isOptional>
        <Input defaultValue={starter?.name} />
      </Field>
      {organizations.length < 2 ? null : (
        <Field label={startersText.organization} name="organization">
          <Select
            defaultValue={chosen?.id}
            choices={organizations.map(({ display_name, id, name }) => ({ value: id, label: display_name || name }))}
          />
        </Field>
      )}
      {version === undefined ? null : <VersionLog key={version} version={version} height={200} />}
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <SubmitButton>{startersText.import}</SubmitButton>
      </FormActions>
    </Form>
  )
}
