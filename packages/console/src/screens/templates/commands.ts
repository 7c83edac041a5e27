/** Templates in the palette: the page of each, and the starters. */
import { useQuery } from "@tanstack/react-query"
import { LayoutTemplate, Plus } from "lucide-react"
import type { UseCommands } from "../../app/area.js"
import { useMay } from "../../app/session.js"
import { paletteText } from "../../texts/shell.js"
import { startersText, templatesText } from "../../texts/templates.js"
import { templatesQuery } from "../create/templates.js"

export const useTemplateCommands: UseCommands = () => {
  const { data = [] } = useQuery(templatesQuery)
  const may = useMay({ create: { on: "template", to: "create", anyOrganization: true } })
  return [
    ...(may.create
      ? [
          {
            id: "add template",
            label: startersText.add,
            group: paletteText.groups.do,
            icon: Plus,
            link: { to: "/starter-templates" } as const
          }
        ]
      : []),
    ...data.map(({ display_name, id, name, organization_name }) => ({
      id: `template ${id}`,
      label: templatesText.open(display_name || name),
      group: paletteText.groups.templates,
      icon: LayoutTemplate,
      keywords: [name],
      link: { to: "/templates/$organization/$template", params: { organization: organization_name, template: name } } as const
    }))
  ]
}
