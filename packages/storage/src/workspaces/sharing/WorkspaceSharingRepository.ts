import type { ShareMode } from "@atelier/core/organizations"
import { WorkspaceSharingRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { row, text } from "../../platform/Row.js"
import { first, run } from "../../platform/Statement.js"
import { workspaces } from "../columns.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const mode = row({ shareable_workspace_owners: text<ShareMode>() })

export const layer = service(
  WorkspaceSharingRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(workspaces.list)
    const forShare = locking(sql, "FOR SHARE")
    const forUpdate = locking(sql, "FOR NO KEY UPDATE")
    return WorkspaceSharingRepository.of({
      lockShareMode: (id) =>
        first(
          (from) => mode(from).shareable_workspace_owners,
          sql`SELECT shareable_workspace_owners FROM organizations WHERE id = ${id} AND NOT deleted ${forShare}`
        ),
      lock: (id) => first(workspaces.read, sql`SELECT ${selected} FROM workspaces w WHERE w.id = ${id} ${forUpdate}`),
      setAcls: ({ group_acl, id, user_acl }) =>
        run(sql`UPDATE workspaces SET user_acl = ${JSON.stringify(user_acl)}, group_acl = ${JSON.stringify(group_acl)} WHERE id = ${id}`)
    })
  })
)
