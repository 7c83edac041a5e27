import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { apiKeyAudit } from "./ApiKeyAudit.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { AccountRepository } from "../users/AccountRepository.js"
import type { ApiKeyRepository } from "./ApiKeyRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { type KeyHolders, missing } from "./KeyHolders.js"

interface Needs extends Pick<KeyHolders, "holder"> {
  readonly repository: ApiKeyRepository["Type"]
  readonly accounts: AccountRepository["Type"]
}

/** The end of keys, by deletion and by expiry. */
export const keyEnding = ({ holder, repository, accounts }: Needs) => {
  /** A key that the actor may do this to, and what an entry of the audit log about it is of. */
  const held = (action: "delete" | "update", reference: string, id: string) =>
    Effect.gen(function* () {
      yield* holder(reference)
      const key = yield* Effect.flatMap(repository.byId(id), (found) => (Option.isSome(found) ? Effect.succeed(found.value) : missing))
      const subject = {
        action: action === "update" ? "write" : action,
        resource: apiKeyAudit,
        id: key.user_id,
        target: key.token_name
      } as const
      if (yield* Access.can(action, AccessObjects.apiKey(key))) return { key, subject }
      // Without the right to read the key it counts as missing, and no attempt is recorded
      if (yield* Access.can("read", AccessObjects.apiKey(key))) yield* Audit.recordFailure(subject, Option.some(missing))
      return yield* missing
    })

  return {
    delete: Traced.fn("ApiKeys.delete")(function* (reference: string, id: string) {
      const { key, subject } = yield* held("delete", reference, id)
      yield* Audit.audited(
        subject,
        Effect.flatMap(repository.delete(id), (deleted) => (deleted ? Effect.succeed({ value: undefined, before: key }) : missing))
      )
    }),

    expire: Traced.fn("ApiKeys.expire")(function* (reference: string, id: string) {
      const { key, subject } = yield* held("update", reference, id)
      const { success } = yield* Audit.AuditStatus
      yield* transaction(
        Effect.gen(function* () {
          // Callers that race read the clock one after the other: none finds an end that is later than its own
          yield* accounts.lock([key.user_id])
          // A key is good at the instant it expires
          const expires_at = Timestamp.minus(yield* Timestamp.now, "1 milli")
          if (!(yield* repository.expire(id, expires_at))) return
          yield* Audit.record({ ...subject, status_code: success, before: key, after: { ...key, expires_at } })
        })
      )
    })
  }
}
