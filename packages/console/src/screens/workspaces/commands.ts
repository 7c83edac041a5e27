/** Workspaces in the palette: those that match what was typed. */
import * as workspaces from "@atelier/client/workspaces"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Box } from "lucide-react"
import { useDeferredValue } from "react"
import type { UseCommands } from "../../app/area.js"
import { client } from "../../app/client.js"
import { paletteText } from "../../texts/shell.js"

const maximumShown = 8

export const useWorkspaceCommands: UseCommands = (typed) => {
  // Letters that the filter's language does not give a meaning
  const name = useDeferredValue(typed.trim().replaceAll(/[":]/g, ""))
  const { data } = useQuery({
    queryKey: ["workspaces", "palette", name],
    queryFn: ({ signal }) =>
      workspaces.listWorkspaces(client, { q: name === "" ? "owner:me" : `name:"${name}"`, limit: maximumShown }, { signal }),
    placeholderData: keepPreviousData
  })
  return (data?.workspaces ?? []).map(({ id, latest_build, name, owner_name }) => ({
    id: `workspace ${id}`,
    label: `${owner_name}/${name}`,
    hint: latest_build.status,
    group: paletteText.groups.workspaces,
    icon: Box,
    link: { href: `/@${owner_name}/${name}`, to: "/@{$owner}/$workspace", params: { owner: owner_name, workspace: name } } as never
  }))
}
