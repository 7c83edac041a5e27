/** The frame of one template: its header and its parts. */
import type { Template } from "@atelier/client"
import { getRouteApi, Outlet } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { templatesText, templateText } from "../../texts/templates.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { ButtonLink } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { ErrorState, Skeleton, SkeletonLines } from "../../ui/page/States.js"
import { type Tab, Tabs, usePartTitle } from "../../ui/page/Tabs.js"
import { useTemplateQuery, useTemplateRights } from "./queries.js"
import "./templates.css"

const route = getRouteApi("/templates/$organization/$template")

const crumbs = [{ label: templatesText.title, link: { to: "/templates" } as const }]

export const TemplateFrame = () => {
  const { template: name } = route.useParams()
  const { data, error, isLoadingError, refetch } = useTemplateQuery()
  if (isLoadingError) return <ErrorState isScreen error={error} onRetry={refetch} />
  if (data !== undefined) return <Loaded template={data} />
  return (
    <Page width="medium">
      <PageHeader title={name} icon={<Skeleton width={36} height={36} />} crumbs={crumbs} />
      <SkeletonLines count={8} />
    </Page>
  )
}

const Loaded = ({ template }: { readonly template: Template }) => {
  const { deprecated, deprecation_message, description, display_name, icon, name, organization_display_name, organization_name } = template
  const params = { organization: organization_name, template: name }
  const may = useTemplateRights(template)
  const { tabs } = templateText
  const parts: ReadonlyArray<Tab> = [
    { label: tabs.overview, link: { to: "/templates/$organization/$template", params }, isOverview: true },
    { label: tabs.versions, link: { to: "/templates/$organization/$template/versions", params }, hasParts: true },
    ...(may.insights ? [{ label: tabs.insights, link: { to: "/templates/$organization/$template/insights", params } as const }] : []),
    { label: tabs.prebuilds, link: { to: "/templates/$organization/$template/prebuilds", params } },
    ...(may.update
      ? [{ label: tabs.settings, link: { to: "/templates/$organization/$template/settings", params } as const, hasParts: true }]
      : [])
  ]
  const tabTitle = usePartTitle(parts, display_name || name)
  return (
    <Page width="medium">
      <PageHeader
        title={display_name || name}
        tabTitle={tabTitle}
        icon={<Avatar name={display_name || name} src={icon} size={36} isThing />}
        crumbs={crumbs}
        description={
          <span className="tpl-line">
            <span className="faint truncate">{organization_display_name || organization_name}</span>
            {description === "" ? null : <span>{description}</span>}
            {deprecated ? <Badge tone="amber">{templatesText.deprecated}</Badge> : null}
          </span>
        }
        actions={
          !deprecated && may.use && may.createWorkspace ? (
            <ButtonLink kind="primary" icon={<Plus />} to="/templates/$organization/$template/workspace" params={params}>
              {templateText.create}
            </ButtonLink>
          ) : undefined
        }
      />
      {deprecated ? (
        <Callout kind="warning" title={deprecation_message}>
          {templateText.deprecatedHint}
        </Callout>
      ) : null}
      <Tabs label={tabs.label} tabs={parts} />
      <Outlet />
    </Page>
  )
}
