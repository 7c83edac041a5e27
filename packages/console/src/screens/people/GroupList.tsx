import type { Group, Organization } from "@atelier/client"
import * as organizationGroups from "@atelier/client/organizationGroups"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { Plus, UsersRound } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { groupsText } from "../../texts/people.js"
import { dialogText } from "../../texts/ui.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button } from "../../ui/forms/Button.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState } from "../../ui/page/States.js"
import { byNumber, byText, useSorted } from "../../ui/lists/sorted.js"
import { type Column, Table, TableSkeleton } from "../../ui/lists/Table.js"
import { notify } from "../../ui/floating/Toast.js"
import { GroupFields, groupOf } from "./GroupFields.js"
import { OrganizationFrame } from "./OrganizationFrame.js"
import "./people.css"

const none: ReadonlyArray<Group> = []

const columns: ReadonlyArray<Column<Group>> = [
  {
    id: "name",
    header: groupsText.name,
    compare: byText(({ display_name, name }) => display_name || name),
    width: "minmax(160px, 2fr)",
    cell: ({ avatar_url, display_name, id, name, organization_id }) => {
      const shown = id === organization_id ? groupsText.everyone : display_name || name
      return (
        <span className="people-name">
          <Avatar name={shown} src={avatar_url} size={26} isThing />
          <span className="people-names">
            <span className="truncate">{shown}</span>
            {display_name === "" || id === organization_id ? null : <span className="people-second truncate">{name}</span>}
          </span>
        </span>
      )
    }
  },
  {
    id: "members",
    header: groupsText.members,
    compare: byNumber(({ total_member_count }) => total_member_count),
    width: "110px",
    cell: ({ total_member_count }) => total_member_count.toLocaleString("en")
  },
  {
    id: "quota",
    header: groupsText.quota,
    compare: byNumber(({ quota_allowance }) => quota_allowance),
    width: "130px",
    from: 560,
    cell: ({ quota_allowance }) => quota_allowance.toLocaleString("en")
  },
  { id: "source", header: groupsText.source, width: "150px", from: 720, cell: ({ source }) => groupsText.sources[source] }
]

export const GroupList = () => {
  const { organization } = useParams({ from: "/organizations/$organization/groups" })
  return <OrganizationFrame name={organization}>{(known) => <Groups organization={known} />}</OrganizationFrame>
}

const Groups = ({ organization: { id, name: organization } }: { readonly organization: Organization }) => {
  const [isCreating, setCreating] = useState(false)
  const may = useMay({ create: { on: "group", to: "create", organization: id } })
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["groups", "of", id],
    queryFn: ({ signal }) => organizationGroups.listOrganizationGroups(client, { organization: id }, { signal })
  })
  const { onSort, rows, sorting } = useSorted("groups", columns, data ?? none)
  const open = (group: string): void => void navigate({ to: "/organizations/$organization/groups/$group", params: { organization, group } })
  const close = (): void => setCreating(false)
  const create = may.create ? (
    <Button icon={<Plus />} kind="primary" onClick={() => setCreating(true)}>
      {groupsText.create}
    </Button>
  ) : null
  return (
    <>
      <Section isFlush title={groupsText.title} actions={create}>
        {isLoadingError ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : data === undefined ? (
          <TableSkeleton rows={4} />
        ) : data.length === 0 ? (
          <Empty icon={<UsersRound />} title={groupsText.none}>
            {groupsText.noneHint}
          </Empty>
        ) : (
          <Table
            label={groupsText.title}
            columns={columns}
            count={rows.length}
            rowAt={(index) => rows[index]}
            sorting={sorting}
            onSort={onSort}
            keyOf={(group) => group.id}
            nameOf={({ name }) => name}
            onOpen={({ name }) => open(name)}
          />
        )}
      </Section>
      <Dialog isOpen={isCreating} onClose={close} title={groupsText.createTitle}>
        <Form
          onSubmit={async (form) => {
            const created = await organizationGroups.createGroup(client, { organization: id, body: groupOf(form) })
            await queryClient.invalidateQueries({ queryKey: ["groups"] })
            close()
            notify(groupsText.created(created.display_name || created.name))
            open(created.name)
          }}
        >
          <GroupFields />
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {groupsText.submit}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
    </>
  )
}
