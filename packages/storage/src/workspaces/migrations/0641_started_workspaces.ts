import { indexes } from "../../platform/Indexes.js"

/** A list that is filtered by the state of agents counts its matches in this index. */
export default indexes({
  workspaces_started:
    "workspaces (latest_job_id, organization_id, latest_transition, deleted) WHERE latest_transition = 'start' AND NOT deleted"
})
