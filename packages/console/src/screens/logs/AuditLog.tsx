import type { AuditLog as Entry } from "@atelier/client"
import * as audit from "@atelier/client/audit"
import { Link } from "@tanstack/react-router"
import { ScrollText } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useFilter } from "../../app/filter.js"
import { type FetchedPage, usePages } from "../../app/pages.js"
import { auditText } from "../../texts/logs.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { ButtonLink } from "../../ui/forms/Button.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { Page, PageHeader, PropertyList } from "../../ui/page/Page.js"
import { FilteredTable } from "../../ui/lists/PagedTable.js"
import { spoken } from "../../ui/page/spoken.js"
import { Empty } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { Time } from "../../ui/page/Time.js"
import { auditKeys } from "./filterKeys.js"
import { placeOf } from "./place.js"
import { sentenceOf, shownValue } from "./sentence.js"
import "./logs.css"

const noId = "00000000-0000-0000-0000-000000000000"

const Sentence = ({ entry }: { readonly entry: Entry }) => (
  <span className="log-sentence">
    {sentenceOf(entry).map(({ isName, text }, index) => (isName ? <b key={index}>{text}</b> : <span key={index}>{text}</span>))}
  </span>
)

const Outcome = ({ status_code }: Pick<Entry, "status_code">) =>
  status_code >= 400 ? (
    <Badge tone="red">
      {auditText.refused} {status_code}
    </Badge>
  ) : null

const columns: ReadonlyArray<Column<Entry>> = [
  {
    id: "event",
    header: auditText.event,
    width: "minmax(200px, 3fr)",
    cell: (entry) => (
      <span className="log-event">
        <Avatar name={entry.user?.name || (entry.user?.username ?? auditText.system)} src={entry.user?.avatar_url} size={26} />
        <span className="log-text">
          <span className="truncate">
            <Sentence entry={entry} />
          </span>
          <span className="log-second truncate">
            {[entry.organization?.display_name ?? entry.organization?.name, Object.keys(entry.diff).map(spoken).join(", ")]
              .filter((text) => text !== undefined && text !== "")
              .join(" · ")}
          </span>
        </span>
      </span>
    )
  },
  { id: "status", header: auditText.status, width: "96px", from: 640, cell: (entry) => <Outcome status_code={entry.status_code} /> },
  {
    id: "what",
    header: auditText.what,
    width: "150px",
    from: 760,
    cell: ({ resource_type }) => <span className="muted truncate">{spoken(resource_type)}</span>
  },
  { id: "from", header: auditText.from, width: "120px", from: 980, cell: ({ ip }) => <span className="mono muted truncate">{ip}</span> },
  { id: "when", header: auditText.when, width: "100px", from: 460, cell: ({ time }) => <Time at={time} /> }
]

export const AuditLog = () => {
  const [filter] = useFilter()
  const [opened, setOpened] = useState<Entry | undefined>()
  const [cap, setCap] = useState(2_000)
  const pages = usePages<Entry>({
    queryKey: ["audit", filter],
    fetch: async ({ limit, offset, signal }): Promise<FetchedPage<Entry>> => {
      const page = await audit.listAuditLogs(client, { q: filter, limit, offset }, { signal })
      setCap(page.count_cap)
      return { count: page.count, rows: page.audit_logs }
    }
  })
  return (
    <Page>
      <PageHeader title={auditText.title} description={auditText.description} />
      <FilteredTable
        filter={{ label: auditText.filter, placeholder: auditText.placeholder, keys: auditKeys }}
        countText={(count) => auditText.entries(count, cap)}
        label={auditText.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon={<ScrollText />} title={auditText.none}>
            {auditText.noneHint}
          </Empty>
        }
        keyOf={({ id }) => id}
        nameOf={(entry) =>
          sentenceOf(entry)
            .map(({ text }) => text)
            .join("")
        }
        onOpen={setOpened}
      />
      <Dialog
        isOpen={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened === undefined ? "" : <Sentence entry={opened} />}
        size="large"
      >
        {opened === undefined ? null : <Details entry={opened} onLeave={() => setOpened(undefined)} />}
      </Dialog>
    </Page>
  )
}

const Value = ({ kind, value }: { readonly kind: "old" | "new"; readonly value: unknown }) => {
  const text = shownValue(value)
  return text === auditText.nothing ? <td className="faint">{text}</td> : <td className={`log-${kind}`}>{text}</td>
}

const Details = ({ entry, onLeave }: { readonly entry: Entry; readonly onLeave: () => void }) => {
  const { additional_fields, diff, ip, is_deleted, organization, request_id, resource_id, resource_type, time, user_agent } = entry
  const place = placeOf(entry)
  const changes = Object.entries(diff)
  const others = Object.entries(additional_fields).filter(([, value]) => value !== "" && value !== null)
  return (
    <div className="log-detail">
      <div>
        <h3 className="log-detail-title">{auditText.changes}</h3>
        {changes.length === 0 ? (
          <p className="muted">{auditText.noChanges}</p>
        ) : (
          <table className="log-changes">
            <thead>
              <tr>
                <th scope="col">{auditText.field}</th>
                <th scope="col">{auditText.before}</th>
                <th scope="col">{auditText.after}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(([field, change]) => (
                <tr key={field}>
                  <td className="mono">{field}</td>
                  {change.secret ? (
                    <td colSpan={2} className="faint">
                      {auditText.secret}
                    </td>
                  ) : (
                    <>
                      <Value kind="old" value={change.old} />
                      <Value kind="new" value={change.new} />
                    </>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <PropertyList
        properties={[
          { label: auditText.when, value: <Time at={time} /> },
          { label: auditText.what, value: `${spoken(resource_type)}${is_deleted ? ` (${auditText.deletedObject})` : ""}` },
          entry.status_code >= 400 ? { label: auditText.status, value: <Outcome status_code={entry.status_code} /> } : undefined,
          organization === undefined ? undefined : { label: auditText.organization, value: organization.display_name || organization.name },
          ip === "" ? undefined : { label: auditText.from, value: <span className="mono">{ip}</span> },
          user_agent === "" ? undefined : { label: auditText.userAgent, value: user_agent },
          resource_id === noId ? undefined : { label: auditText.resourceId, value: <span className="mono">{resource_id}</span> },
          request_id === noId ? undefined : { label: auditText.request, value: <span className="mono">{request_id}</span> },
          ...others.map(([name, value]) => ({ label: spoken(name), value: shownValue(value) }))
        ]}
      />
      <div className="log-links">
        {place === undefined ? null : <ButtonLink {...place}>{auditText.open}</ButtonLink>}
        {resource_id === noId ? null : (
          <Link className="link" to="/audit" search={{ filter: `resource_id:${resource_id}` }} onClick={onLeave}>
            {auditText.sameObject}
          </Link>
        )}
        {request_id === noId ? null : (
          <Link className="link" to="/audit" search={{ filter: `request_id:${request_id}` }} onClick={onLeave}>
            {auditText.sameRequest}
          </Link>
        )}
      </div>
    </div>
  )
}
