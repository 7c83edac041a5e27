import type { Organization, OrganizationMemberWithUserData } from "@atelier/client"
import * as members from "@atelier/client/members"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { EllipsisVertical, ShieldCheck, UserMinus, UserRound, Users } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useFilter } from "../../app/filter.js"
import { usePages } from "../../app/pages.js"
import { useMay } from "../../app/session.js"
import { membersText, rolesText, usersText } from "../../texts/people.js"
import { dialogText } from "../../texts/ui.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Checkbox } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Menu, MenuItem } from "../../ui/floating/Menu.js"
import { FilteredTable } from "../../ui/lists/PagedTable.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { OrganizationFrame } from "./OrganizationFrame.js"
import { Person, RoleBadges, UserState } from "./Person.js"
import { organizationRolesQuery } from "./queries.js"
import { UserChoice } from "./UserChoice.js"
import "./people.css"

type Member = OrganizationMemberWithUserData

export const MemberList = () => {
  const { organization } = useParams({ from: "/organizations/$organization/members" })
  return <OrganizationFrame name={organization}>{(known) => <Members organization={known} />}</OrganizationFrame>
}

const Members = ({ organization }: { readonly organization: Organization }) => {
  const [filter] = useFilter()
  const queryClient = useQueryClient()
  const { id } = organization
  const may = useMay({
    add: { on: "organization_member", to: "create", organization: id },
    remove: { on: "organization_member", to: "delete", organization: id },
    assign: { on: "assign_org_role", to: "assign", organization: id },
    users: { on: "user", to: "read" }
  })
  const pages = usePages<Member>({
    queryKey: ["members", id, filter],
    fetch: async ({ limit, offset, signal }) => {
      const page = await members.pageMembers(client, { organization: id, q: filter, limit, offset }, { signal })
      return { count: page.count, rows: page.members }
    }
  })
  const changed = () => queryClient.invalidateQueries({ queryKey: ["members", id] })
  const add = useMutation({
    mutationFn: (user: { readonly id: string; readonly username: string }) =>
      members.addMember(client, { organization: id, user: user.id }),
    onSuccess: async (_, { username }) => {
      await changed()
      notify(membersText.added(username))
    },
    onError: notifyError
  })
  const columns: ReadonlyArray<Column<Member>> = [
    { id: "name", header: membersText.member, width: "minmax(180px, 2fr)", cell: (member) => <Person user={member} /> },
    { id: "roles", header: membersText.roles, from: 560, cell: ({ roles }) => <RoleBadges roles={roles} /> },
    { id: "status", header: usersText.status, width: "110px", from: 680, cell: ({ status }) => <UserState status={status} /> },
    { id: "seen", header: usersText.lastSeen, width: "110px", from: 800, cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      id: "actions",
      header: <span className="visually-hidden">{usersText.actionsHead}</span>,
      width: "32px",
      align: "end",
      cell: (member) => (
        <MemberActions member={member} mayAssign={may.assign} mayOpen={may.users} mayRemove={may.remove} onChange={changed} />
      )
    }
  ]
  return (
    <FilteredTable
      filter={{ label: membersText.filter, placeholder: membersText.placeholder }}
      tools={may.add ? <UserChoice label={membersText.add} isDisabled={add.isPending} onChoose={(user) => add.mutate(user)} /> : null}
      label={membersText.member}
      columns={columns}
      pages={pages}
      empty={
        <Empty icon={<Users />} title={membersText.none}>
          {membersText.noneHint}
        </Empty>
      }
      keyOf={({ user_id }) => user_id}
      nameOf={({ username }) => username}
    />
  )
}

interface ActionsProps {
  readonly member: Member
  readonly mayAssign: boolean
  readonly mayRemove: boolean
  readonly mayOpen: boolean
  readonly onChange: () => Promise<unknown>
}

const MemberActions = ({ mayAssign, mayOpen, mayRemove, member, onChange }: ActionsProps) => {
  const [asking, setAsking] = useState<"roles" | "remove" | undefined>()
  const navigate = useNavigate()
  const { organization_id: organization, user_id: user, username } = member
  const close = (): void => setAsking(undefined)
  if (!mayAssign && !mayRemove && !mayOpen) return null
  return (
    <>
      <Menu
        label={usersText.actions(username)}
        trigger={<IconButton size="small" label={usersText.actions(username)} icon={<EllipsisVertical />} />}
      >
        {mayOpen ? (
          <MenuItem icon={<UserRound />} onSelect={() => void navigate({ to: "/deployment/users/$user", params: { user: username } })}>
            {usersText.open}
          </MenuItem>
        ) : null}
        {mayAssign ? (
          <MenuItem icon={<ShieldCheck />} onSelect={() => setAsking("roles")}>
            {membersText.roles}
          </MenuItem>
        ) : null}
        {mayRemove ? (
          <MenuItem isDangerous icon={<UserMinus />} onSelect={() => setAsking("remove")}>
            {membersText.remove}
          </MenuItem>
        ) : null}
      </Menu>
      <Dialog isOpen={asking === "roles"} onClose={close} title={membersText.rolesOf(username)}>
        <MemberRoles member={member} onClose={close} onChange={onChange} />
      </Dialog>
      <ConfirmDialog
        isOpen={asking === "remove"}
        onClose={close}
        title={membersText.removeTitle(username)}
        description={membersText.removeText}
        action={membersText.remove}
        isDangerous
        onConfirm={async () => {
          await members.removeMember(client, { organization, user })
          await onChange()
          notify(membersText.removed(username))
        }}
      />
    </>
  )
}

interface RolesProps extends Pick<ActionsProps, "member" | "onChange"> {
  readonly onClose: () => void
}

const MemberRoles = ({ member: { organization_id: organization, roles: held, user_id: user }, onChange, onClose }: RolesProps) => {
  const { data: roles, error, isLoadingError, refetch } = useQuery(organizationRolesQuery(organization))
  const [chosen, setChosen] = useState<ReadonlyArray<string>>(held.map(({ name }) => name))
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (roles === undefined) return <SkeletonLines count={4} />
  return (
    <Form
      onSubmit={async () => {
        await members.updateMemberRoles(client, { organization, user, body: { roles: chosen } })
        await onChange()
        onClose()
        notify(membersText.rolesSaved)
      }}
    >
      <div className="people-checks">
        {roles.map(({ assignable, built_in, display_name, name }) => (
          <Checkbox
            key={name}
            label={display_name || name}
            hint={assignable ? (built_in ? undefined : rolesText.custom) : rolesText.notAssignable}
            checked={chosen.includes(name)}
            disabled={!assignable}
            onChange={(event) => setChosen(event.target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))}
          />
        ))}
      </div>
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <Button type="submit" kind="primary">
          {rolesText.save}
        </Button>
      </FormActions>
    </Form>
  )
}
