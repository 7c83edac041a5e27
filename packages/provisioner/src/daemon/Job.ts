/** One job of a server: what an engine makes of it, and the report. templates-and-provisioning.md §8.3, §9. */
import { DrpcClient, FileTransfer, Packet, type Protobuf, type ProvisionerDaemonClient, ProvisionerMessages } from "@atelier/agent-protocol"
import {
  chargeLines,
  type Engine,
  engineFor,
  insufficientQuota,
  type LogSink,
  type PlanInput,
  ProvisionFailure,
  type ProvisionerSession,
  quotaStage
} from "@atelier/core/provisioning"
import { Cause, Effect, Exit, Fiber, Option, Stream } from "effect"
import { type ArchiveFile, readFiles } from "../engine/Archive.js"
import { inputOf, parameterMessage, presetMessage, resourceMessage, timingMessage } from "./messages.js"
import * as RemoteLog from "./RemoteLog.js"

export type Acquired = Protobuf.TypeOf<typeof ProvisionerMessages.AcquiredJob>
type Result = NonNullable<Protobuf.InitOf<typeof ProvisionerMessages.CompletedJob>["type"]>

/** The stage that changes the world. §6.6. */
const stages = { start: "Starting workspace", stop: "Stopping workspace", delete: "Destroying workspace" } as const

const malformed = new ProvisionFailure({ message: "The server has sent a job that this daemon does not understand." })

const asked = <A>(call: Effect.Effect<A, DrpcClient.ClientError>): Effect.Effect<A, ProvisionFailure> =>
  Effect.mapError(call, ({ message }) => new ProvisionFailure({ message }))

const textOf = (file: ArchiveFile | undefined): string | undefined =>
  file === undefined ? undefined : new TextDecoder().decode(file.bytes.subarray(0, 64 * 1024))

/** The work on a job. The server knows with the first answer to `CommitQuota` that the plan of a build has ended. */
const work = (
  { job_id, template_source_archive, type }: Acquired,
  {
    accessUrl,
    client,
    engines,
    log
  }: {
    readonly accessUrl: string
    readonly client: ProvisionerDaemonClient
    readonly engines: ReadonlyArray<Engine>
    readonly log: LogSink
  }
): Effect.Effect<Result, ProvisionFailure> =>
  Effect.gen(function* () {
    if (type === undefined) return yield* malformed
    const announce = (stage: string) => log({ source: "provisioner_daemon", level: "info", stage, output: "" })
    yield* announce("Setting up")
    const files = yield* Effect.mapError(readFiles(template_source_archive), ({ message }) => new ProvisionFailure({ message }))
    const engine = yield* engineFor(engines, {
      paths: [...files.keys()],
      text: (path) => textOf(files.get(path))
    })
    const session = yield* engine.open(template_source_archive, log, yield* modulesFor(type, client))
    switch (type.case) {
      case "template_import": {
        yield* session.prepare?.() ?? Effect.void
        yield* announce("Parsing template parameters")
        const parsed = yield* session.parse
        const { variable_values } = yield* asked(
          client.UpdateJob({
            job_id,
            template_variables: parsed.variables,
            readme: new TextEncoder().encode(parsed.readme),
            workspace_tags: new Map(Object.entries(parsed.workspace_tags))
          })
        )
        const input = inputOf(type, accessUrl, variable_values)
        return input === undefined ? yield* malformed : yield* sendable(client, job_id, yield* imported(session, input, announce))
      }
      case "template_dry_run": {
        const input = inputOf(type, accessUrl)
        if (input === undefined) return yield* malformed
        yield* announce("Detecting persistent resources")
        const { resources } = yield* session.plan(input)
        return { case: "template_dry_run" as const, value: { resources: resources.map(resourceMessage) } }
      }
      case "workspace_build": {
        const input = inputOf(type, accessUrl)
        if (input === undefined) return yield* malformed
        yield* session.prepare?.(input) ?? Effect.void
        yield* announce("Planning Infrastructure")
        const plan = yield* session.plan(input)
        yield* commit(client, job_id, plan.daily_cost, log)
        yield* announce(stages[input.metadata.transition])
        const applied = yield* session.apply(input)
        yield* announce("Cleaning Up")
        return {
          case: "workspace_build" as const,
          value: {
            state: applied.state,
            resources: applied.resources.map(resourceMessage),
            resource_replacements: applied.replacements ?? [],
            timings: [...(plan.timings ?? []), ...(applied.timings ?? [])].map(timingMessage),
            ai_tasks: applied.task_app_id === undefined ? [] : [{ app_id: applied.task_app_id }]
          }
        }
      }
    }
  }).pipe(Effect.scoped)

const imported = (session: ProvisionerSession, input: PlanInput, announce: (stage: string) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    yield* announce("Detecting persistent resources")
    const start = yield* session.plan(input)
    yield* announce("Detecting ephemeral resources")
    const stop = yield* session.plan({ ...input, metadata: { ...input.metadata, transition: "stop" } })
    yield* announce("Cleaning Up")
    return {
      start_resources: start.resources.map(resourceMessage),
      stop_resources: stop.resources.map(resourceMessage),
      rich_parameters: start.parameters.map(parameterMessage),
      presets: start.presets.map(presetMessage),
      external_auth_providers: start.external_auth_providers ?? [],
      has_ai_tasks: start.has_ai_task,
      has_external_agents: start.has_external_agent,
      module_files: Option.getOrElse(yield* session.modules ?? Effect.succeedNone, () => new Uint8Array(0))
    }
  })

