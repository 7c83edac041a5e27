/** How one template is used. */
import { NoAccess } from "../../ui/page/States.js"
import { Usage, UsageChoices } from "../insights/Usage.js"
import { useTemplateQuery, useTemplateRights } from "./queries.js"

export const TemplateInsights = () => {
  const { data: template } = useTemplateQuery()
  const may = useTemplateRights(template)
  if (template === undefined || may.isPending) return null
  if (!may.insights) return <NoAccess />
  return (
    <>
      <UsageChoices />
      <Usage key={template.id} templates={[template.id]} />
    </>
  )
}
