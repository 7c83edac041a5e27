/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/background/Worker.js"
import { Authorizations } from "./Authorizations.js"
import { ClientRegistrations } from "./ClientRegistrations.js"
import { DeviceAuthorizations } from "./DeviceAuthorizations.js"
import type { DeviceCodeRepository } from "./DeviceCodeRepository.js"
import type { GrantRepository } from "./GrantRepository.js"
import type { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { OAuth2Apps } from "./OAuth2Apps.js"
import { OAuth2Clients } from "./OAuth2Clients.js"
import { OAuth2Tokens } from "./OAuth2Tokens.js"
import type { PushedRequestRepository } from "./PushedRequestRepository.js"
import { PushedRequests } from "./PushedRequests.js"
import type { UsedTokenRepository } from "./UsedTokenRepository.js"
import { UsedTokens } from "./UsedTokens.js"
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
