/** The service that daemons call over their connection. templates-and-provisioning.md §8.3. */
import { type Protobuf, ProvisionerDaemonService, ProvisionerMessages, Router, RpcError } from "@atelier/agent-protocol"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import {
  agentsInState,
  type PlanInput,
  ProvisionFailure,
  type RemoteDaemons,
  type RemoteJob,
  type RemoteResult
} from "@atelier/core/provisioning"
import { Duration, Effect, Option, Redacted, Scope, Stream } from "effect"
import * as ModuleFiles from "./ModuleFiles.js"
import { logOf, metadataMessage, parameterOf, presetOf, resourcesOf, timingsOf } from "./messages.js"

type Acquired = Protobuf.InitOf<typeof ProvisionerMessages.AcquiredJob>

const noJob: Acquired = { job_id: "" }

/** How long an old daemon waits for a job. §8.3. */
const shortWait = Duration.seconds(5)

/** Bytes of a whole message with a job. §8.4. */
const maximumJob = 4 * 1024 * 1024

/** Daemons work on one job at a time; one that hoards jobs would keep others from them. */
const maximumJobs = 16

/** How many ids of resources that an engine has found a daemon may ask about in one call. */
const maximumRemains = 1_000

const refused = (message: string) => new RpcError({ code: 0, message })

const codes = ["REQUIRED_TEMPLATE_VARIABLES", "INSUFFICIENT_QUOTA", "MISSING_TEMPLATE_PARAMETER"] as const

/** The result that each type of job ends with. */
const resultTypes = {
  template_version_import: "template_import",
  template_version_dry_run: "template_dry_run",
  workspace_build: "workspace_build"
} as const

const decoder = new TextDecoder()

const encodedSize = (message: Acquired): Effect.Effect<number, ProvisionFailure> =>
  Effect.mapBoth(ProvisionerMessages.AcquiredJob.encode(message), {
    onFailure: (error) => new ProvisionFailure({ message: `The job cannot be sent to a daemon: ${error.message}` }),
    onSuccess: (bytes) => bytes.length
  })

/** The job's part that depends on its type. */
const typeOf = ({ job }: RemoteJob, input: PlanInput | undefined, modules: Option.Option<string>): Acquired["type"] => {
  if (job.type === "template_version_import" || input === undefined) {
    const values = (job.input.user_variable_values ?? []).map(({ name, value }) => ({ name, value }))
    return {
      case: "template_import",
      value: {
        metadata: {
          workspace_owner_groups: ["Everyone"],
          template_id: job.input.template_id ?? "",
          template_version_id: job.input.template_version_id ?? ""
        },
        user_variable_values: values
      }
    }
  }
  const common = {
    metadata: metadataMessage(input.metadata),
    rich_parameter_values: input.parameters,
    variable_values: input.variables
  }
  if (job.type === "template_version_dry_run") return { case: "template_dry_run", value: common }
  return {
    case: "workspace_build",
    value: {
      ...common,
      external_auth_providers: (input.external_auth ?? []).map(({ access_token, id }) => ({
        id,
        access_token: Redacted.value(access_token)
      })),
      metadata: {
        ...common.metadata,
        template_version_modules_file: Option.getOrElse(modules, () => ""),
        // The agents of a claimed workspace keep their tokens
        running_agent_auth_tokens: input.metadata.prebuilt_workspace_stage === "claim" ? agentsInState(input.state) : []
      },
      workspace_build_id: input.metadata.workspace_build_id,
      workspace_name: input.metadata.workspace_name,
      previous_parameter_values: input.previous_parameters,
      state: input.state,
      log_level: job.input.log_level ?? "",
      unfinished: input.unfinished === true
    }
  }
}

/** A job as a daemon is told of it; `noJob` for one that has ended. Fails for one that is too large. */
const messageOf = (remote: RemoteJob) =>
  Effect.gen(function* () {
    const { job } = remote
    const source = yield* remote.source
    // An import is planned once the daemon has parsed it
    const input = job.type === "template_version_import" ? undefined : Option.getOrUndefined(yield* remote.input)
    if (job.type !== "template_version_import" && input === undefined) return noJob
    const message: Acquired = {
      job_id: job.id,
      created_at: Timestamp.toMillis(job.created_at),
      provisioner: job.provisioner,
      user_name: job.initiator_username,
      template_source_archive: source,
      type: typeOf(remote, input, yield* remote.modules)
    }
    const size = source.length > maximumJob ? source.length : yield* encodedSize(message)
    if (size > maximumJob) {
      return yield* new ProvisionFailure({
        message: "The job is larger than the 4 MiB that a daemon can be sent: its template's archive, its state and its values count."
      })
    }
    return message
  })

