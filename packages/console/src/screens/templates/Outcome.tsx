import type { TemplateVersion } from "@atelier/client"
import { versionsText } from "../../texts/templates.js"
import { Callout } from "../../ui/page/Callout.js"

/** What is wrong with an import, or what it waits for. */
export const Outcome = ({ version: { job, matched_provisioners } }: { readonly version: TemplateVersion }) => {
  if (job.status === "failed")
    return (
      <Callout kind="error" title={versionsText.importFailed}>
        <span className="tpl-failure">{job.error}</span>
      </Callout>
    )
  if (job.status !== "pending") return null
  if (matched_provisioners !== undefined && matched_provisioners.count === 0)
    return (
      <Callout kind="warning" title={versionsText.noProvisioner}>
        {versionsText.noProvisionerHint}
      </Callout>
    )
  if (matched_provisioners !== undefined && matched_provisioners.available === 0)
    return <Callout kind="warning" title={versionsText.awayProvisioner} />
  return job.queue_size > 0 ? <p className="muted">{versionsText.waiting(job.queue_position, job.queue_size)}</p> : null
}
