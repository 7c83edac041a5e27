/** The engine that runs Terraform, or OpenTofu, on the templates of that language. templates-and-provisioning.md §9, §10. */
import { HostOptions, startedWith } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Layer, Schema } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import {
  attempt,
  attemptUnless,
  DirectoryOwner,
  openLater,
  prepareRoot,
  ProcessTable,
  ProcessTree,
  templateEngines
} from "@atelier/provisioner/engine"
import { mark, type Options } from "./Machine.js"
import { configurationFiles } from "./ConfigurationFiles.js"

export { variablesNamed, type Environment } from "./Environment.js"
export type { Options } from "./Machine.js"

const makeEngine = (options: Options, cacheLock: Effect.Semaphore): Engine => ({
  name: "terraform",
  // An apply that died has changed the world, and no state says how
  repeatable: new Set(["parse", "plan"]),
  understands: (source) => templateEngines(source).length === 0 && configurationFiles(source.paths).length > 0,
  open: openLater(async () => (await import("./TerraformEngine.js")).open({ options, cacheLock }))
})

/** Ends what a server that was killed has left, and makes the folders. */
const prepareDirectory = (directory: string) =>
  Effect.gen(function* () {
    yield* prepareRoot(directory)
    yield* DirectoryOwner.own(directory)
    const jobs = join(directory, "jobs")
    const left = yield* attemptUnless(["ENOENT"], `${jobs} cannot be read`, () => fs.readdir(jobs))
    // A job has its folder as long as its processes; to look at all processes of the machine takes a start 10 milliseconds
    if (left !== undefined && left.length > 0) yield* ProcessTree.kill({ leaders: [], marks: [`${mark}=${directory}`] })
    yield* attempt(`${directory} cannot be prepared`, async () => {
      await fs.rm(jobs, { recursive: true, force: true })
      for (const folder of ["jobs", "plugins"]) await fs.mkdir(join(directory, folder), { recursive: true, mode: 0o700 })
    })
  })

const optionsSchema = HostOptions.object<Options>(
  {
    binary: HostOptions.FilledText,
    directory: HostOptions.FilledText,
    environment: Schema.Record({ key: Schema.String, value: Schema.UndefinedOr(HostOptions.Text) }),
    planTimeout: HostOptions.Time,
    applyTimeout: HostOptions.Time,
    cancelGrace: HostOptions.Time
  },
  ["directory"]
)

/**
 * The engine of templates of Terraform. It runs the program that it finds when a job needs it; without one, jobs of Terraform
 * templates fail and say so.
 *
 * Fails with `StartError` when the directory cannot be made, or while another process works in it.
 */
export const layer = (options: Options) =>
  HostOptions.checkedLayer("terraform", optionsSchema, options, () =>
    Layer.scoped(
      ProvisionerEngines,
      Effect.gen(function* () {
        yield* prepareDirectory(options.directory)
        return [makeEngine(options, yield* Effect.makeSemaphore(1))]
      })
    ).pipe(Layer.provide(ProcessTable.layer), startedWith({ option: "terraform.directory", value: options.directory }))
  )
