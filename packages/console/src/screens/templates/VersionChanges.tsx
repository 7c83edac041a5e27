/** What differs between two versions. */
import type { Template, TemplateVersion } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { sourceText, versionsText } from "../../texts/templates.js"
import { Combobox } from "../../ui/forms/Combobox.js"
import { Loaded } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { useTemplateRights, versionsQuery } from "./queries.js"
import { Difference } from "./source/Difference.js"
import { sourceQuery } from "./source/queries.js"

const route = getRouteApi("/templates/$organization/$template/versions/$version")

/** What differs from another version: the last one before it that works, unless the address names one. */
export const VersionChanges = ({ template, version }: { readonly template: Template; readonly version: TemplateVersion }) => {
  const { with: named } = route.useSearch()
  const may = useTemplateRights(template)
  const navigate = useNavigate()
  const { data: versions = [] } = useQuery({ ...versionsQuery(template.id, true), enabled: may.update })
  const others = versions.filter(({ id }) => id !== version.id)
  const earlier = others.filter(({ created_at }) => created_at <= version.created_at)
  const base = others.find(({ name }) => name === named) ?? earlier.find(({ job }) => job.status === "succeeded") ?? earlier[0] ?? others[0]
  if (!may.update || base === undefined) return null
  return (
    <Section
      title={sourceText.changes}
      actions={
        <div className="tpl-compare">
          <Combobox
            label={sourceText.compare}
            value={base.name}
            onChange={(name) =>
              void navigate({
                to: "/templates/$organization/$template/versions/$version",
                params: { organization: template.organization_name, template: template.name, version: version.name },
                search: { with: name },
                replace: true
              })
            }
            choices={others.map(({ id, message, name }) => ({
              value: name,
              label: name,
              hint: id === template.active_version_id ? versionsText.active : message === "" ? undefined : message
            }))}
          />
        </div>
      }
    >
      <Compared key={`${base.id} ${version.id}`} before={base.job.file_id} after={version.job.file_id} />
    </Section>
  )
}

const Compared = ({ after, before }: { readonly before: string; readonly after: string }) => {
  const old = useQuery(sourceQuery(before))
  const next = useQuery(sourceQuery(after))
  return (
    <Loaded query={old} lines={4}>
      {(before) => (
        <Loaded query={next} lines={4}>
          {(after) => <Difference before={before} after={after} />}
        </Loaded>
      )}
    </Loaded>
  )
}
