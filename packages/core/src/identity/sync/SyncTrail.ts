/** What syncs leave in the audit log and in the log. */
import { Effect } from "effect"
import * as Audit from "../../audit/Audit.js"
import { memberAudit } from "../../organizations/MemberAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import type { User } from "../users/User.js"
import type { UnreadableClaim } from "./ClaimSync.js"
import type { SyncedMembership } from "./LoginSyncRepository.js"

/** Writes to the log that a claim of one organization could not be read. */
export const logSkipped = (organizationId: OrganizationId, { reason }: UnreadableClaim): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning(`claims are not followed at a login: ${reason}`), { organization_id: organizationId })

export const makeSyncTrail = Effect.gen(function* () {
  const { brand } = yield* DeploymentOptions

  /** Marks an audit entry as one that no user has caused. */
  const automatic = { additional_fields: { automatic_actor: brand.toLowerCase(), automatic_subsystem: "idp_sync" } }

  /** The audit log's entry of a membership that begins, changes or ends. */
  const recordMembership = (user: User, before: SyncedMembership | undefined, after: SyncedMembership | undefined) =>
    Effect.gen(function* () {
      const { success } = yield* Audit.AuditStatus
      const view = (membership: SyncedMembership | undefined) =>
        membership === undefined ? undefined : { ...membership, user_id: user.id, username: user.username }
      const organization_id = (after ?? before)?.organization_id
      yield* Audit.record({
        ...automatic,
        action: before === undefined ? "create" : after === undefined ? "delete" : "write",
        resource: memberAudit,
        id: user.id,
        target: user.username,
        organization_id,
        status_code: success,
        before: view(before),
        after: view(after)
      })
    })

  return { automatic, recordMembership }
})
