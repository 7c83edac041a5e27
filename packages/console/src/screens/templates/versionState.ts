import type { ProvisionerJob } from "@atelier/client"
import { versionsText } from "../../texts/templates.js"
import type { Tone } from "../../ui/page/tone.js"
import { isMoving } from "./queries.js"

const tones: Readonly<Record<ProvisionerJob["status"], Tone>> = {
  pending: "blue",
  running: "blue",
  succeeded: "green",
  canceling: "blue",
  canceled: "grey",
  failed: "red",
  unknown: "grey"
}

/** How the state of an import is shown. */
export const importState = (job: Pick<ProvisionerJob, "status">) => ({
  tone: tones[job.status],
  label: versionsText.statuses[job.status],
  isMoving: isMoving(job)
})
