import type { User } from "@atelier/client"
import * as users from "@atelier/client/users"
import { useNavigate } from "@tanstack/react-router"
import { Plus, Users } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useFilter } from "../../app/filter.js"
import { usePages } from "../../app/pages.js"
import { useMay } from "../../app/session.js"
import { usersText } from "../../texts/people.js"
import { Button } from "../../ui/forms/Button.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { FilteredTable } from "../../ui/lists/PagedTable.js"
import { Empty } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { CreateUser } from "./CreateUser.js"
import { userKeys } from "./filterKeys.js"
import { Person, RoleBadges, UserState } from "./Person.js"
import { UserActions } from "./UserActions.js"
import "./people.css"

const columns: ReadonlyArray<Column<User>> = [
  { id: "name", header: usersText.user, width: "minmax(180px, 2fr)", cell: (user) => <Person user={user} /> },
  { id: "roles", header: usersText.roles, from: 720, cell: ({ roles }) => <RoleBadges roles={roles} /> },
  { id: "status", header: usersText.status, width: "110px", from: 460, cell: ({ status }) => <UserState status={status} /> },
  {
    id: "login",
    header: usersText.login,
    width: "100px",
    from: 960,
    cell: ({ is_service_account = false, login_type }) => (
      <span className="muted">{is_service_account ? usersText.service : login_type}</span>
    )
  },
  { id: "seen", header: usersText.lastSeen, width: "110px", from: 640, cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
  {
    id: "actions",
    header: <span className="visually-hidden">{usersText.actionsHead}</span>,
    width: "32px",
    align: "end",
    cell: (user) => <UserActions user={user} />
  }
]

export const UserList = () => {
  const [filter] = useFilter()
  const navigate = useNavigate()
  const [isCreating, setCreating] = useState(false)
  const may = useMay({ create: { on: "user", to: "create" } })
  const pages = usePages<User>({
    queryKey: ["users", "list", filter],
    fetch: async ({ limit, offset, signal }) => {
      const { count, users: rows } = await users.listUsers(client, { q: filter, limit, offset }, { signal })
      return { count, rows }
    }
  })
  const create = (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      {usersText.create}
    </Button>
  )
  return (
    <Page>
      <PageHeader title={usersText.title} description={usersText.description} actions={may.create ? create : undefined} />
      <FilteredTable
        filter={{ label: usersText.filter, placeholder: usersText.placeholder, keys: userKeys }}
        countText={usersText.count}
        label={usersText.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon={<Users />} title={usersText.none}>
            {usersText.noneHint}
          </Empty>
        }
        keyOf={({ id }) => id}
        nameOf={({ username }) => username}
        onOpen={({ username }) => void navigate({ to: "/deployment/users/$user", params: { user: username } })}
      />
      <CreateUser isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  )
}
