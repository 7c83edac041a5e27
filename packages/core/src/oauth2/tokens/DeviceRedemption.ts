import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import type { CallInfo } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { AccountRepository } from "../../identity/users/AccountRepository.js"
import type { UserId } from "../../identity/users/User.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { type DeviceCode, type PollRefusal, pollInterval, pollRefusal } from "../devices/DeviceCode.js"
import type { DeviceCodeRepository } from "../devices/DeviceCodeRepository.js"
import { type Grant, maximumGrants } from "./Grant.js"
import type { GrantRepository } from "./GrantRepository.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidGrant, OAuthError } from "../OAuthError.js"
import { newSecret, presentedSecret } from "./OAuthSecret.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { GrantRenewal } from "./GrantRenewal.js"
import { isRight, type Outcome } from "./GrantChecks.js"

const badDeviceCode = invalidGrant("The device code is invalid or has been used.")

const pollTexts: Readonly<Record<PollRefusal, string>> = {
  authorization_pending: "The user has not answered yet.",
  slow_down: "The device asks too often.",
  access_denied: "The user has denied the request.",
  expired_token: "The device code has expired."
}

/** The permission that a device's user has given. */
const grantOfDevice = (device: DeviceCode, id: Uuid, user_id: UserId, now: Timestamp.Timestamp): Grant => ({
  id,
  app_id: device.app_id,
  user_id,
  status: "issued",
  created_at: now,
  updated_at: now,
  // No code of it is ever shown
  code_expires_at: now,
  redirect_uri: null,
  hashed_state: null,
  code_challenge: "",
  resource: device.resource,
  scopes: device.scopes,
  secret_id: null,
  api_key_id: null,
  refresh_expires_at: null,
  dpop_jkt: null
})

interface Needs extends Pick<DeploymentOptions["Type"], "brand">, Pick<GrantRenewal, "newTokens" | "renew"> {
  readonly devices: DeviceCodeRepository["Type"]
  readonly accounts: AccountRepository["Type"]
  readonly repository: GrantRepository["Type"]
}

/** The exchange of a device code for tokens, once the user has answered (RFC 8628 §3.4). */
export const deviceRedemption = ({ devices, brand, newTokens, accounts, repository, renew }: Needs) => {
  /** Notes a poll that gets no tokens. One that comes too early makes the next one wait for longer. */
  const refusedPoll = (device: DeviceCode, refusal: PollRefusal, now: Timestamp.Timestamp) =>
    Effect.as(devices.recordPoll(device.id, now, device.interval_seconds + (refusal === "slow_down" ? pollInterval : 0)), {
      refused: new OAuthError({ error: refusal, message: pollTexts[refusal] })
    })

  return {
    redeemDevice: Traced.fn("OAuth2Tokens.redeemDevice")(function* (
      client: AuthenticatedClient,
      { device_code: deviceCode, dpopKey }: { readonly device_code: string; readonly dpopKey?: string | undefined },
      info: CallInfo
    ) {
      yield* requireAuthenticated(client)
      const presented = yield* presentedSecret(brand, deviceCode)
      const found = presented === undefined ? undefined : Option.getOrUndefined(yield* devices.byPrefix(presented.prefix))
      if (presented === undefined || found === undefined || !isRight(found, presented.hashedSecret)) return yield* badDeviceCode
      if (found.value.app_id !== client.app.id) return yield* badDeviceCode
      const { id, status, user_id } = found.value
      const tokens = yield* newTokens
      const code = yield* newSecret(brand)
      const grantId = yield* (yield* Ids).next

      const poll = Effect.gen(function* () {
        // Users are locked before what belongs to them
        const [user] = status === "approved" && user_id !== null ? yield* accounts.lock([user_id]) : []
        const device = Option.getOrUndefined(yield* devices.lock(id))
        if (device === undefined) return { refused: badDeviceCode }
        const now = yield* Timestamp.now
        const refusal = pollRefusal(device, now)
        if (refusal !== undefined || device.status !== status) return yield* refusedPoll(device, refusal ?? "authorization_pending", now)
        if (user === undefined || user.status !== "active") return { refused: invalidGrant("The user is not active.") }
        yield* devices.delete(id)
        const grant = grantOfDevice(device, grantId, user.id, now)
        yield* repository.insert(grant, code, device.consent_key_id ?? undefined)
        yield* repository.deleteBeyond(client.app.id, user.id, maximumGrants)
        const next = { scopes: grant.scopes, secretId: client.secretId, dpopKey, replaces: undefined, refused: badDeviceCode }
        return yield* renew(grant, "redeem", tokens, next)
      })
      const outcome: Outcome = yield* transaction(poll).pipe(
        Access.actingAs({ ...SystemActor.systemOauth, ...info, ...(user_id === null ? {} : { userId: user_id }) })
      )
      return "tokens" in outcome ? outcome.tokens : yield* outcome.refused
    })
  }
}
