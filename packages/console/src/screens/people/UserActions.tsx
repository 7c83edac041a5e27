/** What administrators do with a user: suspend, activate, set a password, delete. */
import type { User } from "@atelier/client"
import * as logins from "@atelier/client/logins"
import * as users from "@atelier/client/users"
import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Box, Copy, EllipsisVertical, KeyRound, ScrollText, Trash2, UserCheck, UserX } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay, useMe } from "../../app/session.js"
import { usersText } from "../../texts/people.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { copyText } from "../../ui/text/Code.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, SecretInput } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { dialogText } from "../../texts/ui.js"

type Asking = "suspend" | "password" | "delete" | undefined

interface Props {
  readonly user: User
  readonly onDeleted?: () => void
  /** How the button of the menu looks; default as in a row. */
  readonly kind?: "quiet" | "secondary"
}

export const UserActions = ({ kind = "quiet", onDeleted, user }: Props) => {
  const [asking, setAsking] = useState<Asking>()
  const me = useMe()
  const may = useMay({
    update: { on: "user", to: "update" },
    delete: { on: "user", to: "delete" },
    audit: { on: "audit_log", to: "read", anyOrganization: true }
  })
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { login_type, status, username } = user
  const isSelf = me.id === user.id

  const changed = () => queryClient.invalidateQueries({ queryKey: ["users"] })
  const activate = async (): Promise<void> => {
    try {
      await users.activateUser(client, { user: user.id })
      await changed()
      notify(usersText.activated(username))
    } catch (error) {
      notifyError(error)
    }
  }
  const close = (): void => setAsking(undefined)

  return (
    <>
      <Menu
        label={usersText.actions(username)}
        trigger={
          <IconButton
            kind={kind}
            size={kind === "quiet" ? "small" : "medium"}
            label={usersText.actions(username)}
            icon={<EllipsisVertical />}
          />
        }
      >
        <MenuItem icon={<Box />} onSelect={() => void navigate({ to: "/workspaces", search: { filter: `owner:${username}` } })}>
          {usersText.viewWorkspaces}
        </MenuItem>
        {may.audit ? (
          <MenuItem icon={<ScrollText />} onSelect={() => void navigate({ to: "/audit", search: { filter: `username:${username}` } })}>
            {usersText.viewAudit}
          </MenuItem>
        ) : null}
        <MenuItem icon={<Copy />} onSelect={() => void copyText(user.id)}>
          {usersText.copyId}
        </MenuItem>
        {may.update && !isSelf ? (
          <>
            <MenuSeparator />
            {login_type === "password" ? (
              <MenuItem icon={<KeyRound />} onSelect={() => setAsking("password")}>
                {usersText.reset}
              </MenuItem>
            ) : null}
            {status === "suspended" ? (
              <MenuItem icon={<UserCheck />} onSelect={() => void activate()}>
                {usersText.activate}
              </MenuItem>
            ) : (
              <MenuItem icon={<UserX />} onSelect={() => setAsking("suspend")}>
                {usersText.suspend}
              </MenuItem>
            )}
          </>
        ) : null}
        {may.delete && !isSelf ? (
          <MenuItem isDangerous icon={<Trash2 />} onSelect={() => setAsking("delete")}>
            {usersText.delete}
          </MenuItem>
        ) : null}
      </Menu>
      <ConfirmDialog
        isOpen={asking === "suspend"}
        onClose={close}
        title={usersText.suspendTitle(username)}
        description={usersText.suspendText}
        action={usersText.suspend}
        isDangerous
        onConfirm={async () => {
          await users.suspendUser(client, { user: user.id })
          await changed()
          notify(usersText.suspended(username), { label: usersText.activate, run: () => void activate() })
        }}
      />
      <ConfirmDialog
        isOpen={asking === "delete"}
        onClose={close}
        title={usersText.deleteTitle(username)}
        description={usersText.deleteText}
        action={usersText.delete}
        isDangerous
        typedName={username}
        onConfirm={async () => {
          await users.deleteUser(client, { user: user.id })
          onDeleted?.()
          await changed()
          notify(usersText.deleted(username))
        }}
      />
      <PasswordDialog user={user} isOpen={asking === "password"} onClose={close} />
    </>
  )
}

interface PasswordProps {
  readonly user: User
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Asks for a password, and gives it to the user. */
const PasswordDialog = ({ isOpen, onClose, user: { id, username } }: PasswordProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={usersText.resetTitle(username)} description={usersText.resetText}>
    <Form
      onSubmit={async (form) => {
        await logins.updatePassword(client, { user: id, body: { password: String(form.get("password")) } })
        onClose()
        notify(usersText.resetDone)
      }}
    >
      <Field label={usersText.newPassword} name="password">
        <SecretInput autoComplete="new-password" autoFocus />
      </Field>
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <Button type="submit" kind="primary">
          {usersText.reset}
        </Button>
      </FormActions>
    </Form>
  </Dialog>
)
