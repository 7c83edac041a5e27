/** Who else may use a workspace. */
import type { Workspace } from "@atelier/client"
import * as groups from "@atelier/client/organizationGroups"
import * as users from "@atelier/client/users"
import * as workspaceSharing from "@atelier/client/workspaceSharing"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { settingsText } from "../../../texts/workspace.js"
import { AccessList, type Candidate, type Grant } from "../../../ui/lists/AccessList.js"
import { Section } from "../../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/page/States.js"
import { notifyError } from "../../../ui/floating/Toast.js"
import { useWorkspaceQuery } from "./workspace.js"

const roles = [
  { value: "use", label: settingsText.use },
  { value: "admin", label: settingsText.admin }
]
const found = 20

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
    mutationFn: ({ id: subject, kind, role }: Pick<Grant, "id" | "kind" | "role">) =>
      workspaceSharing.updateWorkspaceAcl(client, {
        workspace: id,
        body: kind === "user" ? { user_roles: { [subject]: role } } : { group_roles: { [subject]: role } }
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: key }),
    onError: notifyError
  })
  const [typed, setTyped] = useState("")
  const people = useQuery({
    queryKey: ["users", "search", typed],
    queryFn: ({ signal }) => users.listUsers(client, { q: typed.replaceAll(/["\s:]/g, ""), limit: found }, { signal }),
    placeholderData: (before) => before
  })
  const all = useQuery({
    queryKey: ["groups", organization_id],
    queryFn: ({ signal }) => groups.listOrganizationGroups(client, { organization: organization_id }, { signal })
  })
  const candidates = [
    ...(all.data ?? [])
      .filter(({ display_name, name }) => `${display_name} ${name}`.toLowerCase().includes(typed.toLowerCase()))
      .map(({ avatar_url, display_name, id, name }): Candidate => ({ kind: "group", id, name: display_name || name, picture: avatar_url })),
    ...(people.data?.users ?? [])
      .filter(({ id }) => id !== owner_id)
      .map(({ avatar_url, id, name = "", username }): Candidate => ({
        kind: "user",
        id,
        name: username,
        hint: name === "" ? undefined : name,
        picture: avatar_url
      }))
  ]
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  const grants = [
    ...(data?.group ?? []).map(({ avatar_url, display_name, id, name, role }): Grant => ({
      kind: "group",
      id,
      name: display_name || name,
      picture: avatar_url,
      role
    })),
    ...(data?.users ?? []).map(({ avatar_url, id, role, username }): Grant => ({
      kind: "user",
      id,
      name: username,
      picture: avatar_url,
      role
    }))
  ]
  return (
    <Section title={settingsText.sharingTitle} description={settingsText.sharingHint}>
      <AccessList
        grants={grants}
        roles={roles}
        isBusy={set.isPending}
        onSet={(subject, role) => set.mutate({ ...subject, role })}
        onRemove={(subject) => set.mutate({ ...subject, role: "" })}
        candidates={candidates}
        onSearch={setTyped}
        empty={isPending ? <SkeletonLines count={2} /> : <p className="muted">{settingsText.notShared}</p>}
      />
    </Section>
  )
}
