import { Effect, Option } from "effect"
import * as Audit from "../../audit/Audit.js"
import { apiKeyAudit } from "../../identity/sessions/ApiKeyAudit.js"
import type { ApiKey } from "../../identity/sessions/ApiKey.js"
import type { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { afterEvent, type Grant, type GrantEvent } from "./Grant.js"
import type { GrantRepository } from "./GrantRepository.js"

export const subject = (action: "create" | "write" | "delete", grant: Pick<Grant, "app_id" | "user_id">): Audit.Subject<ApiKey> => ({
  action,
  resource: apiKeyAudit,
  // Entries about keys are about their users
  id: grant.user_id,
  target: tokenName(grant)
})

export const tokenName = ({ app_id, user_id }: Pick<Grant, "app_id" | "user_id">): string => `${user_id}_${app_id}_oauth_session_token`

export const record = (
  action: "create" | "write" | "delete",
  grant: Grant,
  event: string,
  before: ApiKey | undefined,
  after: ApiKey | undefined
) =>
  Effect.flatMap(Audit.AuditStatus, ({ success }) =>
    Audit.record({
      ...subject(action, grant),
      additional_fields: { event },
      status_code: success,
      before,
      after
    })
  )

interface Needs {
  readonly keys: ApiKeyRepository["Type"]
  readonly repository: GrantRepository["Type"]
}

/** What ends a grant with its tokens, and writes down what became of it. */
export const grantEnding = ({ keys, repository }: Needs) => {
  /** Applies what ends a grant; does nothing to a grant that cannot end so. */
  const end = (grant: Grant, event: Exclude<GrantEvent, "redeem" | "rotate">) =>
    Effect.gen(function* () {
      const status = afterEvent(grant.status, event)
      if (status !== "revoked" && status !== "expired") return
      const key = grant.api_key_id === null ? Option.none<ApiKey>() : yield* keys.byId(grant.api_key_id)
      if (yield* repository.end(grant, status, yield* Timestamp.now))
        yield* record("delete", grant, event, Option.getOrUndefined(key), undefined)
    })

  return { end }
}

/** The result of {@link grantEnding}. */
export type GrantEnding = ReturnType<typeof grantEnding>
