/** The templates that a workspace can be made from. */
import type { Template } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { LayoutTemplate, SearchX } from "lucide-react"
import { useState } from "react"
import { useMay, useOrganization, useOrganizations } from "../../app/session.js"
import { createText } from "../../texts/create.js"
import { startersText } from "../../texts/templates.js"
import { workspacesText } from "../../texts/workspaces.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { ButtonLink } from "../../ui/forms/Button.js"
import { Input } from "../../ui/forms/Field.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { Empty, ErrorState } from "../../ui/page/States.js"
import { duration } from "../../ui/page/Time.js"
import { GallerySkeleton } from "./GallerySkeleton.js"
import { templatesQuery } from "./templates.js"
import "./Gallery.css"

const holds = (template: Template, words: string): boolean =>
  [template.name, template.display_name, template.description, template.organization_display_name].some((text) =>
    text.toLowerCase().includes(words)
  )

export const Gallery = () => {
  const { data, error, isLoadingError, isPending, refetch } = useQuery(templatesQuery)
  const [typed, setTyped] = useState("")
  const organization = useOrganization()
  const may = useMay({ create: { on: "template", to: "create", anyOrganization: true } })
  const hasOthers = useOrganizations().length > 1
  const shown = (data ?? [])
    .filter(({ deprecated, organization_id }) => !deprecated && (organization === undefined || organization_id === organization.id))
    .filter((template) => holds(template, typed.trim().toLowerCase()))
    .toSorted((one, other) => other.active_user_count - one.active_user_count || one.name.localeCompare(other.name))
  return (
    <Page width="medium">
      <PageHeader
        title={createText.gallery}
        description={createText.galleryHint}
        crumbs={[{ label: workspacesText.title, link: { to: "/workspaces" } }]}
        actions={may.create && (data?.length ?? 0) > 0 ? <ButtonLink to="/starter-templates">{startersText.add}</ButtonLink> : undefined}
      />
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : isPending ? (
        <GallerySkeleton />
      ) : data.length === 0 ? (
        <Empty
          icon={<LayoutTemplate />}
          title={createText.noTemplates}
          action={
            may.create ? (
              <ButtonLink kind="primary" to="/starter-templates">
                {startersText.add}
              </ButtonLink>
            ) : undefined
          }
        >
          {may.create ? createText.noTemplatesHint : createText.noTemplatesMember}
        </Empty>
      ) : (
        <>
          <Input
            className="gallery-search"
            type="search"
            aria-label={createText.search}
            placeholder={createText.search}
            value={typed}
            autoFocus
            onChange={(event) => setTyped(event.target.value)}
          />
          {shown.length === 0 ? <Empty icon={<SearchX />} title={createText.noMatch} /> : null}
          <ul className="gallery">
            {shown.map((template) => (
              <li key={template.id}>
                <Card template={template} hasOthers={hasOthers} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  )
}

const Card = ({ hasOthers, template }: { readonly template: Template; readonly hasOthers: boolean }) => {
  const { active_user_count, build_time_stats, description, display_name, icon, name, organization_display_name, organization_name } =
    template
  const median = build_time_stats.start.P50
  return (
    <Link
      className="gallery-card"
      to="/templates/$organization/$template/workspace"
      params={{ organization: organization_name, template: name }}
    >
      <div className="gallery-head">
        <Avatar name={display_name || name} src={icon} size={40} isThing />
        {hasOthers ? <Badge>{organization_display_name || organization_name}</Badge> : null}
      </div>
      <div className="gallery-name">{display_name || name}</div>
      <p className="gallery-text">{description}</p>
      <div className="gallery-foot">
        {createText.popular(active_user_count)}
        {median === null || median === 0 ? null : <> · {createText.buildTime(duration(median))}</>}
      </div>
    </Link>
  )
}
