/** An engine whose work takes virtual time. The engine keeps what runs, as a machine would, so that a test finds what was left behind. */
import type { Engine, PlanInput, ProvisionedApp, ProvisionedResource } from "@atelier/core/provisioning"
import { ProvisionFailure } from "@atelier/core/provisioning"
import { Uuid } from "@atelier/core/platform"
import { Duration, Effect } from "effect"
import type { Chance } from "./Chance.js"
import type { Process } from "./World.js"

/** A machine that a build has made. */
export interface Machine {
  readonly workspaceId: string
  readonly buildId: string
  readonly token: string
}

/** What templates say, as the only file of their archives. */
export interface SimulatedTemplate {
  /** Prebuilt workspaces that are kept ready. */
  readonly prebuilds: number
  readonly dailyCost: number
  /** How likely a build fails. */
  readonly fails: number
  /** Whether an app of its workspaces works on tasks. */
  readonly isForTasks: boolean
}

export const templateFile = "simulated.json"

const decoder = new TextDecoder()

const idOf = (chance: Chance): Uuid.Uuid => {
  const digits = Array.from(chance.bytes(16), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return Uuid.Uuid.make(
    `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`
  )
}

/** The app that works on a task. */
const taskApp = (id: Uuid.Uuid): ProvisionedApp => ({
  id,
  slug: "worker",
  display_name: "",
  command: "",
  url: "http://localhost:3284",
  icon: "",
  subdomain: false,
  external: false,
  sharing_level: "owner",
  healthcheck: null,
  order: 0,
  group: "",
  hidden: false,
  open_in: "slim-window",
  tooltip: ""
})

const resourcesOf = (token: Uuid.Uuid, dailyCost: number, apps: ReadonlyArray<ProvisionedApp> = []): ReadonlyArray<ProvisionedResource> => [
  {
    name: "machine",
    type: "simulated",
    icon: "",
    hide: false,
    daily_cost: dailyCost,
    instance_type: "",
    module_path: "",
    metadata: [],
    agents: [
      {
        name: "main",
        operating_system: "linux",
        architecture: "amd64",
        directory: "",
        environment_variables: {},
        auth: { _tag: "Token", token },
        connection_timeout_seconds: 120,
        troubleshooting_url: "",
        motd_file: "",
        display_apps: [],
        api_key_scope: "all",
        order: 0,
        apps,
        scripts: [],
        metadata: []
      }
    ]
  }
]

/** What all processes see of the outside. */
export interface Outside {
  /** By workspace. */
  readonly machines: Map<string, Machine>
  /** Which processes apply which builds. */
  readonly applying: Map<string, Set<Process>>
  /** What does not hold, as it is seen. */
  readonly broken: Array<string>
}

/** Notes that a process works on a build. Two processes that live never work on one build at once. */
const alone =
  ({ applying, broken }: Outside, process: Process, buildId: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const known = applying.get(buildId) ?? new Set()
        for (const other of known) {
          if (other.isAlive && other !== process) broken.push(`one-worker: ${other.name} and ${process.name} work on build ${buildId}`)
        }
        applying.set(buildId, known.add(process))
      }),
      () => work,
      () => Effect.sync(() => applying.get(buildId)?.delete(process))
    )

/** Makes the engine of one process. */
export const engineOf = (chance: Chance, outside: Outside, process: Process): Engine => {
  const { machines } = outside
  const takesTime = Effect.suspend(() => Effect.sleep(Duration.millis(chance.pick([5, 50, 300, 1_500, 4_000, 20_000]))))

  const made = (
    template: SimulatedTemplate,
    { metadata: { transition } }: PlanInput,
    token: Uuid.Uuid
  ): ReadonlyArray<ProvisionedResource> => (transition === "start" ? resourcesOf(token, template.dailyCost) : [])

  return {
    name: "simulated",
    repeatable: new Set(["parse", "plan", "apply"] as const),
    understands: ({ paths }) => paths.includes(templateFile),
    open: (source) =>
      Effect.sync(() => {
        const files = JSON.parse(decoder.decode(source)) as Readonly<Record<string, string>>
        const template = JSON.parse(files[templateFile] ?? "{}") as SimulatedTemplate
        return {
          parse: Effect.succeed({ variables: [], readme: "", workspace_tags: {} }),
          plan: (input: PlanInput) =>
            Effect.as(takesTime, {
              resources: made(template, input, idOf(chance)),
              parameters: [],
              presets: [
                {
                  name: "usual",
                  description: "",
                  icon: "",
                  default: true,
                  parameters: [],
                  desired_prebuild_instances: template.prebuilds === 0 ? null : template.prebuilds
                }
              ],
              daily_cost: input.metadata.transition === "start" ? template.dailyCost : 0,
              has_ai_task: template.isForTasks,
              has_external_agent: false
            }),
          handOver: (input: PlanInput) =>
            Effect.sync(() => {
              const token = idOf(chance)
              return {
                plan: {
                  resources: resourcesOf(token, template.dailyCost),
                  parameters: [],
                  presets: [],
                  daily_cost: template.dailyCost,
                  has_ai_task: false,
                  has_external_agent: false
                },
                applied: { resources: made(template, input, token), state: new Uint8Array([2]) },
                settle: Effect.void
              }
            }),
          apply: (input: PlanInput) =>
            Effect.gen(function* () {
              const { transition, workspace_build_id, workspace_id } = input.metadata
              yield* alone(outside, process, workspace_build_id)(takesTime)
              if (chance.is(template.fails)) return yield* new ProvisionFailure({ message: "the machine could not be made" })
              const token = idOf(chance)
              if (transition === "start") machines.set(workspace_id, { workspaceId: workspace_id, buildId: workspace_build_id, token })
              else machines.delete(workspace_id)
              const state = new Uint8Array([1])
              if (!template.isForTasks || transition !== "start") return { resources: made(template, input, token), state }
              const task_app_id = idOf(chance)
              return { resources: resourcesOf(token, template.dailyCost, [taskApp(task_app_id)]), task_app_id, state }
            })
        }
      })
  }
}
