/** The files in the folder of a job that Terraform plans from and writes: the state, the values of variables, and the saved plan. */
import type { ParsedTemplate, PlanInput, ProvisionFailure } from "@atelier/core/provisioning"
import { attempt } from "@atelier/provisioner/engine"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { constants } from "node:fs"
import { join } from "node:path"
import type { User } from "./Command.js"
import type { Bounds } from "./Limits.js"
import { type Folders, refused, stateFile } from "./Machine.js"
import { variableFile } from "./Source.js"

/** The files of one job. */
export interface JobFiles {
  readonly savedPlan: string
  readonly values: string
  /** The state as it is now; undefined before the first, and for one that is larger than four times the bound. */
  readonly state: Effect.Effect<Uint8Array | undefined>
  /** Bytes of the saved plan. */
  readonly planSize: Effect.Effect<number>
  /** Writes what a plan stands on: the state, and the values of variables. */
  readonly write: (input: PlanInput, variables: ParsedTemplate["variables"]) => Effect.Effect<void, ProvisionFailure>
}

/** A state above its bound fails its job, and is kept as far as this: without it, what a build has made is lost. */
const keptOfBound = 4

/** Commands may have put a link, a pipe or the file of another user in the place of what they write. */
const readOwn = async (path: string, most: number, user: User | undefined): Promise<Uint8Array | undefined> => {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > most || (user !== undefined && stat.uid !== user.uid)) return undefined
    return new Uint8Array(await file.readFile())
  } finally {
    await file.close()
  }
}

/** Replaces a file by one that only its user can read; a link in its place is not followed. */
const replace = async (path: string, content: string | Uint8Array, user: User | undefined): Promise<void> => {
  await fs.rm(path, { force: true })
  await fs.writeFile(path, content, { mode: 0o600, flag: "wx" })
  if (user !== undefined) await fs.lchown(path, user.uid, user.gid)
}

/** Returns the files of the job in these folders. */
export const filesIn = ({ directory, folder, plans }: Folders, bounds: Bounds, user: User | undefined): JobFiles => {
  const state = join(directory, stateFile)
  const values = join(folder, "values.tfvars")
  const savedPlan = join(plans, "tfplan")
  return {
    savedPlan,
    values,
    state: Effect.promise(() => readOwn(state, keptOfBound * bounds.state, user).catch(() => undefined)),
    planSize: Effect.promise(() =>
      fs.lstat(savedPlan).then(
        ({ size }) => size,
        () => 0
      )
    ),
    write: (input, variables) => {
      const given = new Map(input.variables.map(({ name, value }) => [name, value]))
      return attempt("the state cannot be written", async () => {
        await fs.rm(state, { force: true })
        if (input.state.byteLength > 0) await replace(state, input.state, user)
        await replace(values, variableFile(variables, given), user)
      }).pipe(Effect.mapError(refused))
    }
  }
}
