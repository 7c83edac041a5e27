import type { Workspace } from "@atelier/client"
import { useState } from "react"
import { queryClient } from "../../app/queries.js"
import { actionsText } from "../../texts/workspaces.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Checkbox } from "../../ui/forms/Field.js"
import { notify } from "../../ui/floating/Toast.js"
import { begin } from "./actions.js"

interface Props {
  readonly workspace: Workspace | undefined
  readonly onClose: () => void
  /** Whether the user may leave the resources as they are. */
  readonly mayOrphan?: boolean
}

/** Asks before a workspace is deleted: its name has to be typed. */
export const DeleteDialog = ({ mayOrphan = false, onClose, workspace }: Props) => {
  const [orphan, setOrphan] = useState(false)
  const name = workspace?.name ?? ""
  return (
    <ConfirmDialog
      isOpen={workspace !== undefined}
      onClose={onClose}
      title={actionsText.deleteTitle(name)}
      description={actionsText.deleteHint}
      action={actionsText.deleteAction}
      isDangerous
      typedName={name}
      onConfirm={async () => {
        if (workspace === undefined) return
        await begin(workspace, "delete", orphan)
        notify(actionsText.deleted(name))
        await queryClient.invalidateQueries({ queryKey: ["workspaces"] })
      }}
    >
      {mayOrphan ? (
        <Checkbox
          label={actionsText.orphan}
          hint={actionsText.orphanHint}
          checked={orphan}
          onChange={(event) => setOrphan(event.target.checked)}
        />
      ) : null}
    </ConfirmDialog>
  )
}
