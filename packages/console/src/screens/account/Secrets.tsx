/** Secrets that the user's workspaces get, without their values. */
import type { UserSecret } from "@atelier/client"
import * as userSecrets from "@atelier/client/userSecrets"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { EllipsisVertical, FileInput, LockKeyhole, Plus } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { accountText, secretsText } from "../../texts/account.js"
import { Badge } from "../../ui/page/Badge.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState } from "../../ui/page/States.js"
import { byText, byTime, useSorted } from "../../ui/lists/sorted.js"
import { type Column, Table, TableSkeleton } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { ImportForm, SecretForm } from "./SecretForms.js"
import { SettingsFrame } from "./SettingsFrame.js"

const secretsKey = ["user-secrets"]

const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: secretsKey })

const dataColumns: ReadonlyArray<Column<UserSecret>> = [
  {
    id: "name",
    header: secretsText.name,
    compare: byText(({ name }) => name),
    width: "minmax(0, 1.4fr)",
    cell: ({ description, enabled, name }) => (
      <>
        <span className="truncate" title={description === "" ? name : `${name}: ${description}`}>
          {name}
        </span>
        {enabled ? null : <Badge>{secretsText.off}</Badge>}
      </>
    )
  },
  {
    id: "variable",
    header: secretsText.variable,
    compare: byText(({ env_name }) => env_name),
    from: 480,
    width: "minmax(0, 1fr)",
    cell: ({ env_name }) => (
      <span className="truncate mono" title={env_name}>
        {env_name}
      </span>
    )
  },
  {
    id: "file",
    header: secretsText.file,
    compare: byText(({ file_path }) => file_path),
    from: 600,
    width: "minmax(0, 1fr)",
    cell: ({ file_path }) => (
      <span className="truncate mono" title={file_path}>
        {file_path}
      </span>
    )
  },
  {
    id: "changed",
    header: secretsText.changed,
    compare: byTime(({ updated_at }) => updated_at),
    from: 720,
    width: "120px",
    cell: ({ updated_at }) => <Time at={updated_at} />
  }
]

const none: ReadonlyArray<UserSecret> = []

type Asked = { readonly kind: "edit" | "delete"; readonly secret: UserSecret }

interface Actions {
  readonly onAsk: (asked: Asked) => void
  readonly onToggle: (secret: UserSecret) => void
}

const actionsColumn = ({ onAsk, onToggle }: Actions): Column<UserSecret> => ({
  id: "actions",
  header: <span className="visually-hidden">{secretsText.actionsHead}</span>,
  width: "44px",
  align: "end",
  cell: (secret) => (
    <Menu
      label={secretsText.actions(secret.name)}
      trigger={<IconButton size="small" label={secretsText.actions(secret.name)} icon={<EllipsisVertical />} />}
    >
      <MenuItem onSelect={() => onAsk({ kind: "edit", secret })}>{secretsText.change}</MenuItem>
      <MenuItem onSelect={() => onToggle(secret)}>{secret.enabled ? secretsText.disable : secretsText.enable}</MenuItem>
      <MenuSeparator />
      <MenuItem isDangerous onSelect={() => onAsk({ kind: "delete", secret })}>
        {secretsText.delete}
      </MenuItem>
    </Menu>
  )
})

export const Secrets = () => {
  const { open } = useSearch({ from: "/settings/secrets" })
  const navigate = useNavigate({ from: "/settings/secrets" })
  const [asked, setAsked] = useState<Asked | undefined>()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: secretsKey,
    queryFn: ({ signal }) => userSecrets.listUserSecrets(client, { user: "me" }, { signal })
  })
  const show = (part: "new" | "import"): void => void navigate({ search: { open: part } })
  const close = (): void => {
    setAsked(undefined)
    if (open !== undefined) void navigate({ search: {}, replace: true })
  }
  const done = async (message: string): Promise<void> => {
    await refresh()
    close()
    notify(message)
  }
  const enable = useMutation({
    mutationFn: async ({ enabled, name }: UserSecret) => {
      await userSecrets.updateUserSecret(client, { user: "me", name, body: { enabled: !enabled } })
      await refresh()
      notify(enabled ? secretsText.disabled(name) : secretsText.enabled(name))
    },
    onError: notifyError
  })

  const actions = (
    <>
      <Button icon={<FileInput />} onClick={() => show("import")}>
        {secretsText.import}
      </Button>
      <Button kind="primary" icon={<Plus />} onClick={() => show("new")}>
        {secretsText.create}
      </Button>
    </>
  )

  const columns = [...dataColumns, actionsColumn({ onAsk: setAsked, onToggle: (secret) => enable.mutate(secret) })]
  const { onSort, rows, sorting } = useSorted("secrets", columns, data ?? none)

  const content = () => {
    if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
    if (data === undefined) return <TableSkeleton rows={4} />
    if (data.length === 0)
      return (
        <Empty icon={<LockKeyhole />} title={secretsText.empty} action={<div className="account-actions">{actions}</div>}>
          {secretsText.emptyHint}
        </Empty>
      )
    return (
      <Table
        label={accountText.secrets}
        count={rows.length}
        rowAt={(index) => rows[index]}
        sorting={sorting}
        onSort={onSort}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        onOpen={(secret) => setAsked({ kind: "edit", secret })}
        columns={columns}
      />
    )
  }

  return (
    <SettingsFrame title={accountText.secrets} actions={data === undefined || data.length === 0 ? undefined : actions}>
      <Section title={accountText.secrets} description={secretsText.description} isFlush>
        {content()}
      </Section>
      <Dialog isOpen={open === "new"} onClose={close} title={secretsText.create} description={secretsText.createHint} size="medium">
        <SecretForm onClose={close} onDone={(name) => done(secretsText.created(name))} />
      </Dialog>
      <Dialog isOpen={open === "import"} onClose={close} title={secretsText.import} description={secretsText.importHint} size="medium">
        <ImportForm onClose={close} onDone={(count) => done(secretsText.imported(count))} />
      </Dialog>
      <Dialog
        isOpen={asked?.kind === "edit"}
        onClose={close}
        title={secretsText.changeTitle(asked?.secret.name ?? "")}
        description={secretsText.createHint}
        size="medium"
      >
        <SecretForm secret={asked?.secret} onClose={close} onDone={(name) => done(secretsText.saved(name))} />
      </Dialog>
      <ConfirmDialog
        isOpen={asked?.kind === "delete"}
        onClose={close}
        title={secretsText.deleteTitle(asked?.secret.name ?? "")}
        description={secretsText.deleteHint}
        action={secretsText.delete}
        isDangerous
        onConfirm={async () => {
          if (asked === undefined) return
          await userSecrets.deleteUserSecret(client, { user: "me", name: asked.secret.name })
          await done(secretsText.deleted(asked.secret.name))
        }}
      />
    </SettingsFrame>
  )
}
