import type { Group, ReducedUser } from "@atelier/client"
import * as groups from "@atelier/client/groups"
import * as organizationGroups from "@atelier/client/organizationGroups"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { UserMinus, UsersRound } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useFilter } from "../../app/filter.js"
import { usePages } from "../../app/pages.js"
import { useMay } from "../../app/session.js"
import { groupsText, membersText, organizationsText, usersText } from "../../texts/people.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Page, PageHeader, Section } from "../../ui/page/Page.js"
import { FilteredTable } from "../../ui/lists/PagedTable.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { GroupFields, groupOf } from "./GroupFields.js"
import { Person, UserState } from "./Person.js"
import { UserChoice } from "./UserChoice.js"
import "./people.css"

export const GroupDetail = () => {
  const { group: name, organization } = useParams({ from: "/organizations/$organization/groups/$group" })
  const {
    data: group,
    error,
    isLoadingError,
    refetch
  } = useQuery({
    queryKey: ["groups", "one", organization, name],
    queryFn: ({ signal }) => organizationGroups.getGroupByName(client, { organization, groupName: name, exclude_members: true }, { signal })
  })
  const isEveryone = group !== undefined && group.id === group.organization_id
  const shown = isEveryone ? groupsText.everyone : group?.display_name || name
  return (
    <Page width="medium">
      <PageHeader
        crumbs={[
          { label: organizationsText.title, link: { to: "/organizations" } },
          {
            label: group?.organization_display_name || organization,
            link: { to: "/organizations/$organization/groups", params: { organization } }
          }
        ]}
        icon={group === undefined ? undefined : <Avatar name={shown} src={group.avatar_url} size={28} isThing />}
        title={shown}
        description={group === undefined ? undefined : groupsText.memberCount(group.total_member_count)}
      />
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : group === undefined ? (
        <Section>
          <SkeletonLines count={5} />
        </Section>
      ) : (
        <Parts group={group} organization={organization} isEveryone={isEveryone} />
      )}
    </Page>
  )
}

interface PartsProps {
  readonly group: Group
  readonly organization: string
  readonly isEveryone: boolean
}

const Parts = ({ group, isEveryone, organization }: PartsProps) => {
  const on = { on: "group", organization: group.organization_id, id: group.id }
  const may = useMay({ update: { ...on, to: "update" }, delete: { ...on, to: "delete" } })
  const [isDeleting, setDeleting] = useState(false)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const shown = group.display_name || group.name
  return (
    <>
      <Members group={group} mayChange={may.update && !isEveryone && group.source === "user"} isEveryone={isEveryone} />
      {may.update && !isEveryone ? (
        <Section title={groupsText.settings}>
          <Form
            key={group.name}
            onSubmit={async (form) => {
              const body = groupOf(form)
              // The server refuses a name that the group has already
              const { name, ...rest } = body
              const changed = await groups.updateGroup(client, { group: group.id, body: name === group.name ? rest : body })
              await queryClient.invalidateQueries({ queryKey: ["groups"] })
              notify(groupsText.saved)
              if (changed.name !== group.name) {
                void navigate({
                  to: "/organizations/$organization/groups/$group",
                  params: { organization, group: changed.name },
                  replace: true
                })
              }
            }}
          >
            <GroupFields group={group} />
            <FormActions>
              <Button type="submit">{groupsText.save}</Button>
            </FormActions>
          </Form>
        </Section>
      ) : null}
      {may.delete && !isEveryone ? (
        <Section title={organizationsText.danger}>
          <div className="people-danger">
            <p>{groupsText.deleteText}</p>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              {groupsText.delete}
            </Button>
          </div>
          <ConfirmDialog
            isOpen={isDeleting}
            onClose={() => setDeleting(false)}
            title={groupsText.deleteTitle(shown)}
            description={groupsText.deleteText}
            action={groupsText.delete}
            isDangerous
            typedName={group.name}
            onConfirm={async () => {
              await groups.deleteGroup(client, { group: group.id })
              void navigate({ to: "/organizations/$organization/groups", params: { organization } })
              await queryClient.invalidateQueries({ queryKey: ["groups"] })
              notify(groupsText.deleted(shown))
            }}
          />
        </Section>
      ) : null}
    </>
  )
}

interface MembersProps {
  readonly group: Group
  readonly mayChange: boolean
  readonly isEveryone: boolean
}

const Members = ({ group, isEveryone, mayChange }: MembersProps) => {
  const [filter] = useFilter()
  const queryClient = useQueryClient()
  const pages = usePages<ReducedUser>({
    queryKey: ["groups", "members", group.id, filter],
    fetch: async ({ limit, offset, signal }) => {
      const page = await groups.listGroupMembers(client, { group: group.id, q: filter, limit, offset }, { signal })
      return { count: page.count, rows: page.users }
    }
  })
  const change = useMutation({
    mutationFn: ({ add, user }: { readonly user: { readonly id: string; readonly username: string }; readonly add: boolean }) =>
      groups.updateGroup(client, { group: group.id, body: add ? { add_users: [user.id] } : { remove_users: [user.id] } }),
    onSuccess: async (_, { add, user }) => {
      await queryClient.invalidateQueries({ queryKey: ["groups"] })
      notify(add ? groupsText.added(user.username) : groupsText.removed(user.username))
    },
    onError: notifyError
  })
  const columns: ReadonlyArray<Column<ReducedUser>> = [
    { id: "name", header: membersText.member, width: "minmax(160px, 2fr)", cell: (user) => <Person user={user} /> },
    { id: "status", header: usersText.status, width: "110px", from: 480, cell: ({ status }) => <UserState status={status} /> },
    ...(mayChange
      ? [
          {
            id: "actions",
            header: <span className="visually-hidden">{usersText.actionsHead}</span>,
            width: "32px",
            align: "end" as const,
            cell: (user: ReducedUser) => (
              <IconButton size="small" label={groupsText.remove} icon={<UserMinus />} onClick={() => change.mutate({ user, add: false })} />
            )
          }
        ]
      : [])
  ]
  const hint = isEveryone ? groupsText.everyoneHint : group.source === "oidc" ? groupsText.managed : undefined
  return (
    <FilteredTable
      title={groupsText.members}
      description={hint}
      filter={{ label: membersText.filter, placeholder: membersText.placeholder }}
      tools={
        mayChange ? (
          <UserChoice
            label={groupsText.add}
            organization={group.organization_id}
            isDisabled={change.isPending}
            onChoose={(user) => change.mutate({ user, add: true })}
          />
        ) : null
      }
      label={groupsText.members}
      columns={columns}
      pages={pages}
      empty={
        <Empty icon={<UsersRound />} title={filter === "" ? groupsText.noMembers : membersText.none}>
          {filter === "" ? groupsText.noMembersHint : undefined}
        </Empty>
      }
      keyOf={({ id }) => id}
      nameOf={({ username }) => username}
    />
  )
}
