/** What happened to a workspace, for users who may read the logs. */
import type { AuditLog, ConnectionLog, Workspace } from "@atelier/client"
import * as audit from "@atelier/client/audit"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { client } from "../../../app/client.js"
import { useMay } from "../../../app/session.js"
import { auditText, connectionsText } from "../../../texts/logs.js"
import { workspaceText } from "../../../texts/workspace.js"
import { Section } from "../../../ui/page/Page.js"
import { Time } from "../../../ui/page/Time.js"
import { sentenceOf } from "../../logs/sentence.js"

/** Entries of each log, and of both together. */
const shown = 6

interface Entry {
  readonly id: string
  readonly at: string
  readonly text: string
}

const ofAudit = (entry: AuditLog): Entry => ({
  id: entry.id,
  at: entry.time,
  text: sentenceOf(entry)
    .map(({ text }) => text)
    .join("")
})

const ofConnection = ({ connect_time, id, ssh_info, type, web_info }: ConnectionLog): Entry => {
  const who = (web_info?.user ?? ssh_info?.user)?.username ?? ""
  const what = [connectionsText.types[type], web_info?.slug_or_port ?? "", who].filter((each) => each !== "")
  return { id, at: connect_time, text: what.join(" · ") }
}

export const Activity = ({ workspace: { id, organization_id } }: { readonly workspace: Workspace }) => {
  const may = useMay({
    audit: { on: "audit_log", to: "read", organization: organization_id },
    connections: { on: "connection_log", to: "read", organization: organization_id }
  })
  const auditFilter = `resource_id:${id}`
  const connectionFilter = `workspace_id:${id}`
  const { data: changes } = useQuery({
    queryKey: ["audit", "of", id],
    queryFn: ({ signal }) => audit.listAuditLogs(client, { q: auditFilter, limit: shown }, { signal }),
    enabled: may.audit,
    // A deployment may be without the log
    retry: false
  })
  const { data: connections } = useQuery({
    queryKey: ["connections", "of", id],
    queryFn: ({ signal }) => audit.listConnectionLogs(client, { q: connectionFilter, limit: shown }, { signal }),
    enabled: may.connections,
    retry: false
  })
  if (!may.audit && !may.connections) return null
  const entries = [...(changes?.audit_logs ?? []).map(ofAudit), ...(connections?.connection_logs ?? []).map(ofConnection)]
    .toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
    .slice(0, shown)
  const links: ReadonlyArray<ReactNode> = [
    may.audit ? (
      <Link key="audit" className="link" to="/audit" search={{ filter: auditFilter }}>
        {auditText.title}
      </Link>
    ) : null,
    may.connections ? (
      <Link key="connections" className="link" to="/connectionlog" search={{ filter: connectionFilter }}>
        {connectionsText.title}
      </Link>
    ) : null
  ]
  return (
    <Section title={workspaceText.activity}>
      {entries.length === 0 ? <p className="muted">{workspaceText.noActivity}</p> : null}
      <ul className="ov-activity">
        {entries.map(({ at, id, text }) => (
          <li key={id}>
            <span className="truncate" title={text}>
              {text}
            </span>
            <span className="faint">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
      <p className="ov-links">{links}</p>
    </Section>
  )
}
