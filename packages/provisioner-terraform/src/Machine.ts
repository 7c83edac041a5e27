/** What is the same in all jobs of Terraform: the program, its options, and the folders it works in. */
import { HostOptions } from "@atelier/core/platform"
import { ProvisionFailure } from "@atelier/core/provisioning"
import { type Duration, Effect, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { type ArchiveFile, attempt, findProgram, type ProcessTable } from "@atelier/provisioner/engine"
import type { User } from "./Command.js"
import { type ContainerOptions, type Containers, socketIn } from "./Container.js"
import type { ControlGroups } from "./ControlGroup.js"
import { baseEnvironment, type Environment } from "./Environment.js"
import { type Bounds, type Limits, limitsSchema } from "./Limits.js"

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
  /** How long an import or a dry run may take, with the installation of providers; 5 minutes unless given. */
  readonly importTimeout?: Duration.DurationInput | undefined
  /** How long the plan of a build may take, with the installation of providers; 10 minutes unless given. */
  readonly planTimeout?: Duration.DurationInput | undefined
  /** How long an `apply` may run; 3 hours unless given. */
  readonly applyTimeout?: Duration.DurationInput | undefined
  /**
   * How long an apply may take to end after its job was canceled, or has exceeded a bound; then it is killed. 150 seconds unless given. Commands without a
   * state have 15 seconds at most.
   */
  readonly cancelGrace?: Duration.DurationInput | undefined
  /** How much a job may use. */
  readonly limits?: Limits | undefined
  /**
   * The folder of a control group of version 2, in which each command gets one of its own; this process has to be allowed to make groups in
   * it. `none` makes no groups. Unless given, groups are made below that of this process where the machine lets it.
   */
  readonly controlGroup?: string | undefined
  /** Whom commands run as, as `UID:GID`; the user of this process unless given. Only root can name another one. */
  readonly user?: string | undefined
  /**
   * Runs each command in a container of a Docker daemon of this machine, which has to see the directory at the same path. `binary` is then a program of the
   * image, and a control group is not used: the container has the bounds.
   */
  readonly container?: ContainerOptions | undefined
}

const ids = /^(\d{1,9}):(\d{1,9})$/

const UserText = HostOptions.declared((input): input is string => typeof input === "string" && ids.test(input), "UID:GID, two numbers")

/** The user that the options name; undefined for that of this process. */
export const userNamed = (text: string | undefined): User | undefined => {
  const [, uid, gid] = ids.exec(text ?? "") ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

export const optionsSchema = HostOptions.object<Options>(
  {
    binary: HostOptions.FilledText,
    directory: HostOptions.FilledText,
    environment: Schema.Record({ key: Schema.String, value: Schema.UndefinedOr(HostOptions.Text) }),
    importTimeout: HostOptions.Time,
    planTimeout: HostOptions.Time,
    applyTimeout: HostOptions.Time,
    cancelGrace: HostOptions.Time,
    limits: limitsSchema,
    controlGroup: HostOptions.FilledText,
    user: UserText,
    container: HostOptions.object<ContainerOptions>(
      {
        image: HostOptions.FilledText,
        host: HostOptions.declared(
          (input): input is string => typeof input === "string" && socketIn(input) !== undefined,
          "the socket of a daemon of this machine, such as unix:///var/run/docker.sock"
        ),
        network: HostOptions.FilledText
      },
      ["image"]
    )
  },
  ["directory"]
)

/** What is the same in all jobs of this engine. */
export interface Machine {
  readonly options: Options
  readonly bounds: Bounds
  /** Undefined for the user of this process. */
  readonly user: User | undefined
  /** Undefined where the machine lets this process make none. */
  readonly groups: ControlGroups | undefined
  /** Undefined where commands are processes of this machine. */
  readonly containers: Containers | undefined
  readonly processes: ProcessTable["Type"]
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
export const programOf = ({ binary, container, environment }: Options): Effect.Effect<string, ProvisionFailure> =>
  container !== undefined
    ? Effect.succeed(binary ?? "terraform")
    : Effect.firstSuccessOf(
        (binary === undefined ? ["terraform", "tofu"] : [binary]).map((name) =>
          findProgram(name, baseEnvironment(environment)["PATH"] ?? "")
        )
      ).pipe(Effect.mapError(() => noBinary))

/** The folders of one job. Those that commands write in lie in one that only this process changes, so none of them becomes a link. */
export interface Folders {
  readonly folder: string
  /** Of the source. */
  readonly directory: string
  /** For temporary files. */
  readonly temporary: string
  /** For the saved plan. */
  readonly plans: string
  /** The home directory of another user than that of this process. */
  readonly home: string
}

/** Makes the folders of one job; removed with the scope. */
export const jobFolders = ({
  options: { directory },
  user
}: Pick<Machine, "options" | "user">): Effect.Effect<Folders, ProvisionFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      // Short: providers bind a socket in the folder for temporary files, whose path has at most 107 characters (unix(7))
      const folder = join(directory, "jobs", randomUUID().slice(0, 8))
      const inFolder = (name: string) => join(folder, name)
      const folders = {
        folder,
        directory: inFolder("source"),
        temporary: inFolder("temporary"),
        plans: inFolder("plans"),
        home: inFolder("home")
      }
      return attempt("the folder of the job cannot be made", async () => {
        await fs.mkdir(folder, { mode: user === undefined ? 0o700 : 0o711 })
        for (const inner of [folders.directory, folders.temporary, folders.plans, folders.home]) await fs.mkdir(inner, { mode: 0o700 })
      }).pipe(Effect.as(folders), Effect.mapError(refused))
    }),
    ({ folder }) => Effect.ignoreLogged(attempt(`${folder} cannot be removed`, () => fs.rm(folder, { recursive: true, force: true })))
  )

/** Gives a folder, and all that is in it, to a user. Call it before the user's programs have run there. */
export const giveTo = async ({ gid, uid }: User, folder: string): Promise<void> => {
  await fs.lchown(folder, uid, gid)
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    const inner = join(folder, entry.name)
    if (entry.isDirectory()) await giveTo({ uid, gid }, inner)
    else await fs.lchown(inner, uid, gid)
  }
}

/** Gives the folders of a job to the user of its commands, if that is another one. */
export const handOver = (user: User | undefined, { directory, home, plans, temporary }: Folders): Effect.Effect<void, ProvisionFailure> =>
  user === undefined
    ? Effect.void
    : attempt("the folder of the job cannot be handed over", async () => {
        for (const folder of [directory, home, plans, temporary]) await giveTo(user, folder)
      }).pipe(Effect.mapError(refused))

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
