/** The users whose a new workspace may be. */
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../app/client.js"
import { createText } from "../../texts/create.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Combobox } from "../../ui/forms/Combobox.js"

interface Props {
  readonly organization: string
  readonly owner: { readonly id: string; readonly username: string }
  readonly onChange: (owner: { readonly id: string; readonly username: string }) => void
}

const shownOwners = 20

export const OwnerChoice = ({ onChange, organization, owner }: Props) => {
  const [typed, setTyped] = useState("")
  const { data = [], isFetching } = useQuery({
    queryKey: ["available-owners", organization, typed],
    queryFn: ({ signal }) =>
      workspaceSettings.listAvailableOwners(client, { organization, user: "me", q: typed, limit: shownOwners }, { signal }),
    placeholderData: (before) => before
  })
  const all = data.some(({ id }) => id === owner.id) ? data : [{ ...owner, avatar_url: "", name: "" }, ...data]
  return (
    <Combobox
      label={createText.owner}
      value={owner.id}
      onSearch={setTyped}
      isLoading={isFetching && data.length === 0}
      onChange={(id) => {
        const chosen = all.find((each) => each.id === id)
        if (chosen !== undefined) onChange({ id: chosen.id, username: chosen.username })
      }}
      choices={all.map(({ avatar_url, id, name, username }) => ({
        value: id,
        label: username,
        hint: name === "" ? undefined : name,
        icon: <Avatar name={name || username} src={avatar_url} size={18} />
      }))}
    />
  )
}
