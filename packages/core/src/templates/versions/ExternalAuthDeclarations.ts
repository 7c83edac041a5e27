import { Effect } from "effect"
import { ExternalAuthDeclarations } from "../../externalAuth/ExternalAuthDeclarations.js"
import { service } from "../../platform/wiring/Standing.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"

/** The external providers that versions declare, as their imports stored them. */
export const externalAuthDeclarations = service(
  ExternalAuthDeclarations,
  Effect.map(TemplateVersionRepository, ({ externalAuth }) => ({ ofVersion: externalAuth }))
)
