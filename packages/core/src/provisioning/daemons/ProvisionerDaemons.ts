import { Context, Duration, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { Organizations } from "../../organizations/Organizations.js"
import { present } from "../../platform/lists/Present.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import {
  builtInKeyNames,
  type DaemonJob,
  DaemonStatus,
  daemonStatus,
  daemonTimeout,
  type DaemonView,
  type ProvisionerDaemonId
} from "./ProvisionerDaemon.js"
import { ProvisionerDaemonRepository } from "./ProvisionerDaemonRepository.js"
import { jobStatus } from "../jobs/ProvisionerJob.js"
import { ProvisionerJobRepository } from "../jobs/ProvisionerJobRepository.js"
import { ProvisionerKeyRepository } from "../keys/ProvisionerKeyRepository.js"
import type { ProvisionerTags } from "../queue/ProvisionerTags.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { NotFound } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** The filter of a list of daemons. Absent fields do not restrict it. */
export interface DaemonQuery {
  readonly ids?: ReadonlyArray<ProvisionerDaemonId> | undefined
  /** All of them have to be tags of the daemon. */
  readonly tags?: ProvisionerTags | undefined
  /** Whether offline daemons are listed too. */
  readonly offline: boolean
  readonly status: ReadonlyArray<DaemonStatus>
  /** Drops daemons that were last seen longer ago; an infinite one drops none. */
  readonly max_age?: Duration.Duration | undefined
  /** 0 has no limit. */
  readonly limit: number
}

/** Without requested statuses, those that are not offline; `offline` adds the offline ones. */
const wantedStatuses = ({ offline, status }: Pick<DaemonQuery, "offline" | "status">): ReadonlyArray<DaemonStatus> => {
  if (status.length > 0) return offline ? [...new Set([...status, "offline" as const])] : status
  return offline ? DaemonStatus.literals : DaemonStatus.literals.filter((status) => status !== "offline")
}

/** The methods of {@link ProvisionerDaemons}. */
export interface ProvisionerDaemonsService {
  /**
   * The daemons of an organization, newest first. Fails with `NotFound` for actors who may not read its jobs. Four statements.
   * templates-and-provisioning.md §7.1.
   */
  readonly list: (organization: string, query: DaemonQuery) => Effect.Effect<ReadonlyArray<DaemonView>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerDaemonRepository
  const jobs = yield* ProvisionerJobRepository
  const keys = yield* ProvisionerKeyRepository
  const organizations = yield* Organizations

  return {
    list: Traced.fn("ProvisionerDaemons.list")(function* (organization: string, query: DaemonQuery) {
      const { id: organization_id } = yield* organizations.get(organization)
      yield* Access.authorizeOrHide("read", AccessObjects.inOrganization("provisioner_jobs", organization_id))
      const now = yield* Timestamp.now
      const { max_age = Duration.infinity } = query
      const alive_since = Timestamp.minus(now, daemonTimeout)
      const daemons = yield* repository.list({
        organization_id,
        ids: query.ids,
        tags: query.tags,
        statuses: wantedStatuses(query),
        seen_since: Duration.isFinite(max_age) ? Timestamp.minus(now, max_age) : undefined,
        alive_since,
        limit: query.limit
      })
      const keyIds = [...new Set(daemons.map(({ key_id }) => key_id))].filter((id) => !builtInKeyNames.has(id))
      const keyNames = new Map((keyIds.length === 0 ? [] : yield* keys.byIds(keyIds)).map(({ id, name }) => [id, name]))
      const ids = [
        ...new Set(daemons.flatMap(({ current_job_id, previous_job_id }) => [current_job_id ?? [], previous_job_id ?? []].flat()))
      ]
      const found = ids.length === 0 ? [] : yield* jobs.byIds(ids)
      const metadata = new Map((ids.length === 0 ? [] : yield* jobs.metadataOf(ids)).map((names) => [names.id, names]))
      const summaries = new Map(
        found.map((job): [string, DaemonJob] => {
          const { template_display_name = "", template_icon = "", template_name = "" } = metadata.get(job.id) ?? {}
          return [job.id, { id: job.id, status: jobStatus(job), template_name, template_icon, template_display_name }]
        })
      )
      return daemons.map(({ current_job_id, last_seen_at, previous_job_id, ...daemon }): DaemonView => ({
        ...daemon,
        ...present("last_seen_at", last_seen_at),
        status: daemonStatus({ current_job_id, last_seen_at }, alive_since),
        key_name: builtInKeyNames.get(daemon.key_id) ?? keyNames.get(daemon.key_id) ?? "",
        current_job: summaries.get(current_job_id ?? "") ?? null,
        previous_job: summaries.get(previous_job_id ?? "") ?? null
      }))
    })
  }
})

/** The daemons of an organization. */
export class ProvisionerDaemons extends Context.Tag("@atelier/core/ProvisionerDaemons")<ProvisionerDaemons, ProvisionerDaemonsService>() {
  static readonly layer = standingOn(service(ProvisionerDaemons, make), Organizations.layer)
}
