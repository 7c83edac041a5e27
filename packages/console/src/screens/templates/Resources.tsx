/** What a workspace of a version consists of. */
import type { WorkspaceResource } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { templateText } from "../../texts/templates.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { resourcesQuery } from "./queries.js"

export const Resources = ({ version }: { readonly version: string }) => (
  <Section title={templateText.resources} description={templateText.resourcesHint}>
    <ResourceList version={version} />
  </Section>
)

export const ResourceList = ({ version }: { readonly version: string }) => {
  const { data, error, isLoadingError, refetch } = useQuery(resourcesQuery(version))
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <SkeletonLines count={3} />
  const shown = data.filter(({ hide, workspace_transition }) => !hide && workspace_transition === "start")
  const kept = new Set(data.filter(({ workspace_transition }) => workspace_transition === "stop").map(addressOf))
  if (shown.length === 0) return <p className="muted">{templateText.noResources}</p>
  return (
    <ul className="tpl-resources">
      {shown.map((resource) => (
        <Resource key={resource.id} resource={resource} isKept={kept.has(addressOf(resource))} />
      ))}
    </ul>
  )
}

const addressOf = ({ name, type }: WorkspaceResource): string => `${type}.${name}`

const Resource = ({ isKept, resource }: { readonly resource: WorkspaceResource; readonly isKept: boolean }) => {
  const { agents, daily_cost, icon, metadata, name, type } = resource
  const facts = [
    agents === undefined || agents.length === 0 ? "" : templateText.agents(agents.map(({ name }) => name).join(", ")),
    daily_cost > 0 ? templateText.cost(daily_cost) : "",
    ...(metadata ?? []).filter(({ sensitive, value }) => !sensitive && value !== "").map(({ key, value }) => `${key}: ${value}`)
  ].filter((each) => each !== "")
  return (
    <li className="tpl-resource">
      <Avatar name={name} src={icon} size={28} isThing />
      <span className="tpl-names">
        <span className="tpl-name-line">
          <span className="truncate tpl-strong" title={name}>
            {name}
          </span>
          {isKept ? null : <Badge>{templateText.onlyRunning}</Badge>}
        </span>
        <span className="truncate faint mono" title={type}>
          {type}
        </span>
        {facts.length === 0 ? null : <span className="muted tpl-sub">{facts.join(" · ")}</span>}
      </span>
    </li>
  )
}
