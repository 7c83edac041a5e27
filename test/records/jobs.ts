/** Jobs and daemons for tests. */
import { prebuildsUserId } from "@atelier/core/access"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Invalid, Timestamp, Uuid } from "@atelier/core/platform"
import {
  embeddedKeyId,
  type ProvisionerDaemon,
  ProvisionerDaemonRepository,
  type ProvisionerJob,
  ProvisionerJobRepository,
  untagged,
  type WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { Effect, Stream } from "effect"
import { anOrganization } from "./builders.js"

/** The workspaces' side of jobs where no workspace has any. */
export const noBuildJobs: WorkspaceBuildJobs["Type"] = {
  prepare: () => new Invalid({ message: "not prepared here" }),
  planned: () => Effect.void,
  succeeded: () => Effect.void,
  ended: () => Effect.void,
  changed: () => Effect.void,
  running: Stream.empty,
  existing: () => Effect.succeed(new Set()),
  unsuccessful: () => Effect.succeed(new Set())
}

/** A stored organization that nothing else uses. */
export const aFreshOrganization = Effect.gen(function* () {
  const organization = yield* anOrganization()
  yield* Effect.orDie(Effect.flatMap(OrganizationRepository, ({ insert }) => insert(organization)))
  return organization.id
})

/** A stored job that waits. */
export const aWaitingJob = (fields: Partial<ProvisionerJob> & Pick<ProvisionerJob, "organization_id">) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const repository = yield* ProvisionerJobRepository
    const now = yield* Timestamp.now
    const job: ProvisionerJob = {
      id: yield* ids.next,
      created_at: now,
      updated_at: now,
      started_at: null,
      canceled_at: null,
      completed_at: null,
      error: "",
      error_code: "",
      initiator_id: yield* ids.next,
      provisioner: "echo",
      type: "template_version_import",
      file_id: Uuid.nil,
      input: {},
      tags: untagged,
      worker_id: null,
      logs_length: 0,
      logs_overflowed: false,
      ...fields
    }
    yield* repository.insert([job])
    return job
  })

export const prebuildsUser = Uuid.Uuid.make(prebuildsUserId)

/** A stored daemon that has just been seen, with the names of its engines if it has told them. */
export const aDaemon = (
  fields: Partial<ProvisionerDaemon> & Pick<ProvisionerDaemon, "organization_id">,
  engines: ReadonlyArray<string> | null = null
) =>
  Effect.gen(function* () {
    const ids = yield* Ids
    const repository = yield* ProvisionerDaemonRepository
    const id = yield* ids.next
    const now = yield* Timestamp.now
    const daemon: ProvisionerDaemon = {
      id,
      created_at: now,
      name: `daemon-${id.slice(-12)}`,
      provisioners: ["terraform", "echo"],
      tags: untagged,
      version: "v1.0.0",
      api_version: "1.18",
      key_id: embeddedKeyId,
      last_seen_at: now,
      ...fields
    }
    return yield* repository.register(daemon, engines)
  })
