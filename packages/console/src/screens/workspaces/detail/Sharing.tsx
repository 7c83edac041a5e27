/** Who else may use a workspace. */
import type { Workspace } from "@atelier/client"
import * as groups from "@atelier/client/organizationGroups"
import * as users from "@atelier/client/users"
import * as workspaceSharing from "@atelier/client/workspaceSharing"
import { useMutation, useQuery } from "@tanstack/react-query"
import { Users, X } from "lucide-react"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { settingsText } from "../../../texts/workspace.js"
import { Avatar } from "../../../ui/Avatar.js"
import { Button, IconButton } from "../../../ui/Button.js"
import { Combobox } from "../../../ui/Combobox.js"
import { Select } from "../../../ui/Field.js"
import { Section } from "../../../ui/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/States.js"
import { notifyError } from "../../../ui/Toast.js"
import { useWorkspaceQuery } from "./workspace.js"
import "./Schedule.css"

const roles = [
  { value: "use", label: settingsText.use },
  { value: "admin", label: settingsText.admin }
]
const found = 20

/** One user or group with the role that it has. */
interface Share {
  readonly kind: "user" | "group"
  readonly id: string
  readonly name: string
  readonly picture: string
  readonly role: string
}

export const Sharing = () => {
  const { data: workspace } = useWorkspaceQuery()
  return workspace === undefined ? null : <Loaded key={workspace.id} workspace={workspace} />
}

const Loaded = ({ workspace: { id, organization_id, owner_id } }: { readonly workspace: Workspace }) => {
  const key = ["workspace-acl", id]
  const { data, error, isLoadingError, isPending, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => workspaceSharing.getWorkspaceAcl(client, { workspace: id }, { signal })
  })
  const set = useMutation({
    mutationFn: ({ id: subject, kind, role }: Pick<Share, "id" | "kind" | "role">) =>
      workspaceSharing.updateWorkspaceAcl(client, {
        workspace: id,
        body: kind === "user" ? { user_roles: { [subject]: role } } : { group_roles: { [subject]: role } }
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: key }),
    onError: notifyError
  })
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  const shares: ReadonlyArray<Share> = [
    ...(data?.group ?? []).map(({ avatar_url, display_name, id, name, role }): Share => ({
      kind: "group",
      id,
      name: display_name || name,
      picture: avatar_url,
      role
    })),
    ...(data?.users ?? []).map(({ avatar_url = "", id, role, username }): Share => ({
      kind: "user",
      id,
      name: username,
      picture: avatar_url,
      role
    }))
  ]
  return (
    <Section title={settingsText.sharingTitle} description={settingsText.sharingHint}>
      <Add
        organization={organization_id}
        taken={new Set([owner_id, ...shares.map(({ id }) => id)])}
        isBusy={set.isPending}
        onAdd={(share) => set.mutate(share)}
      />
      <div className="shares">
        {isPending ? (
          <SkeletonLines count={2} />
        ) : shares.length === 0 ? (
          <p className="muted">{settingsText.notShared}</p>
        ) : (
          shares.map((share) => (
            <div key={share.id} className="share">
              <Avatar name={share.name} src={share.picture} size={24} isThing={share.kind === "group"} />
              <span className="truncate share-name">
                {share.name} {share.kind === "group" ? <span className="faint">{settingsText.group}</span> : null}
              </span>
              <Select
                aria-label={share.name}
                choices={roles}
                value={share.role}
                disabled={set.isPending}
                onChange={(event) => set.mutate({ ...share, role: event.target.value })}
              />
              <IconButton
                size="small"
                label={settingsText.remove(share.name)}
                icon={<X />}
                onClick={() => set.mutate({ ...share, role: "" })}
              />
            </div>
          ))
        )}
      </div>
    </Section>
  )
}

interface AddProps {
  readonly organization: string
  readonly taken: ReadonlySet<string>
  readonly isBusy: boolean
  readonly onAdd: (share: Pick<Share, "id" | "kind" | "role">) => void
}

const Add = ({ isBusy, onAdd, organization, taken }: AddProps) => {
  const [typed, setTyped] = useState("")
  const [chosen, setChosen] = useState<string | undefined>()
  const [role, setRole] = useState("use")
  const people = useQuery({
    queryKey: ["users", "search", typed],
    queryFn: ({ signal }) => users.listUsers(client, { q: typed.replaceAll(/["\s:]/g, ""), limit: found }, { signal }),
    placeholderData: (before) => before
  })
  const all = useQuery({
    queryKey: ["groups", organization],
    queryFn: ({ signal }) => groups.listOrganizationGroups(client, { organization }, { signal })
  })
  const choices = [
    ...(all.data ?? [])
      .filter(({ display_name, name }) => `${display_name} ${name}`.toLowerCase().includes(typed.toLowerCase()))
      .map(({ display_name, id, name }) => ({
        value: `group ${id}`,
        label: display_name || name,
        hint: settingsText.group,
        icon: <Users aria-hidden />
      })),
    ...(people.data?.users ?? []).map(({ avatar_url, id, name = "", username }) => ({
      value: `user ${id}`,
      label: username,
      hint: name === "" ? undefined : name,
      icon: <Avatar name={name || username} src={avatar_url} size={18} />
    }))
  ].filter(({ value }) => !taken.has(value.split(" ")[1] ?? ""))
  return (
    <div className="share-add">
      <div className="share-who">
        <Combobox
          label={settingsText.add}
          placeholder={settingsText.add}
          choices={choices}
          value={chosen}
          onChange={setChosen}
          onSearch={setTyped}
        />
      </div>
      <Select aria-label={settingsText.share} choices={roles} value={role} onChange={(event) => setRole(event.target.value)} />
      <Button
        isBusy={isBusy}
        disabled={chosen === undefined}
        onClick={() => {
          const [kind = "user", id = ""] = (chosen ?? "").split(" ")
          onAdd({ kind: kind === "group" ? "group" : "user", id, role })
          setChosen(undefined)
        }}
      >
        {settingsText.share}
      </Button>
    </div>
  )
}
