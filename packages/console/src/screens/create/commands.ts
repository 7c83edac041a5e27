/** Templates in the palette: a new workspace from each. */
import { useQuery } from "@tanstack/react-query"
import { Plus } from "lucide-react"
import type { UseCommands } from "../../app/area.js"
import { paletteText, shellText } from "../../texts/shell.js"
import { createText } from "../../texts/create.js"
import { templatesQuery } from "./templates.js"

export const useCreateCommands: UseCommands = () => {
  const { data = [] } = useQuery(templatesQuery)
  return [
    { id: "new workspace", label: shellText.create, group: paletteText.groups.do, icon: Plus, keywords: ["create"], link: { to: "/new" } },
    ...data
      .filter(({ deprecated }) => !deprecated)
      .map(({ display_name, id, name, organization_name }) => ({
        id: `create ${id}`,
        label: createText.title(display_name || name),
        group: paletteText.groups.templates,
        icon: Plus,
        keywords: [name, "create"],
        link: { to: "/templates/$organization/$template/workspace", params: { organization: organization_name, template: name } } as const
      }))
  ]
}
