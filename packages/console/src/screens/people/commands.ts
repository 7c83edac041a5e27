/** Users in the palette: those that match what was typed. */
import * as users from "@atelier/client/users"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { UserRound } from "lucide-react"
import { useDeferredValue } from "react"
import type { UseCommands } from "../../app/area.js"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { usersText } from "../../texts/people.js"

const maximumShown = 5
const minimumTyped = 2

export const useUserCommands: UseCommands = (typed) => {
  // Letters that the filter's language does not give a meaning
  const name = useDeferredValue(typed.trim().replaceAll(/[":\s]/g, ""))
  const may = useMay({ read: { on: "user", to: "read" } })
  const isAsked = may.read && name.length >= minimumTyped
  const { data } = useQuery({
    queryKey: ["users", "palette", name],
    queryFn: ({ signal }) => users.listUsers(client, { q: name, limit: maximumShown }, { signal }),
    placeholderData: keepPreviousData,
    enabled: isAsked
  })
  if (!isAsked) return []
  return (data?.users ?? []).map(({ email, id, name = "", username }) => ({
    id: `user ${id}`,
    label: name === "" ? username : `${name} (${username})`,
    hint: email,
    group: usersText.title,
    icon: UserRound,
    link: { to: "/deployment/users/$user", params: { user: username } } as never
  }))
}
