import type { ConnectionLog as Connection } from "@atelier/client"
import * as audit from "@atelier/client/audit"
import { Link } from "@tanstack/react-router"
import { Cable } from "lucide-react"
import { client } from "../../app/client.js"
import { useFilter } from "../../app/filter.js"
import { usePages } from "../../app/pages.js"
import { connectionsText } from "../../texts/logs.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import { Page, PageHeader } from "../../ui/page/Page.js"
import { FilteredTable } from "../../ui/lists/PagedTable.js"
import { Empty } from "../../ui/page/States.js"
import type { Column } from "../../ui/lists/Table.js"
import { duration, Time } from "../../ui/page/Time.js"
import { connectionKeys } from "./filterKeys.js"
import "./logs.css"

/** How the connection went: a session lasts, a request is answered. */
const Course = ({ connection: { connect_time, ssh_info, web_info } }: { readonly connection: Connection }) => {
  if (web_info !== undefined) {
    return <Badge tone={web_info.status_code >= 400 ? "red" : "grey"}>{connectionsText.answered(web_info.status_code)}</Badge>
  }
  if (ssh_info?.disconnect_time === undefined) return <Status tone="green">{connectionsText.ongoing}</Status>
  const { disconnect_reason = "", disconnect_time, exit_code = 0 } = ssh_info
  const reason = exit_code === 0 ? disconnect_reason : connectionsText.exit(exit_code)
  return (
    <span className="truncate" title={reason}>
      {duration(Date.parse(disconnect_time) - Date.parse(connect_time))}
      {exit_code === 0 ? null : <span className="faint"> · {connectionsText.exit(exit_code)}</span>}
    </span>
  )
}

const whoOf = ({ ssh_info, web_info }: Connection): string => {
  const user = web_info === undefined ? ssh_info?.user : web_info.user
  return user?.name || (user?.username ?? (web_info === undefined ? connectionsText.unknown : connectionsText.anonymous))
}

const columns: ReadonlyArray<Column<Connection>> = [
  {
    id: "workspace",
    header: connectionsText.workspace,
    width: "minmax(180px, 2fr)",
    cell: ({ agent_name, web_info, workspace_name, workspace_owner_username }) => (
      <span className="log-text">
        <Link className="truncate" to="/@{$owner}/$workspace" params={{ owner: workspace_owner_username, workspace: workspace_name }}>
          {workspace_owner_username}/{workspace_name}
        </Link>
        <span className="log-second truncate">
          {agent_name}
          {web_info === undefined ? "" : ` · ${web_info.slug_or_port}`}
        </span>
      </span>
    )
  },
  { id: "kind", header: connectionsText.kind, width: "110px", cell: ({ type }) => <Badge>{connectionsText.types[type]}</Badge> },
  { id: "who", header: connectionsText.who, from: 720, cell: (connection) => <span className="truncate">{whoOf(connection)}</span> },
  {
    id: "from",
    header: connectionsText.from,
    width: "130px",
    from: 860,
    cell: ({ ip = "" }) => <span className="mono muted truncate">{ip}</span>
  },
  { id: "lasted", header: connectionsText.lasted, width: "140px", from: 560, cell: (connection) => <Course connection={connection} /> },
  { id: "when", header: connectionsText.when, width: "100px", from: 480, cell: ({ connect_time }) => <Time at={connect_time} /> }
]

export const ConnectionLog = () => {
  const [filter] = useFilter()
  const pages = usePages<Connection>({
    queryKey: ["connections", filter],
    fetch: async ({ limit, offset, signal }) => {
      const page = await audit.listConnectionLogs(client, { q: filter, limit, offset }, { signal })
      return { count: page.count, rows: page.connection_logs }
    }
  })
  return (
    <Page>
      <PageHeader title={connectionsText.title} description={connectionsText.description} />
      <FilteredTable
        filter={{ label: connectionsText.filter, placeholder: connectionsText.placeholder, keys: connectionKeys }}
        label={connectionsText.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon={<Cable />} title={connectionsText.none}>
            {connectionsText.noneHint}
          </Empty>
        }
        keyOf={({ id }) => id}
        nameOf={({ workspace_name }) => workspace_name}
      />
    </Page>
  )
}
