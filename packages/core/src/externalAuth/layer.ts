/** How this area is wired: its services, its background work, and what it needs stored. */
import { together } from "../platform/wiring/Standing.js"
import { AgentExternalAuth } from "./AgentExternalAuth.js"
import { ExternalAuth } from "./ExternalAuth.js"
import type { ExternalAuthRepository } from "./ExternalAuthRepository.js"
import { ExternalAuthRequirements } from "./ExternalAuthRequirements.js"
import { ExternalAuthTokens } from "./ExternalAuthTokens.js"

export const layer = together(AgentExternalAuth.layer, ExternalAuth.layer, ExternalAuthRequirements.layer, ExternalAuthTokens.layer)

export const workers = []

export type Stored = ExternalAuthRepository
