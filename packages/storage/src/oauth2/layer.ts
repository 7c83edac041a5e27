/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/oauth2"
import { Layer } from "effect"
import { layer as apps } from "./clients/OAuth2AppRepository.js"
import { layer as deviceCodes } from "./devices/DeviceCodeRepository.js"
import { layer as grants } from "./tokens/GrantRepository.js"
import { layer as used } from "./tokens/UsedTokenRepository.js"
import { layer as pushedRequests } from "./authorizations/PushedRequestRepository.js"
import oauth2 from "./migrations/0180_oauth2.js"
import devices from "./migrations/0511_oauth2_device_codes.js"
import dpop from "./migrations/0513_oauth2_dpop.js"
import usedTokens from "./migrations/0512_oauth2_used_tokens.js"
import pushed from "./migrations/0510_oauth2_pushed_requests.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(apps, deviceCodes, grants, pushedRequests, used) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = {
  "0180_oauth2": oauth2,
  "0510_oauth2_pushed_requests": pushed,
  "0511_oauth2_device_codes": devices,
  "0512_oauth2_used_tokens": usedTokens,
  "0513_oauth2_dpop": dpop
}
