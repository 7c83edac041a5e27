/** What holds of workspaces, their builds and their agents. */
import { prebuildsUserId } from "@atelier/core/access"
import { jobStatus, type JobProgress } from "@atelier/core/provisioning"
import { buildStatus } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { orDefect } from "../platform/Unavailability.js"
import { jobIs } from "../provisioning/JobStatus.js"
import { type Invariant, noRows, shownRows } from "./Invariant.js"

interface LatestBuild extends JobProgress {
  readonly id: string
  readonly latest_status: string
  readonly transition: "start" | "stop" | "delete"
}

const statusesFollow: Invariant = {
  name: "statuses-follow-from-builds",
  holds: "The stored status of a workspace is the one that follows from its latest build and the job of that.",
  violations: (sql) =>
    Effect.map(
      orDefect(
        sql<LatestBuild>`SELECT w.id, w.latest_status, b.transition, j.started_at, j.completed_at, j.canceled_at, j.error
          FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id JOIN provisioner_jobs j ON j.id = b.job_id`
      ),
      (rows) =>
        rows
          .flatMap(({ id, latest_status, transition, ...progress }) => {
            const status = buildStatus(jobStatus(progress), transition)
            return status === latest_status ? [] : [`workspace=${id} stored=${latest_status} follows=${status}`]
          })
          .slice(0, shownRows)
    )
}

export const workspaceInvariants: ReadonlyArray<Invariant> = [
  statusesFollow,
  noRows(
    "one-unfinished-build",
    "A workspace has at most one build whose job has not ended.",
    (sql) => sql`SELECT b.workspace_id AS workspace, count(*) AS builds FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
      WHERE j.completed_at IS NULL AND NOT ${sql.literal(jobIs("failed", "j"))} GROUP BY b.workspace_id HAVING count(*) > 1`
  ),
  noRows(
    "unfinished-build-is-the-latest",
    "A build whose job has not ended is the latest one of its workspace.",
    (sql) => sql`SELECT b.id AS build, b.workspace_id AS workspace FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
      JOIN workspaces w ON w.id = b.workspace_id WHERE j.completed_at IS NULL AND w.latest_build_id <> b.id`
  ),
  noRows(
    "workspaces-have-builds",
    "A workspace has a latest build, which has the highest number of its builds.",
    (sql) => sql`SELECT w.id AS workspace, w.latest_build_number AS latest FROM workspaces w
      WHERE w.latest_build_id IS NULL OR w.latest_build_number <> (SELECT max(b.build_number) FROM workspace_builds b WHERE b.workspace_id = w.id)`
  ),
  noRows(
    "builds-count-up",
    "The builds of a workspace are numbered without a gap.",
    (sql) => sql`SELECT b.workspace_id AS workspace, max(b.build_number) AS highest, count(*) AS builds FROM workspace_builds b
      GROUP BY b.workspace_id HAVING max(b.build_number) - min(b.build_number) + 1 <> count(*)`
  ),
  noRows(
    "deleted-workspaces-were-deleted",
    "A workspace is deleted if and only if its latest build is a delete that has succeeded.",
    (sql) => sql`SELECT w.id AS workspace, w.latest_status AS status FROM workspaces w
      WHERE (w.deleted AND w.latest_status <> 'deleted') OR (NOT w.deleted AND w.latest_status = 'deleted')`
  ),
  noRows(
    "deleted-workspaces-have-no-agents",
    "A deleted workspace has no agent that can authenticate.",
    (sql) => sql`SELECT w.id AS workspace, a.id AS agent FROM workspaces w JOIN workspace_builds b ON b.workspace_id = w.id
      JOIN workspace_resources r ON r.job_id = b.job_id JOIN workspace_agents a ON a.resource_id = r.id WHERE w.deleted AND NOT a.deleted`
  ),
  noRows(
    "deleted-workspaces-have-no-sessions",
    "A deleted workspace has no session key of its programs.",
    (sql) => sql`SELECT w.id AS workspace FROM workspaces w JOIN workspace_session_keys k ON k.workspace_id = w.id WHERE w.deleted`
  ),
  noRows(
    "deleted-workspaces-have-no-tasks",
    "The task of a deleted workspace is deleted.",
    (sql) => sql`SELECT w.id AS workspace, t.id AS task FROM workspaces w JOIN tasks t ON t.id = w.task_id
      WHERE w.deleted AND t.deleted_at IS NULL`
  ),
  noRows(
    "pool-deletes-are-of-the-pool",
    "The pool of prebuilt workspaces deletes no workspace that a user has claimed.",
    (sql) => sql`SELECT w.id AS workspace, b.id AS build FROM workspaces w JOIN workspace_builds b ON b.workspace_id = w.id
      WHERE b.initiator_id = ${prebuildsUserId} AND b.transition <> 'start' AND w.owner_id <> ${prebuildsUserId}`
  ),
  noRows(
    "costs-are-those-of-resources",
    "The cost of a build that has succeeded is the sum of the costs of its resources.",
    (sql) => sql`SELECT b.id AS build, b.daily_cost AS stored, coalesce(sum(r.daily_cost), 0) AS resources FROM workspace_builds b
      JOIN provisioner_jobs j ON j.id = b.job_id LEFT JOIN workspace_resources r ON r.job_id = b.job_id AND r.transition = b.transition
      WHERE ${sql.literal(jobIs("succeeded", "j"))} GROUP BY b.id, b.daily_cost HAVING b.daily_cost <> coalesce(sum(r.daily_cost), 0)`
  ),
  noRows(
    "ended-builds-are-audited",
    "A build that has ended since the first entry of the audit log has one entry there, and none if it was canceled while it waited.",
    (sql) => sql`SELECT b.id AS build, count(l.id) AS entries FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
      LEFT JOIN audit_logs l ON l.resource_id = b.id AND l.resource_type = 'workspace_build'
      WHERE j.completed_at > (SELECT min(time) FROM audit_logs) GROUP BY b.id, j.started_at, j.error HAVING count(l.id) <> CASE WHEN j.started_at IS NULL AND j.error = '' THEN 0 ELSE 1 END`
  ),
  noRows(
    "created-workspaces-are-audited",
    "A workspace that was created or claimed since the first entry of the audit log has one entry of its creation there.",
    (sql) => sql`SELECT w.id AS workspace, count(l.id) AS entries FROM workspaces w
      LEFT JOIN audit_logs l ON l.resource_id = w.id AND l.resource_type = 'workspace' AND l.action = 'create'
      WHERE w.created_at > (SELECT min(time) FROM audit_logs) AND w.owner_id <> ${prebuildsUserId} GROUP BY w.id HAVING count(l.id) <> 1`
  )
]
