/** The engine that runs Terraform, or OpenTofu, on the templates of that language. templates-and-provisioning.md §9, §10. */
import { startedWith } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Layer, Option, Scope } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { readFiles } from "../Archive.js"
import { own } from "../DirectoryOwner.js"
import { ProcessTable } from "../ProcessTable.js"
import { kill } from "../ProcessTree.js"
import { attempt, prepareRoot } from "../WorkspaceDirectory.js"
import { mark } from "./Commands.js"
import { downloadedFiles } from "./DownloadedModules.js"
import { evaluateForm } from "./Form.js"
import { operationsOn } from "./Job.js"
import { isOfTerraform, type Machine, type Options, programOf, refused } from "./Machine.js"
import { loadModules } from "./ModuleTree.js"
import { presetViolations } from "./Presets.js"
import { configurationFiles, parseSource } from "./Source.js"
import { evaluateTags } from "./Tags.js"

export type { Options } from "./Machine.js"

const open =
  (machine: Machine): Engine["open"] =>
  (source, log, downloaded) =>
    Effect.gen(function* () {
      const files = yield* Effect.mapError(readFiles(source), refused)
      const contents = new Map(Array.from(files, ([path, { bytes }]) => [path, bytes]))
      const parsed = yield* Effect.cached(parseSource(contents))
      const tree = yield* Effect.cached(
        Effect.suspend(() => (downloaded === undefined ? Effect.succeed(new Map<string, Uint8Array>()) : downloadedFiles(downloaded))).pipe(
          Effect.flatMap((modules) => loadModules(new Map([...contents].filter(([path]) => !isOfTerraform(path))), modules))
        )
      )
      // Most callers only parse a source, so the program is not looked for before the first operation
      const scope = yield* Effect.scope
      const operations = yield* Effect.cached(
        Effect.flatMap(programOf(machine.options), (program) =>
          Scope.extend(operationsOn({ ...machine, program, files, contents, parsed, log, modules: downloaded }), scope)
        )
      )
      return {
        parse: parsed,
        preview: (input) => Effect.flatMap(tree, (modules) => evaluateForm(modules, input)),
        workspaceTags: (input) => Effect.flatMap(tree, (modules) => evaluateTags(modules, input)),
        presetViolations: (input) => Effect.flatMap(tree, (modules) => presetViolations(modules, input)),
        modules: Effect.flatMap(operations, ({ modules }) => modules),
        plan: (input) => Effect.flatMap(operations, ({ plan }) => plan(input)),
        apply: (input) => Effect.flatMap(operations, ({ apply }) => apply(input))
      }
    })

const makeEngine = (options: Options, cacheLock: Effect.Semaphore): Engine => ({
  type: "terraform",
  // An apply that died has changed the world, and no state says how
  repeatable: new Set(["parse", "plan"]),
  understands: (paths) => configurationFiles(paths).length > 0,
  open: open({ options, cacheLock })
})

/** Ends what a server that was killed has left, and makes the folders. */
const prepareDirectory = (directory: string) =>
  Effect.gen(function* () {
    yield* prepareRoot(directory)
    yield* own(directory)
    yield* kill({ leaders: [], marks: [`${mark}=${directory}`] })
    yield* attempt(`${directory} cannot be prepared`, async () => {
      await fs.rm(join(directory, "jobs"), { recursive: true, force: true })
      for (const folder of ["jobs", "plugins"]) await fs.mkdir(join(directory, folder), { recursive: true, mode: 0o700 })
    })
  })

/**
 * Adds the engine behind those that the context has. It runs the program that it finds when a job needs it; without one, jobs of Terraform
 * templates fail and say so.
 *
 * Fails with `StartError` when the directory cannot be made, or while another process works in it.
 */
export const layer = (options: Options) =>
  Layer.scoped(
    ProvisionerEngines,
    Effect.gen(function* () {
      const others = Option.getOrElse(yield* Effect.serviceOption(ProvisionerEngines), () => [])
      yield* prepareDirectory(options.directory)
      return [...others, makeEngine(options, yield* Effect.makeSemaphore(1))]
    })
  ).pipe(Layer.provide(ProcessTable.layer), startedWith({ option: "terraform.directory", value: options.directory }))
