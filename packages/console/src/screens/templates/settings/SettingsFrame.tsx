/** The parts of a template's settings. */
import type { Template } from "@atelier/client"
import type { ReactNode } from "react"
import { settingsText } from "../../../texts/templates.js"
import { NoAccess, SkeletonLines } from "../../../ui/page/States.js"
import { useTitle } from "../../../ui/page/Page.js"
import { type Tab, Tabs, usePartTitle } from "../../../ui/page/Tabs.js"
import { useTemplateQuery, useTemplateRights } from "../queries.js"

interface PartProps {
  readonly children: (template: Template) => ReactNode
}

/** Draws a part for those who may change the template. */
export const SettingsFrame = ({ children }: PartProps) => {
  const { data: template } = useTemplateQuery()
  const may = useTemplateRights(template)
  if (template === undefined || may.isPending) return <SkeletonLines count={6} />
  if (!may.update) return <NoAccess />
  return <Part template={template}>{children}</Part>
}

const Part = ({ children, template }: PartProps & { readonly template: Template }) => {
  const params = { organization: template.organization_name, template: template.name }
  const { tabs } = settingsText
  const parts: ReadonlyArray<Tab> = [
    { label: tabs.general, link: { to: "/templates/$organization/$template/settings", params } },
    { label: tabs.schedule, link: { to: "/templates/$organization/$template/settings/schedule", params } },
    { label: tabs.permissions, link: { to: "/templates/$organization/$template/settings/permissions", params } },
    { label: tabs.variables, link: { to: "/templates/$organization/$template/settings/variables", params } }
  ]
  useTitle(usePartTitle(parts, template.display_name || template.name))
  return (
    <>
      <Tabs label={tabs.label} tabs={parts} />
      {children(template)}
    </>
  )
}
