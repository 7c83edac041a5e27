/** The files in the folder of a job that Terraform plans from and writes: the state, the values of variables, and the saved plan. */
import type { ParsedTemplate, PlanInput, ProvisionFailure } from "@atelier/core/provisioning"
import { attempt } from "@atelier/provisioner/engine"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { refused, stateFile } from "./Machine.js"
import { variableFile } from "./Source.js"

interface Folders {
  /** The folder of the job. */
  readonly folder: string
  /** The folder of the source, in that of the job. */
  readonly directory: string
}

/** The files of one job. */
export interface JobFiles {
  readonly savedPlan: string
  readonly values: string
  /** The state as it is now; undefined before the first. */
  readonly state: Effect.Effect<Uint8Array | undefined>
  /** Writes what a plan stands on: the state, and the values of variables. */
  readonly write: (input: PlanInput, variables: ParsedTemplate["variables"]) => Effect.Effect<void, ProvisionFailure>
}

/** Returns the files of the job in these folders. */
export const filesIn = ({ directory, folder }: Folders): JobFiles => {
  const state = join(directory, stateFile)
  const values = join(folder, "values.tfvars")
  return {
    savedPlan: join(folder, "tfplan"),
    values,
    state: Effect.promise(() =>
      fs.readFile(state).then(
        (bytes) => new Uint8Array(bytes),
        () => undefined
      )
    ),
    write: (input, variables) => {
      const given = new Map(input.variables.map(({ name, value }) => [name, value]))
      return attempt("the state cannot be written", async () => {
        await fs.rm(state, { force: true })
        if (input.state.byteLength > 0) await fs.writeFile(state, input.state, { mode: 0o600 })
        await fs.writeFile(values, variableFile(variables, given), { mode: 0o600 })
      }).pipe(Effect.mapError(refused))
    }
  }
}
