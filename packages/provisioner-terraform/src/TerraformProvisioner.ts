/** The engine that runs Terraform, or OpenTofu, on the templates of that language. templates-and-provisioning.md §9, §10. */
import { Background, HostOptions, service, standingOn, startedWith, StartError } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
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
import type { User } from "./Command.js"
import { type ContainerOptions, makeContainers, socketIn } from "./Container.js"
import { type ControlGroups, controlGroups } from "./ControlGroup.js"
import { boundsOf } from "./Limits.js"
import { giveTo, type Machine, mark, type Options, optionsSchema, userNamed } from "./Machine.js"
import { configurationFiles } from "./ConfigurationFiles.js"

export { variablesNamed, type Environment } from "./Environment.js"
export type { ContainerOptions } from "./Container.js"
export type { Limits } from "./Limits.js"
export type { Options } from "./Machine.js"

/** The containers of Terraform as a command line has them: none without an image. */
export const containerOptions = (image: string | undefined, host: string | undefined, network: string | undefined) =>
  image === undefined ? undefined : ({ image, host, network } satisfies ContainerOptions)

const makeEngine = (machine: Machine): Engine => ({
  name: "terraform",
  // An apply that died has changed the world, and no state says how
  repeatable: new Set(["parse", "plan"]),
  understands: (source) => templateEngines(source).length === 0 && configurationFiles(source.paths).length > 0,
  open: openLater(async () => (await import("./TerraformEngine.js")).open(machine))
})

/** Ends what a server that was killed has left, and makes the folders. */
const prepareDirectory = (directory: string, user: User | undefined, groups: ControlGroups | undefined) =>
  Effect.gen(function* () {
    yield* prepareRoot(directory)
    yield* DirectoryOwner.own(directory)
    const jobs = join(directory, "jobs")
    const plugins = join(directory, "plugins")
    const left = yield* attemptUnless(["ENOENT"], `${jobs} cannot be read`, () => fs.readdir(jobs))
    if (groups !== undefined) yield* groups.clear
    // A job has its folder as long as its processes; to look at all processes of the machine takes a start 10 milliseconds
    if (left !== undefined && left.length > 0) yield* ProcessTree.kill({ leaders: [], marks: [`${mark}=${directory}`] })
    yield* attempt(`${directory} cannot be prepared`, async () => {
      await fs.rm(jobs, { recursive: true, force: true })
      for (const folder of [jobs, plugins]) await fs.mkdir(folder, { recursive: true, mode: 0o700 })
      if (user === undefined) return
      // Others may enter these, and list none
      for (const folder of [directory, jobs]) await fs.chmod(folder, 0o711)
      // Once only: its programs may since have put there what is not theirs
      if ((await fs.lstat(plugins)).uid !== user.uid) await giveTo(user, plugins)
    })
  })

/** Whether a program of a user starts in a folder. */
const canEnter = (user: User, folder: string): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const child = spawn("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { cwd: "/", env: {}, stdio: "ignore", ...user })
    child.once("error", () => resume(Effect.succeed(false)))
    child.once("exit", (code) => resume(Effect.succeed(code === 0)))
  })

const refusedUser = ({ gid, uid }: User, reason: string) => new StartError({ option: "terraform.user", value: `${uid}:${gid}`, reason })

/** The user that the options name. Fails where this process cannot start programs as another one. */
const userOf = (options: Options): Effect.Effect<User | undefined, StartError> => {
  const user = userNamed(options.user)
  return user === undefined || process.getuid?.() === 0
    ? Effect.succeed(user)
    : Effect.fail(refusedUser(user, "only root can run Terraform as another user"))
}

/** Fails where the user's programs cannot reach the directory. */
const checkEntry = (directory: string, user: User) =>
  Effect.filterOrFail(
    canEnter(user, join(directory, "plugins")),
    (enters) => enters,
    () => refusedUser(user, `the user cannot enter ${directory}; let others enter the folders above it, or name another directory`)
  )

/** Returns where groups are made. Fails where a group is named in which none can be. */
const groupsFor = ({ container, controlGroup, directory }: Options): Effect.Effect<ControlGroups | undefined, StartError> =>
  Effect.suspend(() => {
    if (container !== undefined || controlGroup === "none") return Effect.succeed(undefined)
    const groups = controlGroups(directory, controlGroup)
    if (groups !== undefined || controlGroup === undefined) return Effect.succeed(groups)
    const reason = "no control groups with limits of memory and processes can be made there"
    return new StartError({ option: "terraform.controlGroup", value: controlGroup, reason })
  })

/**
 * The engine of templates of Terraform. It runs the program that it finds when a job needs it; without one, jobs of Terraform
 * templates fail and say so.
 *
 * Fails with `StartError` when the directory cannot be made, or while another process works in it, and where the options name a user or a
 * control group that this process cannot use.
 */
export const layer = (options: Options) =>
  HostOptions.checkedLayer("terraform", optionsSchema, options, () =>
    service(
      ProvisionerEngines,
      Effect.gen(function* () {
        const groups = yield* groupsFor(options)
        const user = yield* userOf(options)
        yield* prepareDirectory(options.directory, user, groups)
        if (user !== undefined) yield* checkEntry(options.directory, user)
        const cacheLock = yield* Effect.makeSemaphore(1)
        const { container, directory, limits } = options
        const socketPath = socketIn(container?.host)
        const containers =
          container === undefined || socketPath === undefined ? undefined : makeContainers({ options: container, socketPath, directory })
        // An apply of a server that was killed would go on without its folder. A daemon that is away now may come
        if (containers !== undefined)
          yield* Background.once("terraform_containers", Effect.retry(containers.clear, Schedule.spaced("1 minute")))
        const processes = yield* ProcessTable
        return [makeEngine({ options, bounds: boundsOf(limits), groups, user, containers, processes, cacheLock })]
      })
    ).pipe((engine) => standingOn(engine, ProcessTable.layer), startedWith({ option: "terraform.directory", value: options.directory }))
  )
