/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/Worker.js"
import { daemonCleaner } from "./EmbeddedDaemons.js"
import type { FileRepository } from "./FileRepository.js"
import { Files } from "./Files.js"
import { JobClaims } from "./JobClaims.js"
import type { JobLogRepository } from "./JobLogRepository.js"
import type { JobQueueRepository } from "./JobQueueRepository.js"
import { jobReaper, leaseWatch } from "./JobReaper.js"
import { JobRunner } from "./JobRunner.js"
import type { ModuleArchiveRepository } from "./ModuleArchiveRepository.js"
import { ModuleArchives } from "./ModuleArchives.js"
import { OrganizationJobs } from "./OrganizationJobs.js"
import type { ProvisionerDaemonRepository } from "./ProvisionerDaemonRepository.js"
import { ProvisionerDaemons } from "./ProvisionerDaemons.js"
import type { ProvisionerJobRepository } from "./ProvisionerJobRepository.js"
import type { ProvisionerKeyRepository } from "./ProvisionerKeyRepository.js"
import { ProvisionerKeys } from "./ProvisionerKeys.js"
import { ProvisionerJobs } from "./ProvisionerJobs.js"
import { RemoteDaemons } from "./RemoteDaemons.js"
import { TemplateSources } from "./TemplateSources.js"
import { stacked, together } from "../platform/Standing.js"
import { unmatchedJobs } from "./WaitingJobs.js"

const services = together(
  Files.layer,
  JobClaims.layer,
  JobRunner.layer,
  ModuleArchives.layer,
  OrganizationJobs.layer,
  ProvisionerDaemons.layer,
  ProvisionerJobs.layer,
  ProvisionerKeys.layer,
  RemoteDaemons.layer
)

export const layer = stacked(TemplateSources.layer, services)

export const workers = [
  Effect.flatMap(Files, ({ purge }) => Worker.start(purge)),
  Worker.start(daemonCleaner),
  Worker.start(unmatchedJobs),
  Effect.flatMap(leaseWatch, Worker.start),
  Effect.flatMap(jobReaper, Worker.start)
]

export type Stored =
  | FileRepository
  | JobLogRepository
  | JobQueueRepository
  | ModuleArchiveRepository
  | ProvisionerDaemonRepository
  | ProvisionerJobRepository
  | ProvisionerKeyRepository
