/** How this area is wired: its services, its background work, and what it needs stored. */
import * as Worker from "../platform/Worker.js"
import { AgentExternalAuth } from "./AgentExternalAuth.js"
import { dryRunJobs } from "./DryRunJobs.js"
import { TemplateBuilder } from "./builder/TemplateBuilder.js"
import { DryRuns } from "./DryRuns.js"
import { ExternalAuthRequirements } from "./ExternalAuthRequirements.js"
import { importJobs } from "./ImportJobs.js"
import { OwnerMetadata } from "./OwnerMetadata.js"
import { ParameterForms } from "./ParameterForms.js"
import { SourceTags } from "./SourceTags.js"
import { TemplateCreation } from "./TemplateCreation.js"
import { TemplateNotifications } from "./TemplateNotifications.js"
import type { TemplateRepository } from "./TemplateRepository.js"
import { Templates } from "./Templates.js"
import { TemplateSharing } from "./TemplateSharing.js"
import { templateStatistics } from "./TemplateStatistics.js"
import { TemplateVersionCreation } from "./TemplateVersionCreation.js"
import type { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { TemplateVersions } from "./TemplateVersions.js"
import { together } from "../platform/Standing.js"

export const layer = together(
  AgentExternalAuth.layer,
  DryRuns.layer,
  ExternalAuthRequirements.layer,
  OwnerMetadata.layer,
  ParameterForms.layer,
  SourceTags.layer,
  TemplateBuilder.layer,
  TemplateCreation.layer,
  TemplateNotifications.layer,
  Templates.layer,
  TemplateSharing.layer,
  TemplateVersionCreation.layer,
  TemplateVersions.layer
)

/** The ports of earlier areas that this one implements. */
export const adapters = together(dryRunJobs, importJobs)

export const workers = [Worker.start(templateStatistics)]

export type Stored = TemplateRepository | TemplateVersionRepository
