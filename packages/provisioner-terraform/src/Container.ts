/**
 * Commands of Terraform in containers of a Docker daemon of this machine, one for each command. Of the machine it has the folders of its job and the cache of
 * providers, so a template reaches no file, process or variable of the server. Docker Engine API 1.41.
 */
import { Deferred, Effect, Exit } from "effect"
import type { IncomingMessage } from "node:http"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { PassThrough } from "node:stream"
import { type Command, CommandError, type Running } from "./Command.js"
import { type Calls, callsOf, callTime, field, jsonIn, numberAt, opened, textOf } from "./ContainerDaemon.js"
import { type Bounds, type Excess, excesses } from "./Limits.js"
import { firstExcess } from "./Watch.js"

export interface ContainerOptions {
  /** With `terraform` or `tofu`, and a shell if templates run programs, such as `hashicorp/terraform:1.11`. The daemon has to have it. */
  readonly image: string
  /** The daemon's socket; `unix:///var/run/docker.sock` unless given. */
  readonly host?: string | undefined
  /** `bridge`, `host`, `none`, or the name of a network of the daemon; `bridge` unless given. */
  readonly network?: string | undefined
}

/** Runs commands in containers. */
export interface Containers {
  /** Removes what a server that was killed has left. It succeeds once, and before the first command. */
  readonly clear: Effect.Effect<void, CommandError>
  /** Starts a command. Nothing interrupts the start, so each container that was made is known and removed. */
  readonly start: (command: Command, ended: Running["ended"], closed: Running["closed"]) => Effect.Effect<Running, CommandError>
}

const usualSocket = "/var/run/docker.sock"

/** The path of the socket that an address names; undefined for an address of another kind. */
export const socketIn = (host: string = `unix://${usualSocket}`): string | undefined => /^unix:\/\/(\/.+)$/.exec(host)?.[1]

/** Containers of an engine, by its directory. */
const label = "atelier.dev/terraform-directory"

/** Milliseconds between two looks at what a container uses. */
const lookAtContainer = 1_000

/** The kernel counts threads, and a Go program starts a few for each processor. */
const threadsOfProcess = 64

/** What a container that was ended by SIGKILL answers. */
const killed = 137

/** Bytes of the header before each piece of the output. Docker Engine API, "ContainerAttach". */
const headerSize = 8

/** Splits the output of a container into its two streams. */
const makeOutput = (response: IncomingMessage, onEnd: () => void): Pick<Running, "stderr" | "stdout"> => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let rest: Buffer = Buffer.alloc(0)
  response.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= headerSize) {
      const end = headerSize + rest.readUInt32BE(4)
      if (rest.length < end) break
      ;(rest[0] === 2 ? stderr : stdout).write(rest.subarray(headerSize, end))
      rest = rest.subarray(end)
    }
  })
  const finish = () => {
    stdout.end()
    stderr.end()
    onEnd()
  }
  response.once("error", finish)
  response.once("close", finish)
  return { stderr, stdout }
}

interface Place {
  readonly options: ContainerOptions
  /** The socket of the daemon. */
  readonly socketPath: string
  /** The directory of the engine. */
  readonly directory: string
}

/** Folders as the daemon mounts them: the same paths as outside, so that what a command says of them holds on both sides. */
const mountsOf = ({ confinement: { folder }, environment }: Command, directory: string) => {
  const mount = (path: string, isReadOnly = false) => ({ Type: "bind", Source: resolve(path), Target: resolve(path), ReadOnly: isReadOnly })
  const configuration = environment["TF_CLI_CONFIG_FILE"]
  return [
    // Nothing replaces one of the inner folders: they are places of mounts
    mount(folder, true),
    ...["source", "temporary", "plans", "home"].map((name) => mount(join(folder, name))),
    mount(join(directory, "plugins")),
    { ...mount(join(folder, "temporary")), Target: "/tmp" },
    ...(configuration !== undefined && existsSync(configuration) ? [mount(configuration, true)] : [])
  ]
}

/** What a container of a command is made with. */
const settingsOf = (command: Command, { directory, options: { image, network = "bridge" } }: Place) => {
  const { confinement, environment, options, program } = command
  const { bounds, user } = confinement
  const limit = (name: string, value: number) => ({ Name: name, Soft: value, Hard: value })
  return {
    Image: image,
    Entrypoint: [program],
    Cmd: [...options],
    WorkingDir: resolve(command.directory),
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    User: `${user?.uid ?? process.getuid?.() ?? 0}:${user?.gid ?? process.getgid?.() ?? 0}`,
    Labels: { [label]: resolve(directory) },
    Healthcheck: { Test: ["NONE"] },
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      NetworkMode: network,
      Mounts: mountsOf(command, directory),
      // Outside of the job's folder, nothing counts what is written
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      Memory: bounds.memory,
      MemorySwap: bounds.memory,
      PidsLimit: bounds.processes * threadsOfProcess,
      Ulimits: [limit("core", 0), limit("fsize", bounds.disk)],
      // The output is read as it comes, and the daemon keeps none
      LogConfig: { Type: "none" }
    }
  }
}

