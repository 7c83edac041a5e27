/** The questions about one entry of a folder: its name, and whether it is deleted. */
import type { FileEntry } from "@atelier/client"
import * as files from "@atelier/client/files"
import { useState } from "react"
import { client } from "../../app/client.js"
import { filesText } from "../../texts/files.js"
import { dialogText } from "../../texts/ui.js"
import { Button } from "../../ui/forms/Button.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input } from "../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../ui/forms/Form.js"
import { notify } from "../../ui/floating/Toast.js"
import { isName } from "./paths.js"

interface RemoveProps {
  readonly agent: string
  readonly entry: FileEntry | undefined
  readonly onClose: () => void
  readonly onRemoved: () => Promise<void>
}

export const RemoveDialog = ({ agent, entry, onClose, onRemoved }: RemoveProps) => (
  <ConfirmDialog
    isOpen={entry !== undefined}
    onClose={onClose}
    title={filesText.removeTitle(entry?.name ?? "")}
    description={entry?.type === "directory" ? filesText.removeFolder : filesText.removeFile}
    action={filesText.remove}
    isDangerous
    onConfirm={async () => {
      if (entry === undefined) return
      await files.deleteFile(client, { workspaceagent: agent, path: entry.path, recursive: entry.type === "directory" })
      await onRemoved()
      notify(filesText.removed(entry.name))
    }}
  />
)

interface NameFormProps {
  readonly initial?: string
  readonly action: string
  readonly onClose: () => void
  readonly onName: (name: string) => Promise<void>
}

const NameForm = ({ action, initial = "", onClose, onName }: NameFormProps) => {
  const [name, setName] = useState(initial)
  const trimmed = name.trim()
  return (
    <Form
      onSubmit={async () => {
        await onName(trimmed)
        onClose()
      }}
    >
      <Field label={filesText.nameLabel} error={trimmed === "" || isName(trimmed) ? undefined : filesText.badName}>
        <Input value={name} onChange={(event) => setName(event.target.value)} autoFocus spellCheck={false} maxLength={255} />
      </Field>
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <SubmitButton disabled={!isName(trimmed) || trimmed === initial}>{action}</SubmitButton>
      </FormActions>
    </Form>
  )
}

interface MakeProps {
  readonly kind: "folder" | "file" | undefined
  readonly onClose: () => void
  readonly onMake: (kind: "folder" | "file", name: string) => Promise<void>
}

export const MakeDialog = ({ kind, onClose, onMake }: MakeProps) => (
  <Dialog isOpen={kind !== undefined} onClose={onClose} title={kind === "file" ? filesText.newFile : filesText.newFolder}>
    <NameForm action={filesText.create} onClose={onClose} onName={(name) => onMake(kind ?? "folder", name)} />
  </Dialog>
)

interface RenameProps {
  readonly entry: FileEntry | undefined
  readonly onClose: () => void
  readonly onRename: (entry: FileEntry, name: string) => Promise<void>
}

export const RenameDialog = ({ entry, onClose, onRename }: RenameProps) => (
  <Dialog isOpen={entry !== undefined} onClose={onClose} title={filesText.renameTitle(entry?.name ?? "")}>
    {entry === undefined ? null : (
      <NameForm initial={entry.name} action={filesText.rename} onClose={onClose} onName={(name) => onRename(entry, name)} />
    )}
  </Dialog>
)