/** What a completed job has made, in the order in which the engine's session asks for it. */
const resultOf = (
  { type }: ProvisionerMessages.CompletedJob,
  moduleFiles: Pick<Effect.Effect.Success<ReturnType<typeof ModuleFiles.make>>, "of">
): Effect.Effect<RemoteResult, RpcError, Ids> =>
  Effect.gen(function* () {
    const none = { parameters: [], presets: [], has_ai_task: false, has_external_agent: false, resources: [] }
    const nothing = { resources: [], state: new Uint8Array() }
    switch (type?.case) {
      case "template_import": {
        const { value } = type
        const required = value.external_auth_providers_names.map((id) => ({ id, optional: false }))
        const providers = value.external_auth_providers.length > 0 ? value.external_auth_providers : required
        return {
          plan: {
            resources: yield* resourcesOf(value.start_resources, true),
            parameters: value.rich_parameters.map(parameterOf),
            presets: value.presets.map(presetOf),
            has_ai_task: value.has_ai_tasks,
            has_external_agent: value.has_external_agents,
            ...(providers.length === 0 ? {} : { external_auth_providers: providers })
          },
          stopped: yield* resourcesOf(value.stop_resources, true),
          applied: nothing,
          modules: yield* moduleFiles.of(value)
        }
      }
      case "template_dry_run":
        return {
          plan: { ...none, resources: yield* resourcesOf(type.value.resources, true) },
          stopped: [],
          applied: nothing,
          modules: Option.none()
        }
      case "workspace_build": {
        const resources = yield* resourcesOf(type.value.resources, false)
        const app = type.value.ai_tasks[0]?.app_id
        const known = resources.flatMap(({ agents }) => agents.flatMap(({ apps }) => apps)).find(({ id }) => id === app)?.id
        return {
          plan: { ...none, resources },
          stopped: [],
          modules: Option.none(),
          applied: {
            resources,
            state: type.value.state,
            replacements: type.value.resource_replacements,
            timings: timingsOf(type.value.timings),
            ...(known === undefined ? {} : { task_app_id: known })
          }
        }
      }
      case undefined:
        return yield* refused("The completed job has no type.")
    }
  })