/** What a container uses, compared with the bounds of its job. */
const watchOf = (called: Calls["called"], id: string, { confinement: { bounds, folder, spent } }: Command) => {
  let counted = 0
  const look = Effect.gen(function* () {
    const { ps, stats } = yield* Effect.all(
      {
        stats: called("the container cannot be measured", {
          method: "GET",
          path: `/containers/${id}/stats`,
          query: { stream: "false", "one-shot": "true" }
        }),
        // A daemon without `ps` counts threads alone
        ps: Effect.orElseSucceed(
          called("the processes cannot be listed", { method: "GET", path: `/containers/${id}/top`, query: { ps_args: "-eo pid" } }),
          () => undefined
        )
      },
      { concurrency: 2 }
    )
    const found = field(ps, "Processes")
    const processes = Array.isArray(found) ? found.length : 0
    const threads = numberAt(stats, "pids_stats", "current")
    if (processes > bounds.processes || threads >= bounds.processes * threadsOfProcess) return excesses.processes(bounds)
    const cpuTime = numberAt(stats, "cpu_stats", "cpu_usage", "total_usage") / 1_000_000
    spent.cpuTime += Math.max(0, cpuTime - counted)
    counted = Math.max(counted, cpuTime)
    return spent.cpuTime > bounds.cpuTime ? excesses.cpuTime(bounds) : undefined
  }).pipe(Effect.orElseSucceed(() => undefined))
  return { look, excess: firstExcess({ bounds, folder }, lookAtContainer, look) }
}

export const makeContainers = (place: Place): Containers => {
  const { directory, options, socketPath } = place
  const { bounded, called } = callsOf(socketPath)

  const remove = (id: string) =>
    Effect.ignoreLogged(
      called("a container of Terraform cannot be removed", { method: "DELETE", path: `/containers/${id}`, query: { force: "1", v: "1" } })
    )

  let isCleared = false
  const cleared = Effect.gen(function* () {
    if (isCleared) return
    const found = yield* called("the containers of Terraform cannot be listed", {
      method: "GET",
      path: "/containers/json",
      query: { all: "1", filters: JSON.stringify({ label: [`${label}=${resolve(directory)}`] }) }
    })
    const ids = (Array.isArray(found) ? found : []).map((one) => String(field(one, "Id")))
    yield* Effect.forEach(ids, remove, { discard: true })
    isCleared = true
  })
  const clearOnce = Effect.unsafeMakeSemaphore(1).withPermits(1)(cleared)

  const create = (command: Command) =>
    called(`the container of terraform ${command.options[0] ?? ""} cannot be made`, {
      method: "POST",
      path: "/containers/create",
      body: settingsOf(command, place)
    }).pipe(
      Effect.map((made) => String(field(made, "Id"))),
      Effect.mapError(({ message }) =>
        /no such image/i.test(message)
          ? new CommandError({
              message: `The image of Terraform is not there: run "docker pull ${options.image}" on the server's machine.`
            })
          : new CommandError({ message })
      )
    )

  /** The kernel ends what exceeds the memory of a container, and the daemon tells of it after the end. */
  const lastLook = (id: string, bounds: Bounds): Effect.Effect<Excess | undefined> =>
    called("the container cannot be read", { method: "GET", path: `/containers/${id}/json` }).pipe(
      Effect.map((found) => (field(found, "State", "OOMKilled") === true ? excesses.memory(bounds, "kill") : undefined)),
      Effect.orElseSucceed(() => undefined)
    )

  const signal = (id: string, name: string) =>
    Effect.ignore(called("the container cannot be ended", { method: "POST", path: `/containers/${id}/kill`, query: { signal: name } }))

  /** Waits for the end of a container for as long as it runs. A connection that is lost ends the command. */
  const followEnd = (id: string, ended: Running["ended"], lost: AbortController) => {
    const path = `/containers/${id}/wait`
    opened(socketPath, { method: "POST", path }, lost.signal)
      .then(textOf)
      .then((text) => {
        const code = field(jsonIn(text), "StatusCode")
        if (typeof code !== "number") throw new Error("it does not say how the container has ended")
        Deferred.unsafeDone(ended, Exit.succeed(code === killed ? null : code))
      })
      .catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        Deferred.unsafeDone(ended, Exit.fail(new CommandError({ message: `the Docker daemon of Terraform was lost: ${reason}` })))
      })
  }

  /** `lost` gives up the calls that last as long as the container. */
  const begin = (id: string, command: Command, ended: Running["ended"], closed: Running["closed"], lost: AbortController) =>
    Effect.gen(function* () {
      const attached = yield* bounded("the output of Terraform cannot be read", async () => {
        const query = { stream: "1", stdout: "1", stderr: "1" }
        const response = await opened(socketPath, { method: "POST", path: `/containers/${id}/attach`, query }, lost.signal)
        if (response.statusCode !== 200) throw new Error(`the Docker daemon answers ${response.statusCode}`)
        return response
      })
      const output = makeOutput(attached, () => Deferred.unsafeDone(closed, Exit.void))
      yield* called("the container of Terraform cannot be started", { method: "POST", path: `/containers/${id}/start` })
      followEnd(id, ended, lost)
      const { excess, look } = watchOf(called, id, command)
      const { bounds } = command.confinement
      return {
        ...output,
        ended,
        closed,
        watch: { excess, look: Effect.flatMap(look, (found) => (found === undefined ? lastLook(id, bounds) : Effect.succeed(found))) },
        interrupt: signal(id, "SIGINT"),
        // The daemon signals the first process alone. Interrupted, Terraform ends its programs by itself
        killFollowers: Effect.void,
        clear: signal(id, "SIGKILL").pipe(
          Effect.zipRight(Effect.ignore(Effect.timeout(Effect.interruptible(Deferred.await(ended)), callTime))),
          Effect.zipRight(remove(id)),
          // What a daemon does not answer is given up
          Effect.zipRight(Effect.sync(() => lost.abort()))
        )
      } satisfies Running
    })

  return {
    clear: clearOnce,
    start: (command, ended, closed) =>
      Effect.gen(function* () {
        yield* clearOnce
        const id = yield* create(command)
        const lost = new AbortController()
        return yield* Effect.onError(begin(id, command, ended, closed, lost), () =>
          Effect.zipRight(
            Effect.sync(() => lost.abort()),
            remove(id)
          )
        )
      }).pipe(Effect.uninterruptible)
  }
}
