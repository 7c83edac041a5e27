/** Who may use a template, and who may change it. */
import type { Template } from "@atelier/client"
import * as templateSharing from "@atelier/client/templateSharing"
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query"
import { useDeferredValue, useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { settingsText } from "../../../texts/templates.js"
import { AccessList, type Candidate, type Grant, type Subject } from "../../../ui/lists/AccessList.js"
import { Section } from "../../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/page/States.js"
import { notifyError } from "../../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"

const roles = [
  { value: "use", label: settingsText.roles.use },
  { value: "admin", label: settingsText.roles.admin }
]

const found = 20

export const Permissions = () => <SettingsFrame>{(template) => <Shares key={template.id} template={template} />}</SettingsFrame>

const Shares = ({ template: { id, organization_id } }: { readonly template: Template }) => {
  const key = ["template-acl", id]
  const [typed, setTyped] = useState("")
  const { data, error, isLoadingError, isPending, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => templateSharing.getTemplateAcl(client, { template: id }, { signal })
  })
  const q = useDeferredValue(typed.replaceAll(/[":]/g, "").trim())
  const available = useQuery({
    queryKey: [...key, "available", q],
    queryFn: ({ signal }) => templateSharing.listAvailableForTemplate(client, { template: id, q, limit: found }, { signal }),
    placeholderData: keepPreviousData
  })
  const set = useMutation({
    mutationFn: ({ role, subject }: { readonly subject: Subject; readonly role: string }) =>
      templateSharing.updateTemplateAcl(client, {
        template: id,
        body: subject.kind === "user" ? { user_perms: { [subject.id]: role } } : { group_perms: { [subject.id]: role } }
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: key }),
    onError: notifyError
  })
  // The group of all members has the organization's id
  const groupName = (group: { readonly id: string; readonly display_name: string; readonly name: string }): string =>
    group.id === organization_id ? settingsText.everyone : group.display_name || group.name
  const grants = [
    ...(data?.group ?? []).map((group): Grant => ({
      kind: "group",
      id: group.id,
      name: groupName(group),
      picture: group.avatar_url,
      role: group.role
    })),
    ...(data?.users ?? []).map(({ avatar_url, id, role, username }): Grant => ({
      kind: "user",
      id,
      name: username,
      picture: avatar_url,
      role
    }))
  ]
  const candidates = (available.data ?? []).flatMap(({ groups, users }) => [
    ...groups.map((group): Candidate => ({ kind: "group", id: group.id, name: groupName(group), picture: group.avatar_url })),
    ...users.map(({ avatar_url, email, id, username }): Candidate => ({
      kind: "user",
      id,
      name: username,
      hint: email,
      picture: avatar_url
    }))
  ])
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  return (
    <Section title={settingsText.permissions} description={settingsText.permissionsHint}>
      <AccessList
        grants={grants}
        roles={roles}
        isBusy={set.isPending}
        onSet={(subject, role) => set.mutate({ subject, role })}
        onRemove={(subject) => set.mutate({ subject, role: "" })}
        candidates={candidates}
        onSearch={setTyped}
        empty={isPending ? <SkeletonLines count={2} /> : <p className="muted">{settingsText.noGrants}</p>}
      />
    </Section>
  )
}
