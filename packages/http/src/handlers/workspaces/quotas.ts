import { WorkspaceQuotas } from "@atelier/core/workspaces"
import { Effect } from "effect"
import * as contract from "../../contract/workspaces/quotas.js"
import * as Handlers from "../Handlers.js"

export const quotas = Handlers.group(contract.quotas, (handlers) =>
  Effect.map(WorkspaceQuotas, (quotas) =>
    handlers
      .handle("getMemberQuota", ({ path }) => quotas.inOrganization(path.organization, path.user))
      .handle("getQuota", ({ path }) => quotas.inDefault(path.user))
  )
)
