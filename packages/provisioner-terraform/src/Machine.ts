/** What is the same in all jobs of Terraform: the program, its options, and the folders it works in. */
import { ProvisionFailure } from "@atelier/core/provisioning"
import { type Duration, Effect, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { type ArchiveFile, attempt, findProgram } from "@atelier/provisioner/engine"
import { baseEnvironment, type Environment } from "./Environment.js"

/** Set in every process of this engine, so that those of a server that was killed are found. */
export const mark = "ATELIER_TERRAFORM_DIRECTORY"

export interface Options {
  /** Absolute path of a `terraform` or `tofu`; without it, the first of both on the PATH is used. */
  readonly binary?: string | undefined
  /** A directory of this process alone, for the folders of jobs and the cache of providers. */
  readonly directory: string
  /**
   * More of Terraform's environment, such as the credentials of a cloud. Templates can read it. Of the environment of this process, Terraform
   * is given settings of the machine alone: `PATH`, `HOME`, proxies, certificates.
   */
  readonly environment?: Environment | undefined
  /** How long an import may take, or the plan of a build, with the installation of providers; 10 minutes unless given. */
  readonly planTimeout?: Duration.DurationInput | undefined
  /** How long an `apply` may run; 3 hours unless given. */
  readonly applyTimeout?: Duration.DurationInput | undefined
  /** How long a command may take to end after its job was canceled; then it is killed. 150 seconds unless given. */
  readonly cancelGrace?: Duration.DurationInput | undefined
}

/** What is the same in all jobs of this engine. */
export interface Machine {
  readonly options: Options
  /** One `init` at a time: the cache of providers is not for several. */
  readonly cacheLock: Effect.Semaphore
}

/** The name of the state in the folder of a source. */
export const stateFile = "terraform.tfstate"

/** Files of a source that Terraform itself writes. */
export const isOfTerraform = (path: string): boolean => path.startsWith(".terraform/") || path.startsWith(stateFile)

/** A failure of the file system or a program, as that of a job. */
export const refused = ({ message }: { readonly message: string }) => new ProvisionFailure({ message })

const noBinary = new ProvisionFailure({
  message:
    "This server has no Terraform: install terraform or tofu on the PATH of the server, or name the program in the option terraform-binary."
})

/** The path of the program; fails where the machine has none. */
export const programOf = ({ binary, environment }: Options): Effect.Effect<string, ProvisionFailure> =>
  Effect.firstSuccessOf(
    (binary === undefined ? ["terraform", "tofu"] : [binary]).map((name) => findProgram(name, baseEnvironment(environment)["PATH"] ?? ""))
  ).pipe(Effect.mapError(() => noBinary))

/** The folder of one job; removed with the scope. */
export const jobFolder = ({ directory }: Options): Effect.Effect<string, ProvisionFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const folder = join(directory, "jobs", randomUUID())
      return attempt("the folder of the job cannot be made", () => fs.mkdir(join(folder, "source"), { recursive: true, mode: 0o700 })).pipe(
        Effect.as(folder),
        Effect.mapError(refused)
      )
    }),
    (folder) => Effect.ignoreLogged(attempt(`${folder} cannot be removed`, () => fs.rm(folder, { recursive: true, force: true })))
  )

/** Writes files into a folder by their paths. */
export const writeFiles = (files: ReadonlyMap<string, ArchiveFile>, folder: string) =>
  Effect.forEach(
    files,
    ([path, { bytes, mode }]) =>
      attempt(`${path} cannot be unpacked`, async () => {
        await fs.mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
        await fs.writeFile(join(folder, path), bytes, { mode: mode & 0o700 })
      }),
    { discard: true }
  ).pipe(Effect.mapError(refused))

/** Writes the files of a source into a folder, without those that Terraform itself writes. */
export const unpack = (files: ReadonlyMap<string, ArchiveFile>, folder: string) =>
  writeFiles(new Map([...files].filter(([path]) => !isOfTerraform(path))), folder)
