/** How sources of Terraform's language are opened. templates-and-provisioning.md §9, §10. */
import type { Engine } from "@atelier/core/provisioning"
import { Effect, Scope } from "effect"
import { madeOnce, readFiles } from "@atelier/provisioner/engine"
import { downloadedFiles } from "./DownloadedModules.js"
import { evaluateForm } from "./Form.js"
import { operationsOn } from "./Job.js"
import { isOfTerraform, type Machine, programOf, refused } from "./Machine.js"
import { loadModules } from "./ModuleTree.js"
import { presetViolations } from "./Presets.js"
import { parseSource } from "./Source.js"
import { evaluateTags } from "./Tags.js"

export const open =
  (machine: Machine): Engine["open"] =>
  (source, log, downloaded) =>
    Effect.gen(function* () {
      const files = yield* Effect.mapError(readFiles(source), refused)
      const contents = new Map(Array.from(files, ([path, { bytes }]) => [path, bytes]))
      const parsed = yield* madeOnce(parseSource(contents))
      const tree = yield* madeOnce(
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
        prepare: (input) => Effect.flatMap(operations, ({ prepare }) => prepare(input)),
        plan: (input) => Effect.flatMap(operations, ({ plan }) => plan(input)),
        apply: (input) => Effect.flatMap(operations, ({ apply }) => apply(input))
      }
    })
