/** Finds a user by typing. */
import type { User } from "@atelier/client"
import * as members from "@atelier/client/members"
import * as users from "@atelier/client/users"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useDeferredValue, useState } from "react"
import { client } from "../../app/client.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Combobox } from "../../ui/forms/Combobox.js"

type Found = Pick<User, "username" | "name" | "email" | "avatar_url"> & { readonly id: string }

interface Props {
  readonly label: string
  /** Only members of this organization. */
  readonly organization?: string
  readonly isDisabled?: boolean
  readonly onChoose: (user: { readonly id: string; readonly username: string }) => void
}

const shown = 20

export const UserChoice = ({ isDisabled = false, label, onChoose, organization }: Props) => {
  const [typed, setTyped] = useState("")
  const q = useDeferredValue(typed.replaceAll(/[":]/g, "").trim())
  const { data = [], isFetching } = useQuery({
    queryKey: ["users", "choice", organization ?? "", q],
    queryFn: async ({ signal }): Promise<ReadonlyArray<Found>> => {
      if (organization === undefined) return (await users.listUsers(client, { q, limit: shown }, { signal })).users
      const { members: found } = await members.pageMembers(client, { organization, q, limit: shown }, { signal })
      return found.map(({ user_id, ...member }) => ({ ...member, id: user_id }))
    },
    placeholderData: keepPreviousData
  })
  return (
    <Combobox
      label={label}
      placeholder={label}
      value={undefined}
      isDisabled={isDisabled}
      isLoading={isFetching && data.length === 0}
      onSearch={setTyped}
      onChange={(id) => {
        const user = data.find((one) => one.id === id)
        if (user !== undefined) onChoose(user)
      }}
      choices={data.map(({ avatar_url, email, id, name = "", username }) => ({
        value: id,
        label: name || username,
        hint: email,
        icon: <Avatar name={name || username} src={avatar_url} size={20} />
      }))}
    />
  )
}
