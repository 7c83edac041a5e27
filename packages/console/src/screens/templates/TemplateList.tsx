/** All templates that the user may see. */
import type { Template } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { LayoutTemplate, Plus, SearchX } from "lucide-react"
import { client } from "../../app/client.js"
import { useFilter } from "../../app/filter.js"
import { wholePages } from "../../app/pages.js"
import { useMay, useOrganization, useOrganizations } from "../../app/session.js"
import { startersText, templatesText } from "../../texts/templates.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { Button, ButtonLink } from "../../ui/forms/Button.js"
import type { FilterKey } from "../../ui/lists/Filter.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { FilteredTable } from "../../ui/lists/PagedTable.js"
import { Empty } from "../../ui/page/States.js"
import { byNumber, byText, byTime, useSorted } from "../../ui/lists/sorted.js"
import type { Column } from "../../ui/lists/Table.js"
import { duration, Time } from "../../ui/page/Time.js"
import { findOrganizations, findUsernames } from "../people/queries.js"
import "./templates.css"

const truth = ["true", "false"]
const hints: Readonly<Record<string, string>> = templatesText.filterHints
const keys = (
  [
    { key: "name" },
    { key: "display_name" },
    { key: "organization", search: findOrganizations },
    { key: "author", search: findUsernames },
    { key: "deprecated", values: truth },
    { key: "has-ai-task", values: truth }
  ] satisfies ReadonlyArray<FilterKey>
).map((each): FilterKey => ({ ...each, hint: hints[each.key] ?? "" }))

const name: Column<Template> = {
  id: "name",
  header: templatesText.name,
  compare: byText(({ display_name, name }) => display_name || name),
  width: "minmax(0, 2.4fr)",
  cell: ({ deprecated, description, display_name, icon, name, organization_name }) => (
    <div className="tpl-name">
      <Avatar name={display_name || name} src={icon} size={32} isThing />
      <div className="tpl-names">
        <span className="tpl-name-line">
          <Link
            to="/templates/$organization/$template"
            params={{ organization: organization_name, template: name }}
            className="truncate tpl-link"
            title={display_name || name}
          >
            {display_name || name}
          </Link>
          {deprecated ? <Badge tone="amber">{templatesText.deprecated}</Badge> : null}
        </span>
        <span className="truncate faint tpl-sub" title={description}>
          {description || name}
        </span>
      </div>
    </div>
  )
}

const organization: Column<Template> = {
  id: "organization",
  header: templatesText.organization,
  compare: byText(({ organization_display_name, organization_name }) => organization_display_name || organization_name),
  width: "minmax(0, 1fr)",
  from: 860,
  cell: ({ organization_display_name, organization_icon, organization_name }) => (
    <span className="tpl-organization">
      <Avatar name={organization_display_name || organization_name} src={organization_icon} size={18} isThing />
      <span className="truncate" title={organization_name}>
        {organization_display_name || organization_name}
      </span>
    </span>
  )
}

const others: ReadonlyArray<Column<Template>> = [
  {
    id: "developers",
    header: templatesText.developers,
    compare: byNumber(({ active_user_count }) => active_user_count),
    width: "88px",
    from: 560,
    cell: ({ active_user_count }) => active_user_count.toLocaleString("en")
  },
  {
    id: "time",
    header: templatesText.buildTime,
    compare: byNumber(({ build_time_stats }) => build_time_stats.start.P50),
    width: "96px",
    from: 700,
    cell: ({ build_time_stats }) => {
      const usual = build_time_stats.start.P50
      return usual === null ? <span className="faint">{templatesText.unknownTime}</span> : duration(usual)
    }
  },
  {
    id: "changed",
    header: templatesText.changed,
    compare: byTime(({ updated_at }) => updated_at),
    width: "112px",
    from: 640,
    cell: ({ updated_at }) => (
      <span className="muted">
        <Time at={updated_at} />
      </span>
    )
  }
]

const none: ReadonlyArray<Template> = []

const columns = [name, ...others]
const columnsOfMany = [name, organization, ...others]

export const TemplateList = () => {
  const [filter, setFilter] = useFilter()
  const navigate = useNavigate()
  const chosen = useOrganization()
  const hasOthers = useOrganizations().length > 1
  const may = useMay({ create: { on: "template", to: "create", anyOrganization: true } })
  const q = [filter, chosen === undefined || filter.includes("organization:") ? "" : `organization:${chosen.id}`].join(" ").trim()
  const list = useQuery({
    queryKey: ["templates", "list", q],
    queryFn: ({ signal }) => templates.listTemplates(client, { q }, { signal }),
    placeholderData: keepPreviousData
  })
  const shownColumns = hasOthers ? columnsOfMany : columns
  const { onSort, rows, sorting } = useSorted("templates", shownColumns, list.data ?? none)
  const add = (
    <ButtonLink kind="primary" icon={<Plus />} to="/starter-templates">
      {startersText.add}
    </ButtonLink>
  )
  return (
    <Page>
      <PageHeader title={templatesText.title} description={templatesText.description} actions={may.create ? add : undefined} />
      <FilteredTable
        pages={wholePages({ ...list, data: list.data === undefined ? undefined : rows })}
        sorting={sorting}
        onSort={onSort}
        filter={{ label: templatesText.filter, placeholder: templatesText.placeholder, keys }}
        countText={templatesText.count}
        label={templatesText.title}
        columns={shownColumns}
        keyOf={({ id }) => id}
        nameOf={({ display_name, name }) => display_name || name}
        rowHeight={56}
        onOpen={({ name, organization_name }) =>
          void navigate({ to: "/templates/$organization/$template", params: { organization: organization_name, template: name } })
        }
        empty={
          filter === "" ? (
            <Empty icon={<LayoutTemplate />} title={templatesText.empty} action={may.create ? add : undefined}>
              {may.create ? templatesText.emptyHint : templatesText.emptyMember}
            </Empty>
          ) : (
            <Empty
              icon={<SearchX />}
              title={templatesText.noMatch}
              action={<Button onClick={() => setFilter("")}>{templatesText.clearFilter}</Button>}
            />
          )
        }
      />
    </Page>
  )
}
