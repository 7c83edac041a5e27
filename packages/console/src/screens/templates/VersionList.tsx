/** The versions of a template, the newest first. */
import type { Template, TemplateVersion } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { Archive, EllipsisVertical, History } from "lucide-react"
import { startTransition, useOptimistic, useState } from "react"
import { client } from "../../app/client.js"
import { wholePages } from "../../app/pages.js"
import { versionsText } from "../../texts/templates.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import { IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Switch } from "../../ui/forms/Field.js"
import { Menu, MenuItem } from "../../ui/floating/Menu.js"
import { Section } from "../../ui/page/Page.js"
import { PagedTable } from "../../ui/lists/PagedTable.js"
import { Empty } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { refreshTemplates, useTemplateQuery, useTemplateRights, versionsQuery } from "./queries.js"
import { VersionMenu } from "./VersionActions.js"
import { importState } from "./versionState.js"

const route = getRouteApi("/templates/$organization/$template/versions")

export const VersionList = () => {
  const { data: template } = useTemplateQuery()
  return template === undefined ? null : <Loaded key={template.id} template={template} />
}

/** What is shown of versions, and what the user may do with them. */
const columnsOf = (template: Template, may: ReturnType<typeof useTemplateRights>): ReadonlyArray<Column<TemplateVersion>> => {
  const params = { organization: template.organization_name, template: template.name }
  return [
    {
      id: "name",
      header: versionsText.version,
      width: "minmax(0, 2fr)",
      cell: ({ archived, id, job, message, name }) => (
        <span className="tpl-names">
          <span className="tpl-name-line">
            <Link
              className="truncate tpl-link mono"
              to="/templates/$organization/$template/versions/$version"
              params={{ ...params, version: name }}
              title={name}
            >
              {name}
            </Link>
            {id === template.active_version_id ? <Badge tone="green">{versionsText.active}</Badge> : null}
            {archived ? <Badge>{versionsText.archived}</Badge> : null}
          </span>
          <span className="truncate faint tpl-sub" title={message}>
            <span className="tpl-narrow">
              {importState(job).label}
              {message === "" ? null : " · "}
            </span>
            <span>{message}</span>
          </span>
        </span>
      )
    },
    {
      id: "status",
      header: versionsText.status,
      width: "104px",
      from: 400,
      cell: ({ job }) => {
        const { isMoving, label, tone } = importState(job)
        return (
          <Status tone={tone} isMoving={isMoving}>
            {label}
          </Status>
        )
      }
    },
    {
      id: "by",
      header: versionsText.by,
      width: "minmax(0, 1fr)",
      from: 640,
      cell: ({ created_by: { avatar_url, username } }) => (
        <span className="tpl-organization">
          <Avatar name={username} src={avatar_url} size={20} />
          <span className="truncate" title={username}>
            {username}
          </span>
        </span>
      )
    },
    {
      id: "created",
      header: versionsText.created,
      width: "112px",
      from: 520,
      cell: ({ created_at }) => (
        <span className="muted">
          <Time at={created_at} />
        </span>
      )
    },
    ...(may.update || (may.use && may.createWorkspace)
      ? [
          {
            id: "actions",
            header: <span className="visually-hidden">{versionsText.actions}</span>,
            width: "32px",
            align: "end" as const,
            cell: (version: TemplateVersion) => (
              <VersionMenu template={template} version={version} mayUpdate={may.update} mayUse={may.use && may.createWorkspace} />
            )
          }
        ]
      : [])
  ]
}

const Loaded = ({ template }: { readonly template: Template }) => {
  const { archived: isWithArchived = false } = route.useSearch()
  // The address changes later than the user's click
  const [isSwitched, setSwitched] = useOptimistic(isWithArchived)
  const navigate = useNavigate()
  const params = { organization: template.organization_name, template: template.name }
  const may = useTemplateRights(template)
  const list = useQuery({
    ...versionsQuery(template.id, isWithArchived),
    placeholderData: keepPreviousData
  })
  const columns = columnsOf(template, may)
  return (
    <Section
      isFlush
      title={versionsText.title}
      actions={
        <span className="tpl-section-actions">
          <Switch
            label={versionsText.showArchived}
            checked={isSwitched}
            onChange={({ target: { checked } }) =>
              startTransition(async () => {
                setSwitched(checked)
                await navigate({
                  to: "/templates/$organization/$template/versions",
                  params,
                  search: checked ? { archived: true } : {},
                  replace: true
                })
              })
            }
          />
          {may.update ? <ArchiveMenu template={template.id} /> : null}
        </span>
      }
    >
      <PagedTable
        pages={wholePages(list)}
        label={versionsText.title}
        columns={columns}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        rowHeight={56}
        onOpen={({ name }) =>
          void navigate({ to: "/templates/$organization/$template/versions/$version", params: { ...params, version: name } })
        }
        empty={<Empty icon={<History />} title={versionsText.none} />}
      />
    </Section>
  )
}

const ArchiveMenu = ({ template }: { readonly template: string }) => {
  const [asked, setAsked] = useState<"failed" | "unused" | undefined>()
  const isAll = asked === "unused"
  return (
    <>
      <Menu label={versionsText.more} trigger={<IconButton size="small" label={versionsText.more} icon={<EllipsisVertical />} />}>
        <MenuItem icon={<Archive />} onSelect={() => setAsked("failed")}>
          {versionsText.archiveFailed}
        </MenuItem>
        <MenuItem icon={<Archive />} onSelect={() => setAsked("unused")}>
          {versionsText.archiveUnused}
        </MenuItem>
      </Menu>
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={isAll ? versionsText.archiveUnusedTitle : versionsText.archiveFailedTitle}
        description={versionsText.archiveManyText}
        action={isAll ? versionsText.archiveUnused : versionsText.archiveFailed}
        onConfirm={async () => {
          const { archived_ids } = await templateVersions.archiveTemplateVersions(client, { template, body: { all: isAll } })
          await refreshTemplates()
          notify(versionsText.archivedMany(archived_ids.length))
        }}
      />
    </>
  )
}