/** The service for one connection. Its jobs are given back when the scope closes. */
export const make = (daemon: Effect.Effect.Success<ReturnType<RemoteDaemons["Type"]["connect"]>>) =>
  Effect.gen(function* () {
    const connection = yield* Effect.scope
    const ids = yield* Ids
    /** Jobs that were taken and have not ended. */
    const jobs = new Map<string, RemoteJob>()
    const moduleFiles = yield* ModuleFiles.make(
      daemon,
      () => [...jobs.values()].filter(({ job }) => job.type === "template_version_import").length,
      maximumJobs
    )

    let hasBeenLogged = false

    const held = (id: string) =>
      Effect.gen(function* () {
        const found = jobs.get(id)
        if (found !== undefined) return found
        // Once for each connection: a daemon that floods must not fill the server's log
        if (!hasBeenLogged) yield* Effect.logWarning("a daemon reports on a job that it does not have", { job: id.slice(0, 36) })
        hasBeenLogged = true
        return yield* refused("The job is not this daemon's, or has ended.")
      })

    /** A job as the daemon is told of it. One that cannot be told fails. */
    const told = (remote: RemoteJob): Effect.Effect<Acquired, RpcError> =>
      Effect.gen(function* () {
        const message = yield* messageOf(remote)
        if (message !== noJob) jobs.set(remote.job.id, remote)
        return message
      }).pipe(Effect.catchAll((failure) => Effect.zipRight(remote.fail(failure), Effect.fail(refused(failure.message)))))

    const forget = (id: string) =>
      Effect.zipRight(
        Effect.sync(() => void jobs.delete(id)),
        moduleFiles.ended
      )

    /** Jobs that it has or waits for. */
    let asked = 0

    const next = (handOver: typeof told): Effect.Effect<Acquired, RpcError> =>
      Effect.acquireUseRelease(
        Effect.sync(() => (asked += 1)),
        () =>
          asked + jobs.size > maximumJobs
            ? refused(`A daemon has and waits for at most ${maximumJobs} jobs.`)
            : Effect.mapError(Scope.extend(daemon.acquire(handOver), connection), (error) =>
                error._tag === "RpcError" ? error : refused(error.message)
              ),
        () => Effect.sync(() => (asked -= 1))
      )

    return Router.make(ProvisionerDaemonService, {
      AcquireJob: () =>
        Effect.suspend(() => {
          let isTaken = false
          const job = next((remote) => {
            isTaken = true
            return told(remote)
          })
          // The wait for a job is short; what a job needs before it is handed over may take longer
          const end = Effect.suspend(() => (isTaken ? Effect.never : Effect.succeed(noJob)))
          return Effect.raceFirst(job, Effect.delay(end, shortWait))
        }),
      AcquireJobWithCancel: (requests) =>
        Stream.fromEffect(
          Effect.raceFirst(
            next(told),
            // A request or the end of the requests cancels the wait
            Effect.as(Stream.runHead(requests), noJob)
          )
        ),
      CommitQuota: ({ daily_cost, job_id }) =>
        Effect.flatMap(held(job_id), (remote) =>
          Effect.map(remote.charge(Math.max(0, daily_cost)), ({ budget, consumed, isAffordable }) => ({
            ok: isAffordable,
            credits_consumed: consumed,
            budget
          }))
        ),
      UpdateJob: (request) =>
        Effect.gen(function* () {
          const remote = yield* held(request.job_id)
          yield* Effect.forEach(request.logs, (log) => remote.log(logOf(log)), { discard: true })
          const canceled = yield* remote.heard
          const isParsed = request.template_variables.length > 0 || request.readme.length > 0 || request.workspace_tags.size > 0
          if (!isParsed || remote.job.type !== "template_version_import") return { canceled }
          const values = yield* remote.parsed({
            variables: request.template_variables,
            readme: decoder.decode(request.readme),
            workspace_tags: Object.fromEntries(request.workspace_tags)
          })
          if (Option.isNone(values)) return yield* refused("required template variables need values")
          return { canceled, variable_values: values.value }
        }),
      FailJob: ({ error, error_code, job_id, type }) =>
        Effect.gen(function* () {
          const remote = yield* held(job_id)
          const state = type?.case === "workspace_build" && type.value.state.length > 0 ? type.value.state : undefined
          const code = codes.find((known) => known === error_code)
          yield* remote.fail(new ProvisionFailure({ message: error, code, state }))
          yield* forget(job_id)
          return {}
        }),
      CompleteJob: (completed) =>
        Effect.gen(function* () {
          const remote = yield* held(completed.job_id)
          if (completed.type?.case !== resultTypes[remote.job.type]) return yield* refused("The result is not that of the job's type.")
          const isFirst = yield* remote.complete(yield* Effect.provideService(resultOf(completed, moduleFiles), Ids, ids))
          yield* forget(completed.job_id)
          return isFirst ? {} : yield* refused("The job has ended already.")
        }),
      UploadFile: moduleFiles.receive,
      DownloadFile: moduleFiles.send,
      JudgeRemains: ({ build_ids, workspace_ids }) =>
        Effect.gen(function* () {
          if (build_ids.length + workspace_ids.length > maximumRemains)
            return yield* refused(`A daemon asks for at most ${maximumRemains} ids at once.`)
          const known = (ids: ReadonlyArray<string>) => ids.flatMap((id) => Uuid.parse(id) ?? [])
          const { existing, unsuccessful } = yield* Effect.mapError(
            daemon.remains({ builds: known(build_ids), workspaces: known(workspace_ids) }),
            ({ message }) => refused(message)
          )
          return { existing_workspace_ids: [...existing], unsuccessful_build_ids: [...unsuccessful] }
        })
    })
  })
