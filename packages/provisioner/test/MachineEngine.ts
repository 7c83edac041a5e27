/** An engine whose workspaces are machines of the host. A template is a file `machine.json` at the root, such as `{"image": "debian:13"}`. */
import { Cryptography, Ids, type Uuid } from "@atelier/core/platform"
import {
  type Engine,
  type LogSink,
  type PlanInput,
  type ProvisionedAgent,
  type ProvisionedResource,
  ProvisionerEngines,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { type ArchiveFile, openLater, readFiles } from "@atelier/provisioner/engine"
import { Effect, Layer, Schema } from "effect"

/** The machines of a host, by the ids of workspaces. What has been done already may be asked for again. */
export interface Machines {
  /** Makes the machine unless it exists, and starts an agent on it with this environment. */
  readonly start: (id: Uuid.Uuid, image: string, environment: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<void>
  readonly stop: (id: Uuid.Uuid) => Promise<void>
  readonly remove: (id: Uuid.Uuid) => Promise<void>
}

const templateFile = "machine.json"

const Template = Schema.parseJson(Schema.Struct({ image: Schema.NonEmptyString }))

const readTemplate = (files: ReadonlyMap<string, ArchiveFile>) =>
  Schema.decode(Template)(new TextDecoder().decode(files.get(templateFile)?.bytes)).pipe(
    Effect.mapError(({ message }) => new ProvisionFailure({ message: `${templateFile}: ${message}` }))
  )

const agentWith = (token: Uuid.Uuid): ProvisionedAgent => ({
  name: "main",
  operating_system: "linux",
  architecture: "amd64",
  directory: "",
  environment_variables: {},
  auth: { _tag: "Token", token },
  connection_timeout_seconds: 120,
  troubleshooting_url: "",
  motd_file: "",
  display_apps: ["web_terminal"],
  api_key_scope: "all",
  order: 0,
  apps: [],
  scripts: [],
  metadata: []
})

const machineWith = (agents: ReadonlyArray<ProvisionedAgent>): ProvisionedResource => ({
  name: "machine",
  type: "machine",
  icon: "",
  hide: false,
  daily_cost: 0,
  instance_type: "",
  module_path: "",
  metadata: [],
  agents
})

/** Asks the host, and tells the users of the workspace what failed. An interruption aborts the call. */
const asked = (log: LogSink, stage: string, call: (signal: AbortSignal) => Promise<void>) =>
  Effect.zipRight(
    log({ source: "provisioner", level: "info", stage, output: "The host is asked for the machine." }),
    Effect.tryPromise({ try: call, catch: (cause) => new ProvisionFailure({ message: `the host: ${String(cause)}` }) })
  )

const nothing = new Uint8Array(0)

const open =
  (machines: Machines, ids: Ids["Type"]): Engine["open"] =>
  (source, log) =>
    Effect.gen(function* () {
      const files = yield* Effect.mapError(readFiles(source), ({ message }) => new ProvisionFailure({ message }))
      const { image } = yield* readTemplate(files)

      /** The resources of a build; only a machine that runs has an agent. */
      const resources = ({ metadata: { transition } }: PlanInput, token: Uuid.Uuid) =>
        transition === "delete" ? [] : [machineWith(transition === "start" ? [agentWith(token)] : [])]

      return {
        parse: Effect.succeed({ variables: [], readme: "", workspace_tags: {} }),
        plan: (input) =>
          Effect.map(ids.secret, (token) => ({
            resources: resources(input, token),
            parameters: [],
            presets: [],
            daily_cost: 0,
            has_ai_task: false,
            has_external_agent: false
          })),
        apply: (input) =>
          Effect.gen(function* () {
            const { access_url, transition, workspace_id: id } = input.metadata
            const token = yield* ids.secret
            switch (transition) {
              case "start": {
                const environment = { SERVICE_AGENT_URL: access_url, SERVICE_AGENT_TOKEN: token }
                yield* asked(log, "Starting workspace", (signal) => machines.start(id, image, environment, signal))
                break
              }
              case "stop":
                yield* asked(log, "Stopping workspace", () => machines.stop(id))
                break
              case "delete":
                yield* asked(log, "Destroying workspace", () => machines.remove(id))
            }
            return { resources: resources(input, token), state: transition === "delete" ? nothing : new TextEncoder().encode(image) }
          })
      }
    })

const engine = (machines: Machines, ids: Ids["Type"]): Engine => ({
  name: "machine",
  repeatable: new Set(["parse", "plan", "apply"]),
  understands: ({ paths }) => paths.includes(templateFile),
  open: openLater(async () => open(machines, ids))
})

/** The engine as a host lists it. */
export const layer = (machines: Machines): Layer.Layer<ProvisionerEngines> =>
  Layer.effect(
    ProvisionerEngines,
    Effect.map(Ids, (ids) => [engine(machines, ids)])
  ).pipe(Layer.provide(Ids.layer), Layer.provide(Cryptography.layerWeb))
