import type { APIKeyWithOwner } from "@atelier/client"
import * as keys from "@atelier/client/keys"
import { useMutation, useQuery } from "@tanstack/react-query"
import { EllipsisVertical, KeyRound, Plus } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { accountText, tokensText } from "../../texts/account.js"
import { Badge } from "../../ui/page/Badge.js"
import { ButtonLink, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Menu, MenuItem } from "../../ui/floating/Menu.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState } from "../../ui/page/States.js"
import { byText, byTime, useSorted } from "../../ui/lists/sorted.js"
import { type Column, Table, TableSkeleton } from "../../ui/lists/Table.js"
import { Time, useNow } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"

const tokensKey = ["tokens"]

const none: ReadonlyArray<APIKeyWithOwner> = []

const scopesOf = ({ scopes }: APIKeyWithOwner): string => {
  const limits = scopes.filter((scope) => !/(?:^|:)all$/.test(scope))
  return limits.length === 0 ? tokensText.everything : limits.join(", ")
}

const objectsOf = ({ allow_list }: APIKeyWithOwner): number => allow_list.filter(({ id, type }) => id !== "*" || type !== "*").length

interface Actions {
  readonly isExpired: (token: APIKeyWithOwner) => boolean
  readonly onExpire: (token: APIKeyWithOwner) => void
  readonly onDelete: (token: APIKeyWithOwner) => void
}

const columnsOf = ({ isExpired, onDelete, onExpire }: Actions): ReadonlyArray<Column<APIKeyWithOwner>> => [
  {
    id: "name",
    header: tokensText.name,
    compare: byText(({ token_name }) => token_name),
    cell: ({ token_name }) => <span className="truncate">{token_name}</span>
  },
  {
    id: "scopes",
    header: tokensText.scopes,
    from: 720,
    width: "minmax(0, 2fr)",
    cell: (token) => (
      <>
        <span className="truncate muted">{scopesOf(token)}</span>
        {objectsOf(token) === 0 ? null : <Badge>{tokensText.limits(objectsOf(token))}</Badge>}
      </>
    )
  },
  {
    id: "used",
    header: tokensText.lastUsed,
    compare: byTime(({ last_used }) => last_used),
    from: 560,
    width: "120px",
    cell: ({ last_used }) => <Time at={last_used} />
  },
  {
    id: "expires",
    header: tokensText.expires,
    compare: byTime(({ expires_at }) => expires_at),
    width: "120px",
    cell: (token) => (isExpired(token) ? <Badge tone="amber">{tokensText.expired}</Badge> : <Time at={token.expires_at} />)
  },
  {
    id: "actions",
    header: <span className="visually-hidden">{tokensText.actionsHead}</span>,
    width: "44px",
    align: "end",
    cell: (token) => (
      <Menu
        label={tokensText.actions(token.token_name)}
        trigger={<IconButton size="small" label={tokensText.actions(token.token_name)} icon={<EllipsisVertical />} />}
      >
        <MenuItem isDisabled={isExpired(token)} onSelect={() => onExpire(token)}>
          {tokensText.expire}
        </MenuItem>
        <MenuItem isDangerous onSelect={() => onDelete(token)}>
          {tokensText.delete}
        </MenuItem>
      </Menu>
    )
  }
]

/** The tokens of the user, without their secrets. */
export const Tokens = () => {
  const [asked, setAsked] = useState<APIKeyWithOwner | undefined>()
  const now = useNow()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: tokensKey,
    queryFn: ({ signal }) => keys.listTokens(client, { user: "me", include_expired: true }, { signal })
  })
  const expire = useMutation({
    mutationFn: async ({ id, token_name }: APIKeyWithOwner) => {
      await keys.expireKey(client, { user: "me", keyid: id })
      await queryClient.invalidateQueries({ queryKey: tokensKey })
      notify(tokensText.expiredNow(token_name))
    },
    onError: notifyError
  })
  const isExpired = ({ expires_at }: APIKeyWithOwner): boolean => Date.parse(expires_at) <= now

  const create = (
    <ButtonLink kind="primary" icon={<Plus />} to="/settings/tokens/new">
      {tokensText.create}
    </ButtonLink>
  )

  const columns = columnsOf({ isExpired, onExpire: (token) => expire.mutate(token), onDelete: setAsked })
  const { onSort, rows, sorting } = useSorted("tokens", columns, data ?? none)

  const content = () => {
    if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
    if (data === undefined) return <TableSkeleton rows={4} />
    if (data.length === 0)
      return (
        <Empty icon={<KeyRound />} title={tokensText.empty} action={create}>
          {tokensText.emptyHint}
        </Empty>
      )
    return (
      <Table
        label={accountText.tokens}
        count={rows.length}
        rowAt={(index) => rows[index]}
        sorting={sorting}
        onSort={onSort}
        keyOf={({ id }) => id}
        nameOf={({ token_name }) => token_name}
        columns={columns}
      />
    )
  }

  return (
    <SettingsFrame title={accountText.tokens} actions={data === undefined || data.length === 0 ? undefined : create}>
      <Section title={accountText.tokens} description={tokensText.description} isFlush>
        {content()}
      </Section>
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={tokensText.deleteTitle(asked?.token_name ?? "")}
        description={tokensText.deleteHint}
        action={tokensText.delete}
        isDangerous
        onConfirm={async () => {
          if (asked === undefined) return
          await keys.deleteKey(client, { user: "me", keyid: asked.id })
          await queryClient.invalidateQueries({ queryKey: tokensKey })
          notify(tokensText.deleted(asked.token_name))
        }}
      />
    </SettingsFrame>
  )
}
