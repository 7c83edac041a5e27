/** What can be done to a version, in a menu. */
import type { Template, TemplateVersion } from "@atelier/client"
import * as provisioning from "@atelier/client/provisioning"
import * as templateVersions from "@atelier/client/templateVersions"
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Archive, ArchiveRestore, ArrowUpToLine, CircleStop, Download, EllipsisVertical, FilePen, PencilLine, Plus } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { saveFile } from "../../app/saveFile.js"
import { versionsText } from "../../texts/templates.js"
import { dialogText } from "../../texts/ui.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../ui/forms/Form.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { isMoving, refreshTemplates } from "./queries.js"

interface Props {
  readonly template: Template
  readonly version: TemplateVersion
  readonly mayUpdate: boolean
  readonly mayUse: boolean
  /** After the version has another name. */
  readonly onRenamed?: (name: string) => void
  readonly kind?: "quiet" | "secondary"
}

export const canPromote = (template: Template, { archived, id, job }: TemplateVersion): boolean =>
  job.status === "succeeded" && !archived && id !== template.active_version_id

/** A menu, with the dialogs that it opens. */
export const VersionMenu = ({ kind = "quiet", mayUpdate, mayUse, onRenamed, template, version }: Props) => {
  const [asked, setAsked] = useState<"promote" | "rename" | undefined>()
  const { archived, id, job, name } = version
  const change = useMutation({
    mutationFn: ({ run }: { readonly run: () => Promise<unknown>; readonly done: string }) => run(),
    onSuccess: (_, { done }) => notify(done),
    onError: notifyError,
    onSettled: refreshTemplates
  })
  const download = useMutation({
    mutationFn: () => provisioning.downloadFile(client, { fileID: job.file_id, format: "zip" }),
    onSuccess: (content) => saveFile(`${template.name}-${name}.zip`, [new Uint8Array(content)], "application/zip"),
    onError: notifyError
  })
  const isActive = id === template.active_version_id
  const params = { organization: template.organization_name, template: template.name }
  const close = (): void => setAsked(undefined)
  const mayMake = mayUse && job.status === "succeeded" && !archived && !template.deprecated
  if (!mayUpdate && !mayMake) return null
  return (
    <>
      <Menu
        label={versionsText.actionsOf(name)}
        trigger={
          <IconButton
            kind={kind}
            size={kind === "quiet" ? "small" : "medium"}
            label={versionsText.actionsOf(name)}
            icon={<EllipsisVertical />}
            isBusy={change.isPending || download.isPending}
          />
        }
      >
        {mayMake ? (
          <MenuItem asChild>
            <Link to="/templates/$organization/$template/workspace" params={params} search={isActive ? {} : { version: id }}>
              <Plus aria-hidden />
              <span className="menu-item-label">{versionsText.useVersion}</span>
            </Link>
          </MenuItem>
        ) : null}
        {mayUpdate ? (
          <>
            <MenuItem icon={<ArrowUpToLine />} isDisabled={!canPromote(template, version)} onSelect={() => setAsked("promote")}>
              {versionsText.promote}
            </MenuItem>
            <MenuItem asChild>
              <Link to="/templates/$organization/$template/versions/$version/edit" params={{ ...params, version: name }}>
                <FilePen aria-hidden />
                <span className="menu-item-label">{versionsText.edit}</span>
              </Link>
            </MenuItem>
            <MenuItem icon={<PencilLine />} onSelect={() => setAsked("rename")}>
              {versionsText.rename}
            </MenuItem>
            <MenuItem icon={<Download />} onSelect={() => download.mutate()}>
              {versionsText.download}
            </MenuItem>
            <MenuSeparator />
            {isMoving(job) ? (
              <MenuItem
                icon={<CircleStop />}
                isDisabled={job.status === "canceling"}
                onSelect={() =>
                  change.mutate({
                    run: () => templateVersions.cancelTemplateVersion(client, { templateversion: id }),
                    done: versionsText.canceled
                  })
                }
              >
                {versionsText.cancel}
              </MenuItem>
            ) : null}
            {archived ? (
              <MenuItem
                icon={<ArchiveRestore />}
                onSelect={() =>
                  change.mutate({
                    run: () => templateVersions.unarchiveTemplateVersion(client, { templateversion: id }),
                    done: versionsText.unarchived(name)
                  })
                }
              >
                {versionsText.unarchive}
              </MenuItem>
            ) : (
              <MenuItem
                icon={<Archive />}
                isDisabled={isActive || isMoving(job)}
                onSelect={() =>
                  change.mutate({
                    run: () => templateVersions.archiveTemplateVersion(client, { templateversion: id }),
                    done: versionsText.archiveDone(name)
                  })
                }
              >
                {versionsText.archive}
              </MenuItem>
            )}
          </>
        ) : null}
      </Menu>
      <PromoteDialog template={template} version={version} isOpen={asked === "promote"} onClose={close} />
      <RenameDialog version={version} isOpen={asked === "rename"} onClose={close} onRenamed={onRenamed} />
    </>
  )
}

interface RenameProps {
  readonly version: TemplateVersion
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onRenamed: ((name: string) => void) | undefined
}

const RenameDialog = ({ isOpen, onClose, onRenamed, version: { id, message, name } }: RenameProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={versionsText.renameTitle}>
    <Form
      onSubmit={async (form) => {
        const given = String(form.get("name") ?? "").trim()
        await templateVersions.updateTemplateVersion(client, {
          templateversion: id,
          // A version may have its own name again only by giving none
          body: { ...(given === name ? {} : { name: given }), message: String(form.get("message") ?? "") }
        })
        onRenamed?.(given)
        await refreshTemplates()
        onClose()
        notify(versionsText.saved)
      }}
    >
      <NameFields name={name} message={message} />
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <SubmitButton>{versionsText.save}</SubmitButton>
      </FormActions>
    </Form>
  </Dialog>
)

interface PromoteProps {
  readonly template: Template
  readonly version: TemplateVersion
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Asks, and makes a version the active one. */
export const PromoteDialog = ({ isOpen, onClose, template, version: { id, name } }: PromoteProps) => (
  <ConfirmDialog
    isOpen={isOpen}
    onClose={onClose}
    title={versionsText.promoteTitle(name)}
    description={versionsText.promoteText}
    action={versionsText.promote}
    onConfirm={async () => {
      await templateVersions.promoteTemplateVersion(client, { template: template.id, body: { id } })
      await refreshTemplates()
      notify(versionsText.promoted(name))
    }}
  />
)

/** The fields that people know a version by. */
export const NameFields = ({ message, name }: { readonly name: string; readonly message: string }) => (
  <>
    <Field label={versionsText.name} name="name">
      <Input defaultValue={name} spellCheck={false} autoCapitalize="off" />
    </Field>
    <Field label={versionsText.message} name="message" hint={versionsText.messageHint} isOptional>
      <TextArea defaultValue={message} rows={3} />
    </Field>
  </>
)
