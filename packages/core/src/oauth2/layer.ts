/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/background/Worker.js"
import { Authorizations } from "./authorizations/Authorizations.js"
import { ClientRegistrations } from "./clients/ClientRegistrations.js"
import { DeviceAuthorizations } from "./devices/DeviceAuthorizations.js"
import type { DeviceCodeRepository } from "./devices/DeviceCodeRepository.js"
import type { GrantRepository } from "./tokens/GrantRepository.js"
import type { OAuth2AppRepository } from "./clients/OAuth2AppRepository.js"
import { OAuth2Apps } from "./clients/OAuth2Apps.js"
import { OAuth2Clients } from "./clients/OAuth2Clients.js"
import { OAuth2Tokens } from "./tokens/OAuth2Tokens.js"
import type { PushedRequestRepository } from "./authorizations/PushedRequestRepository.js"
import { PushedRequests } from "./authorizations/PushedRequests.js"
import type { UsedTokenRepository } from "./tokens/UsedTokenRepository.js"
import { UsedTokens } from "./tokens/UsedTokens.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(
  Authorizations.layer,
  ClientRegistrations.layer,
  DeviceAuthorizations.layer,
  OAuth2Apps.layer,
  OAuth2Clients.layer,
  OAuth2Tokens.layer,
  PushedRequests.layer,
  UsedTokens.layer
)

export const workers = [
  Effect.flatMap(ClientRegistrations, ({ purge }) => Worker.start(purge)),
  Effect.flatMap(DeviceAuthorizations, ({ purge }) => Worker.start(purge)),
  Effect.flatMap(OAuth2Tokens, ({ purge }) => Worker.start(purge)),
  Effect.flatMap(PushedRequests, ({ purge }) => Worker.start(purge)),
  Effect.flatMap(UsedTokens, ({ purge }) => Worker.start(purge))
]

export type Stored = DeviceCodeRepository | GrantRepository | OAuth2AppRepository | PushedRequestRepository | UsedTokenRepository
