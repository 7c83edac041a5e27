/**
 * The engine whose workspaces are directories and processes of the machine the server runs on. templates-and-provisioning.md §9.
 */
import { Cryptography, HostOptions, Ids, service, stacked, startedWith } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Schema } from "effect"
import { LocalWorkspaces, type LocalWorkspacesOptions } from "./LocalWorkspaces.js"
import * as LoopbackDialer from "./LoopbackDialer.js"
import { openLater } from "../engine/openLater.js"
import { templateEngines } from "../engine/TemplatePath.js"
import type { AgentOptions } from "./WorkspaceAgents.js"

const makeEngine = (workspaces: LocalWorkspaces["Type"], ids: Ids["Type"]): Engine => ({
  name: "local",
  // Every action first ends the workspace's running processes, of any origin
  repeatable: new Set(["parse", "plan", "apply"]),
  understands: (source) => templateEngines(source).includes("local"),
  enginesFor: templateEngines,
  open: openLater(async () => (await import("./LocalEngine.js")).open(workspaces, ids)),
  recover: workspaces.recover,
  tellOutages: workspaces.tellOutages
})

const engines = service(
  ProvisionerEngines,
  Effect.gen(function* () {
    return [makeEngine(yield* LocalWorkspaces, yield* Effect.provideService(Ids.make, Cryptography, Cryptography.web))]
  })
)

export type Options = LocalWorkspacesOptions

const optionsSchema = HostOptions.object<Options>(
  {
    directory: HostOptions.FilledText,
    agent: HostOptions.object<AgentOptions>(
      {
        command: Schema.Array(HostOptions.FilledText).pipe(
          Schema.minItems(1, { description: "a list of the agent's program and its first arguments" })
        ),
        environmentPrefix: HostOptions.FilledText,
        environment: Schema.Record({ key: Schema.String, value: HostOptions.Text })
      },
      ["command"]
    ),
    stopGrace: HostOptions.Time,
    restartDelay: HostOptions.Time
  },
  ["directory", "agent"]
)

/**
 * Workspaces on this machine: a directory each, the agents as processes of the server's user. There is no wall between workspaces, nor
 * between them and the server; give it to people you trust with this machine's account. Linux and macOS.
 *
 * Fails with `StartError` when the directory cannot be made, or while another process works in it.
 */
export const layer = (options: Options) =>
  HostOptions.checkedLayer("local", optionsSchema, options, () =>
    stacked(LocalWorkspaces.layer(options), engines, LoopbackDialer.layer).pipe(
      startedWith({ option: "local.directory", value: options.directory })
    )
  )
