import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { parseCredential } from "../../identity/sessions/ApiKey.js"
import type { AccountRepository } from "../../identity/users/AccountRepository.js"
import { type Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { GrantRepository } from "./GrantRepository.js"
import type { OAuth2App } from "../clients/OAuth2App.js"
import type { AuthenticatedClient } from "../clients/OAuth2Clients.js"
import { presentedSecret } from "./OAuthSecret.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { type GrantEnding, subject } from "./GrantEnding.js"
import { isRight } from "./GrantChecks.js"

interface Needs extends Pick<DeploymentOptions["Type"], "brand">, Pick<GrantEnding, "end"> {
  readonly repository: GrantRepository["Type"]
  readonly cryptography: Cryptography["Type"]
  readonly accounts: AccountRepository["Type"]
}

/** The end of a grant at the request of its client (RFC 7009) or of its user. */
export const tokenRevocation = ({ brand, repository, cryptography, accounts, end }: Needs) => {
  /** The grant that a token is of; undefined for a text that is no token. */
  const grantOf = (token: string) =>
    Effect.gen(function* () {
      const presented = yield* presentedSecret(brand, token)
      if (presented !== undefined) {
        const found = yield* repository.refreshToken(presented.prefix)
        return Option.isSome(found) && isRight(found.value, presented.hashedSecret) ? found.value.value.grant_id : undefined
      }
      const credential = parseCredential(token)
      if (credential === undefined) return undefined
      const hashedSecret = yield* hashSecret(cryptography, credential.secret)
      const found = yield* repository.byAccessToken(credential.id)
      return Option.isSome(found) && isRight(found.value, hashedSecret) ? found.value.value.id : undefined
    })

  return {
    revoke: Traced.fn("OAuth2Tokens.revoke")(function* ({ app }: AuthenticatedClient, token: string, info: CallInfo) {
      const id = yield* grantOf(token)
      const found = id === undefined ? Option.none() : yield* repository.byId(id)
      if (Option.isNone(found) || found.value.app_id !== app.id) return
      const { user_id } = found.value
      yield* transaction(
        Effect.gen(function* () {
          yield* accounts.lock([user_id])
          const grant = yield* repository.byId(found.value.id)
          if (Option.isSome(grant)) yield* end(grant.value, "revoke")
        })
      ).pipe(Access.actingAs({ ...SystemActor.systemOauth, ...info, userId: user_id }))
    }),

    disconnect: Traced.fn("OAuth2Tokens.disconnect")(function* (app: OAuth2App) {
      const { userId } = yield* CurrentActor
      yield* Access.authorize("delete", AccessObjects.ownedBy("oauth2_app_code_token", userId))
      yield* Audit.audited(
        { ...subject("delete", { app_id: app.id, user_id: userId }), additional_fields: { event: "disconnect" } },
        Effect.gen(function* () {
          yield* accounts.lock([userId])
          yield* repository.deleteOfUser(app.id, userId)
          return { value: undefined }
        })
      )
    })
  }
}
