import { AuditLogs, ConnectionLogs, type FoundConnection, webTypes } from "@atelier/core/logs"
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { AuditPage, type ConnectionLog } from "../../contract/audit/audit.js"
import * as contract from "../../contract/audit/audit.js"
import { queryReader } from "../../server/codec/decode.js"
import * as Handlers from "../Handlers.js"
import { userView } from "../identity/users.js"

const connectionView = (found: FoundConnection): ConnectionLog => {
  const { code, connection_id, disconnect_reason, disconnect_time, ip, slug_or_port, user, user_agent, ...rest } = found
  const shown = { ...rest, ...(ip === null ? {} : { ip }) }
  if (webTypes.has(found.type)) {
    return {
      ...shown,
      web_info: {
        user_agent: user_agent ?? "",
        user: user === null ? null : userView(user),
        slug_or_port: slug_or_port ?? "",
        status_code: code ?? 0
      }
    }
  }
  return {
    ...shown,
    ssh_info: {
      connection_id: connection_id ?? Uuid.nil,
      ...(disconnect_time === null ? {} : { disconnect_time }),
      ...(disconnect_reason === null ? {} : { disconnect_reason }),
      ...(code === null ? {} : { exit_code: code }),
      ...(user === null ? {} : { user: userView(user) }),
      ...(user_agent === null ? {} : { user_agent })
    }
  }
}

export const audit = Handlers.group(contract.audit, (handlers) =>
  Effect.gen(function* () {
    const logs = yield* AuditLogs
    const connections = yield* ConnectionLogs
    const readPage = queryReader(AuditPage.ast, [])
    return handlers
      .handle("listAuditLogs", ({ urlParams: { q, ...page } }) =>
        Effect.gen(function* () {
          const given = Object.fromEntries(Object.entries(page).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
          const found = yield* logs.list(
            q,
            // The reader's type does not say what it reads
            Effect.suspend(() => Effect.map(readPage(given), (value) => value as typeof AuditPage.Type))
          )
          return { ...found, audit_logs: found.audit_logs.map((log) => ({ ...log, user: log.user === null ? null : userView(log.user) })) }
        })
      )
      .handle("generateTestAuditLog", ({ payload }) => logs.testGenerate(payload))
      .handle("listConnectionLogs", ({ urlParams: { q, ...page } }) =>
        Effect.map(connections.list(q, page), ({ connection_logs, ...counts }) => ({
          ...counts,
          connection_logs: connection_logs.map(connectionView)
        }))
      )
  })
)
