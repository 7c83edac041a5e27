/** What a template is: its README, its facts, and what a workspace of it consists of. */
import type { Template } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { FileText } from "lucide-react"
import { client } from "../../app/client.js"
import { templatesText, templateText } from "../../texts/templates.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Markdown } from "../../ui/text/Markdown.js"
import { PropertyList, Section } from "../../ui/page/Page.js"
import { Empty, ErrorState, Skeleton, SkeletonLines } from "../../ui/page/States.js"
import { duration, Time } from "../../ui/page/Time.js"
import { useTemplateQuery, versionQuery } from "./queries.js"
import { Resources } from "./Resources.js"

export const Overview = () => {
  const { data: template } = useTemplateQuery()
  return template === undefined ? null : <Loaded key={template.id} template={template} />
}

const Loaded = ({ template }: { readonly template: Template }) => {
  const { data: version, error, isLoadingError, refetch } = useQuery(versionQuery(template.active_version_id))
  return (
    <div className="tpl-columns">
      <div className="tpl-main">
        <Section title={templateText.readme}>
          {isLoadingError ? (
            <ErrorState error={error} onRetry={refetch} />
          ) : version === undefined ? (
            <SkeletonLines count={6} />
          ) : version.readme.trim() === "" ? (
            <Empty icon={<FileText />} title={templateText.noReadme}>
              {templateText.noReadmeHint}
            </Empty>
          ) : (
            <Markdown text={version.readme} />
          )}
        </Section>
        <Resources version={template.active_version_id} />
      </div>
      <div className="tpl-main">
        <Facts template={template} version={version?.name} engine={version?.engine} />
        <Accounts version={template.active_version_id} />
      </div>
    </div>
  )
}

interface FactsProps {
  readonly template: Template
  readonly version: string | undefined
  readonly engine: string | undefined
}

const Facts = ({ engine, template, version }: FactsProps) => {
  const { active_user_count, build_time_stats, created_at, created_by_name, default_ttl_ms, name, organization_name, updated_at } = template
  const { P50, P95 } = build_time_stats.start
  return (
    <Section title={templateText.facts}>
      <PropertyList
        properties={[
          {
            label: templateText.activeVersion,
            value:
              version === undefined ? (
                <Skeleton width={120} />
              ) : (
                <Link
                  className="link mono"
                  to="/templates/$organization/$template/versions/$version"
                  params={{ organization: organization_name, template: name, version }}
                >
                  {version}
                </Link>
              )
          },
          { label: templatesText.developers, value: templateText.developers(active_user_count) },
          {
            label: templateText.start,
            value:
              P50 === null ? (
                <span className="faint">{templatesText.unknownTime}</span>
              ) : (
                templateText.startTimes(duration(P50), duration(P95 ?? P50))
              )
          },
          { label: templateText.autostop, value: default_ttl_ms === 0 ? templateText.noAutostop : duration(default_ttl_ms) },
          engine === undefined ? undefined : { label: templateText.engine, value: engine },
          { label: templateText.changed, value: <Time at={updated_at} /> },
          { label: templateText.created, value: <Time at={created_at} /> },
          { label: templateText.createdBy, value: created_by_name }
        ]}
      />
    </Section>
  )
}

const Accounts = ({ version }: { readonly version: string }) => {
  const { data = [] } = useQuery({
    queryKey: ["template-versions", version, "external-auth"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionExternalAuth(client, { templateversion: version }, { signal })
  })
  if (data.length === 0) return null
  return (
    <Section title={templateText.accounts} description={templateText.accountsHint}>
      <ul className="tpl-accounts">
        {data.map(({ display_icon, display_name, id, optional }) => (
          <li key={id} className="tpl-account">
            <Avatar name={display_name || id} src={display_icon} size={20} isThing />
            <span className="truncate" title={id}>
              {display_name || id}
            </span>
            {optional === true ? <span className="faint">{templateText.optional}</span> : null}
          </li>
        ))}
      </ul>
    </Section>
  )
}
