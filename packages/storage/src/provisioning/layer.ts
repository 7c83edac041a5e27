/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/provisioning"
import { Layer } from "effect"
import { layer as files } from "./files/FileRepository.js"
import { layer as jobLogs } from "./logs/JobLogRepository.js"
import { layer as jobQueue } from "./queue/JobQueueRepository.js"
import { layer as moduleArchives } from "./files/ModuleArchiveRepository.js"
import { layer as provisionerDaemons } from "./daemons/ProvisionerDaemonRepository.js"
import { layer as provisionerKeys } from "./keys/ProvisionerKeyRepository.js"
import { layer as provisionerJobs } from "./jobs/ProvisionerJobRepository.js"
import provisioning from "./migrations/0040_provisioning.js"
import fileUses from "./migrations/0121_file_uses.js"
import queueOrder from "./migrations/0135_job_queue.js"
import provisionerKeysMigration from "./migrations/0302_provisioner_keys.js"
import jobTimings from "./migrations/0155_job_timings.js"
import moduleArchivesMigration from "./migrations/0470_module_archives.js"
import daemonEngines from "./migrations/0530_daemon_engines.js"
import lineTimes from "./migrations/0137_line_times.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(
  files,
  jobLogs,
  jobQueue,
  moduleArchives,
  provisionerDaemons,
  provisionerJobs,
  provisionerKeys
) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = {
  "0040_provisioning": provisioning,
  "0121_file_uses": fileUses,
  "0135_job_queue": queueOrder,
  "0137_line_times": lineTimes,
  "0155_job_timings": jobTimings,
  "0302_provisioner_keys": provisionerKeysMigration,
  "0470_module_archives": moduleArchivesMigration,
  "0530_daemon_engines": daemonEngines
}
