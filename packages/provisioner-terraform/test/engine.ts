/** The engine with a program of the test's choice. */
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { Context, Effect, Layer } from "effect"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TerraformProvisioner } from "../src/index.js"

export const aDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-terraform-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** A program in place of Terraform: a shell script whose first word is the command. */
export const aProgram = (script: string) =>
  Effect.gen(function* () {
    const program = join(yield* aDirectory, "terraform")
    yield* Effect.promise(() => writeFile(program, `#!/bin/sh\n${script}\n`).then(() => chmod(program, 0o755)))
    return program
  })

export const anEngine = (options: Partial<TerraformProvisioner.Options> = {}) =>
  Effect.gen(function* () {
    const directory = options.directory ?? (yield* aDirectory)
    const context = yield* Layer.build(TerraformProvisioner.layer({ ...options, directory }))
    const [engine] = Context.get(context, ProvisionerEngines)
    if (engine === undefined) return yield* Effect.dieMessage("there is no engine")
    return { engine: engine satisfies Engine, directory }
  })