/** The modules that a build need not download. */
const modulesFor = (
  type: NonNullable<Acquired["type"]>,
  client: ProvisionerDaemonClient
): Effect.Effect<Uint8Array | undefined, ProvisionFailure> => {
  const file_id = type.case === "workspace_build" ? (type.value.metadata?.template_version_modules_file ?? "") : ""
  if (file_id === "") return Effect.succeed(undefined)
  return Effect.mapBoth(FileTransfer.receive(client.DownloadFile({ file_id, upload_type: "MODULE_FILES" })), {
    onFailure: ({ message }) => new ProvisionFailure({ message: `The modules of the template version cannot be had: ${message}` }),
    onSuccess: ({ content }) => content
  })
}

type Import = Extract<Result, { readonly case: "template_import" }>["value"]

/** The result of an import, whose modules are sent before it if they would make it too large for a message. §8.4. */
const sendable = (client: ProvisionerDaemonClient, job_id: string, value: Import): Effect.Effect<Result, ProvisionFailure> =>
  Effect.gen(function* () {
    const { module_files = noModules, ...rest } = value
    if (module_files.length === 0) return { case: "template_import" as const, value }
    const module_files_hash = yield* FileTransfer.sha256(module_files)
    const whole = { case: "template_import" as const, value: { ...value, module_files_hash } }
    const { length } = yield* Effect.mapError(
      ProvisionerMessages.CompletedJob.encode({ job_id, type: whole }),
      ({ message }) => new ProvisionFailure({ message })
    )
    if (length <= Packet.maximumPacketBytes) return whole
    const file = { size: module_files.length, hash: module_files_hash, content: Stream.make(module_files) }
    yield* asked(client.UploadFile(FileTransfer.messages(file)))
    return { case: "template_import" as const, value: { ...rest, module_files_hash } }
  })

const noModules = new Uint8Array(0)

/** Has the server charge the build to its owner. This tells the server that the plan has ended, so it is done without a cost too. */
const commit = (client: ProvisionerDaemonClient, job_id: string, cost: number, log: LogSink) =>
  Effect.gen(function* () {
    const quota = yield* asked(client.CommitQuota({ job_id, daily_cost: cost }))
    if (quota.budget >= 0) {
      const lines = chargeLines({ isAffordable: quota.ok, cost, budget: quota.budget, consumed: quota.credits_consumed })
      const write = (output: string) => log({ source: "provisioner_daemon", level: "info", stage: quotaStage, output })
      yield* Effect.forEach(["", ...lines], write, { discard: true })
    }
    if (!quota.ok) return yield* insufficientQuota()
  })

const failed = ({ job_id, type }: Acquired, { code, message, state }: ProvisionFailure) => ({
  job_id,
  error: message,
  error_code: code ?? "",
  ...(type?.case === "workspace_build" ? { type: { case: type.case, value: state === undefined ? {} : { state } } } : {})
})

/**
 * Runs a job and reports its end. `handBack` ends the work, without a report unless something is left behind: the server then gives the job to
 * another daemon, or fails it, once the connection is closed. Interrupted, it ends the work first.
 */
export const run = (
  job: Acquired,
  {
    handBack,
    ...on
  }: {
    readonly accessUrl: string
    readonly client: ProvisionerDaemonClient
    readonly engines: ReadonlyArray<Engine>
    readonly handBack: Effect.Effect<void>
  }
): Effect.Effect<void, DrpcClient.ClientError> =>
  Effect.gen(function* () {
    const log = yield* RemoteLog.make(on.client, job.job_id)
    const worker = yield* Effect.forkDaemon(work(job, { ...on, log: log.write }))
    yield* Effect.addFinalizer(() => Fiber.interrupt(worker))
    const stop = yield* Effect.raceFirst(
      Effect.as(Fiber.await(worker), undefined),
      Effect.raceFirst(Effect.as(log.canceled, "canceled" as const), Effect.as(handBack, "handed back" as const))
    )
    const exit = stop === undefined ? yield* Fiber.await(worker) : yield* Fiber.interrupt(worker)
    yield* log.close
    yield* report(on.client, job, exit, stop)
  }).pipe(Effect.scoped)

const report = (
  client: ProvisionerDaemonClient,
  job: Acquired,
  exit: Exit.Exit<Result, ProvisionFailure>,
  stop: "canceled" | "handed back" | undefined
): Effect.Effect<void, DrpcClient.ClientError> =>
  Effect.gen(function* () {
    if (Exit.isSuccess(exit)) {
      yield* Effect.catchIf(
        client.CompleteJob({ job_id: job.job_id, type: exit.value }),
        // An update too large for a message was not sent, and a refused update has failed
        (error) => error._tag === "RpcError" || error.reason === "message",
        ({ message }) => {
          const state = exit.value.case === "workspace_build" ? exit.value.value.state : undefined
          return client.FailJob(failed(job, new ProvisionFailure({ message, state })))
        }
      )
      return
    }
    const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
    if (failure !== undefined) return void (yield* client.FailJob(failed(job, failure)))
    if (stop === "canceled") return void (yield* client.FailJob({ job_id: job.job_id, error: "" }))
    if (Cause.isInterruptedOnly(exit.cause)) return
    yield* Effect.logError("an engine failed unexpectedly", exit.cause)
    yield* client.FailJob(
      failed(job, new ProvisionFailure({ message: "The provisioner failed unexpectedly; the daemon's log has the reason." }))
    )
  })
