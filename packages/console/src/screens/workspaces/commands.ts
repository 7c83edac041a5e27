/** Workspaces in the palette: those that match what was typed, and the parts of those that run. */
import type { Workspace } from "@atelier/client"
import * as workspaces from "@atelier/client/workspaces"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Box, FileCode, SquareTerminal } from "lucide-react"
import { useDeferredValue } from "react"
import type { Command, UseCommands } from "../../app/area.js"
import { client } from "../../app/client.js"
import { paletteText } from "../../texts/shell.js"

const maximumShown = 8

/** Workspaces whose parts are offered, while the user types. */
const maximumWithParts = 3

const { files, terminals } = paletteText.parts

const partWords = [files, terminals].map((label) => label.toLowerCase())

/** What was typed without the beginnings of a part's name, and without letters that the filter's language gives a meaning. */
export const nameIn = (typed: string): string =>
  typed
    .trim()
    .replaceAll(/[":]/g, " ")
    .split(/[\s/]+/)
    .filter((word) => word !== "" && !(word.length > 2 && partWords.some((part) => part.startsWith(word.toLowerCase()))))
    .join(" ")

const partsOf = (owner: string, name: string): ReadonlyArray<Command> => {
  const params = { owner, workspace: name }
  const common = { group: paletteText.groups.workspaces, keywords: [name, "shell", "upload"] }
  return [
    {
      ...common,
      id: `terminals ${owner}/${name}`,
      label: `${owner}/${name}: ${terminals}`,
      icon: SquareTerminal,
      link: { to: "/@{$owner}/$workspace/terminals", params }
    },
    {
      ...common,
      id: `files ${owner}/${name}`,
      label: `${owner}/${name}: ${files}`,
      icon: FileCode,
      link: { to: "/@{$owner}/$workspace/files", params }
    }
  ]
}

const isRunning = ({ latest_build }: Workspace): boolean => latest_build.status === "running"

export const useWorkspaceCommands: UseCommands = (typed) => {
  const here = useParams({ strict: false })
  const name = useDeferredValue(nameIn(typed))
  const { data } = useQuery({
    queryKey: ["workspaces", "palette", name],
    queryFn: ({ signal }) =>
      workspaces.listWorkspaces(client, { q: name === "" ? "owner:me" : `name:"${name}"`, limit: maximumShown }, { signal }),
    placeholderData: keepPreviousData
  })
  const found = data?.workspaces ?? []
  const withParts = name === "" ? [] : found.filter(isRunning).slice(0, maximumWithParts)
  return [
    // Of the workspace that is looked at, without a search
    ...(name === "" && here.owner !== undefined && here.workspace !== undefined ? partsOf(here.owner, here.workspace) : []),
    ...found.flatMap((each): ReadonlyArray<Command> => {
      const { latest_build, name, owner_name: owner } = each
      const itself: Command = {
        // Its name at the beginning: typed, it comes before the parts
        id: `${name} ${owner}/${name}`,
        label: `${owner}/${name}`,
        hint: latest_build.status,
        group: paletteText.groups.workspaces,
        icon: Box,
        link: { to: "/@{$owner}/$workspace", params: { owner, workspace: name } }
      }
      return withParts.includes(each) ? [itself, ...partsOf(owner, name)] : [itself]
    })
  ]
}
