/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/background/Worker.js"
import { daemonCleaner } from "./daemons/EmbeddedDaemons.js"
import type { FileRepository } from "./files/FileRepository.js"
import { Files } from "./files/Files.js"
import { JobClaims } from "./queue/JobClaims.js"
import type { JobLogRepository } from "./logs/JobLogRepository.js"
import type { JobQueueRepository } from "./queue/JobQueueRepository.js"
import { jobReaper, leaseWatch } from "./queue/JobReaper.js"
import { JobRunner } from "./jobs/JobRunner.js"
import type { ModuleArchiveRepository } from "./files/ModuleArchiveRepository.js"
import { ModuleArchives } from "./files/ModuleArchives.js"
import { OrganizationJobs } from "./jobs/OrganizationJobs.js"
import type { ProvisionerDaemonRepository } from "./daemons/ProvisionerDaemonRepository.js"
import { ProvisionerDaemons } from "./daemons/ProvisionerDaemons.js"
import type { ProvisionerJobRepository } from "./jobs/ProvisionerJobRepository.js"
import type { ProvisionerKeyRepository } from "./keys/ProvisionerKeyRepository.js"
import { ProvisionerKeys } from "./keys/ProvisionerKeys.js"
import { ProvisionerJobs } from "./jobs/ProvisionerJobs.js"
import { RemoteDaemons } from "./daemons/RemoteDaemons.js"
import { TemplateSources } from "./engines/TemplateSources.js"
import { stacked, together } from "../platform/wiring/Standing.js"
import { unmatchedJobs } from "./queue/WaitingJobs.js"

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
