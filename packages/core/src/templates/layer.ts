/** How this area is wired: its services, its background work, and what it needs stored. */
import * as Worker from "../platform/background/Worker.js"
import { dryRunJobs } from "./dryRuns/DryRunJobs.js"
import { TemplateBuilder } from "./builder/TemplateBuilder.js"
import { DryRuns } from "./dryRuns/DryRuns.js"
import { externalAuthDeclarations } from "./versions/ExternalAuthDeclarations.js"
import { importJobs } from "./versions/ImportJobs.js"
import { OwnerMetadata } from "./parameters/OwnerMetadata.js"
import type { OwnerMetadataRepository } from "./parameters/OwnerMetadataRepository.js"
import { ParameterForms } from "./parameters/ParameterForms.js"
import { SourceTags } from "./versions/SourceTags.js"
import { TemplateCreation } from "./TemplateCreation.js"
import { TemplateNotifications } from "./TemplateNotifications.js"
import type { TemplateRepository } from "./TemplateRepository.js"
import { Templates } from "./Templates.js"
import { TemplateSharing } from "./sharing/TemplateSharing.js"
import { templateStatistics } from "./TemplateStatistics.js"
import { TemplateVersionCreation } from "./versions/TemplateVersionCreation.js"
import type { TemplateVersionRepository } from "./versions/TemplateVersionRepository.js"
import { TemplateVersions } from "./versions/TemplateVersions.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(
  DryRuns.layer,
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
export const adapters = together(dryRunJobs, externalAuthDeclarations, importJobs)

export const workers = [Worker.start(templateStatistics)]

export type Stored = OwnerMetadataRepository | TemplateRepository | TemplateVersionRepository
