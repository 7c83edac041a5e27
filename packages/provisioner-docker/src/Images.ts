/** The images of containers: pulled from a registry, or built of a template's files. */
import { Duration, Effect, Ref, Stream } from "effect"
import type { ArchiveFile } from "@atelier/provisioner/engine"
import { type ContainerImage, mebibytes } from "@atelier/provisioner/container"
import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import { pack, type Pack } from "tar-stream"
import { DaemonError, type DockerDaemon, isMissing } from "./DockerDaemon.js"
import { type Labels, labels } from "./Labels.js"
import { messagesOf, shortened } from "./Lines.js"
import { loginOf } from "./RegistryCredentials.js"

/** An image that the daemon has. */
export interface PresentImage {
  readonly id: string
  /** As the template names it, or as the engine has named what it built. */
  readonly reference: string
  /** In its registry; undefined for an image that comes from none. */
  readonly digest: string | undefined
  /** Name or number with an optional group; empty for root. */
  readonly user: string
  readonly env: ReadonlyArray<string>
}

/** Writes a line of the build's log. */
export type Say = (line: string) => Effect.Effect<void>

/** Lines that a pull or a build may write. Those of a failure come in its message. */
const maximumLines = 500

const pullLimit = Duration.minutes(30)

/** States of a layer that are worth a line; the others come many times a second. */
const layerStates = new Set([
  "Pulling fs layer",
  "Already exists",
  "Download complete",
  "Verifying Checksum",
  "Extracting",
  "Pull complete"
])

const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** The lines of a pull: one for each new state of a layer. */
const pullLine = (seen: Map<string, string>, message: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const [id, status] = [text(message["id"]), text(message["status"])]
  if (status === "") return []
  if (id === "") return [status]
  if (!layerStates.has(status) || seen.get(id) === status) return []
  seen.set(id, status)
  return [`${id}: ${status}`]
}

/** The output of a build's steps comes in pieces. */
const buildLine = (seen: Map<string, string>, message: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  "stream" in message
    ? text(message["stream"])
        .split(/\r?\n|\r/)
        .filter((line) => line.trim() !== "")
    : pullLine(seen, message)

/** Says the lines of a stream of messages until its end. Fails with what the daemon says of a failure. */
const follow = (
  what: string,
  messages: Stream.Stream<Readonly<Record<string, unknown>>, DaemonError>,
  linesOf: typeof pullLine,
  say: Say
): Effect.Effect<void, DaemonError> =>
  Effect.gen(function* () {
    const seen = new Map<string, string>()
    const said = yield* Ref.make(0)
    yield* Stream.runForEach(messages, (message) =>
      Effect.gen(function* () {
        const error = text(message["error"])
        if (error !== "") return yield* new DaemonError({ message: `${what}: ${error.trim()}` })
        for (const line of linesOf(seen, message)) {
          const count = yield* Ref.updateAndGet(said, (lines) => lines + 1)
          if (count <= maximumLines) yield* say(shortened(line))
          else if (count === maximumLines + 1) yield* say("Further lines are left out.")
        }
      })
    )
  })

const isBeneath = (path: string, folder: string): boolean => folder === "" || path.startsWith(`${folder}/`)

/** The context of a build: the files beneath its folder, in an order that does not change. */
const contextOf = (files: ReadonlyMap<string, ArchiveFile>, folder: string) =>
  [...files]
    .filter(([path]) => isBeneath(path, folder))
    .map(([path, file]) => ({ path: folder === "" ? path : path.slice(folder.length + 1), ...file }))
    .toSorted((left, right) => (left.path < right.path ? -1 : 1))

type BuiltImage = ContainerImage & { readonly _tag: "Build" }

/** The same for the same files and arguments, whatever template they come from. */
const tagOf = (
  deployment: string,
  { arguments: values, dockerfile, target }: BuiltImage,
  context: ReturnType<typeof contextOf>
): string => {
  const hash = createHash("sha256")
  const add = (part: string | Uint8Array) => hash.update(`${part.length}:`).update(part)
  add(dockerfile)
  add(target ?? "")
  add(JSON.stringify(Object.entries(values).toSorted(([left], [right]) => (left < right ? -1 : 1))))
  for (const { bytes, mode, path } of context) {
    add(path)
    add(String(mode))
    add(bytes)
  }
  return `atelier-${deployment}-build:${hash.digest("hex").slice(0, 32)}`
}

const tarOf = (context: ReturnType<typeof contextOf>): Pack => {
  const archive = pack()
  for (const { bytes, mode, path } of context) archive.entry({ name: path, mode }, Buffer.from(bytes))
  archive.finalize()
  return archive
}

/** What the steps of a build may use. */
export interface BuildPlace {
  /** The template's files. */
  readonly source: ReadonlyMap<string, ArchiveFile>
  readonly network: string
  readonly cpus?: number
  /** Bytes. */
  readonly memory?: number
}

/** Bytes of memory and cores of a build whose container has no limits. */
const usualMemory = 4 * 2 ** 30
const usualCpus = 2

/** Microseconds in which the steps of a build have their share of a core. */
const cpuPeriod = 100_000

/** Images of the engine are those of the templates that they were built for. */
const ownImage = /^atelier-[a-z0-9-]+-build(?:[:@]|$)/

export interface ImageOptions {
  readonly deployment: string
  /** The configuration file of `docker login`. */
  readonly registryConfig: string
  readonly pull: "missing" | "always"
  readonly buildTimeout: Duration.Duration
  /** Bytes of an image that is built; undefined for no limit. */
  readonly largestBuild: number | undefined
}

export const makeImages = (daemon: DockerDaemon, { buildTimeout, deployment, largestBuild, pull, registryConfig }: ImageOptions) => {
  const present = (reference: string): Effect.Effect<PresentImage | undefined, DaemonError> =>
    daemon
      .call(`the image ${reference} cannot be read`, (docker) => docker.getImage(reference).inspect())
      .pipe(
        Effect.map(({ Config, Id, RepoDigests }): PresentImage => ({
          id: Id,
          reference,
          digest: RepoDigests?.[0]?.split("@")[1],
          user: Config?.User ?? "",
          env: Config?.Env ?? []
        })),
        Effect.catchIf(isMissing, () => Effect.succeed(undefined))
      )

  const download = (reference: string, say: Say): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      const what = `the image ${reference} cannot be pulled`
      const login = yield* Effect.mapError(
        loginOf(registryConfig, reference),
        ({ message }) => new DaemonError({ message: `${what}: ${message}` })
      )
      yield* say(`Pulling the image ${reference}.`)
      // Without a tag the daemon would pull all of them
      const name = /[:@][^/]*$/.test(reference) ? reference : `${reference}:latest`
      const stream = yield* daemon.stream(
        what,
        (docker, abortSignal) => docker.pull(name, { abortSignal, ...(login === undefined ? {} : { authconfig: login }) }),
        "30 seconds"
      )
      yield* follow(what, messagesOf(stream), pullLine, say)
    }).pipe(
      Effect.scoped,
      Effect.timeoutFail({
        duration: pullLimit,
        onTimeout: () => new DaemonError({ message: `the image ${reference} cannot be pulled within ${Duration.format(pullLimit)}` })
      })
    )

  const required = (reference: string): Effect.Effect<PresentImage, DaemonError> =>
    Effect.flatMap(present(reference), (image) =>
      image === undefined ? new DaemonError({ message: `the image ${reference} is not there` }) : Effect.succeed(image)
    )

  const pulled = (reference: string, say: Say): Effect.Effect<PresentImage, DaemonError> =>
    Effect.gen(function* () {
      if (ownImage.test(reference)) return yield* new DaemonError({ message: `the image ${reference} is one of another template` })
      const found = yield* present(reference)
      if (found !== undefined && pull === "missing") return found
      const pulling = download(reference, say)
      // A registry that is away keeps no workspace from the image that is there
      yield* found === undefined ? pulling : Effect.catchAll(pulling, ({ message }) => say(`${message}; the image that is there is used.`))
      return yield* required(reference)
    })

  /** Removes an image that is larger than the operator allows, and fails. The daemon tells its size only once it is there. */
  const refuseLarge = (tag: string): Effect.Effect<void, DaemonError> =>
    largestBuild === undefined
      ? Effect.void
      : Effect.gen(function* () {
          const { Size } = yield* daemon.call(`the image ${tag} cannot be read`, (docker) => docker.getImage(tag).inspect())
          if (Size <= largestBuild) return
          yield* Effect.ignoreLogged(
            daemon.call(`the image ${tag} cannot be removed`, (docker, abortSignal) => docker.getImage(tag).remove({ abortSignal }))
          )
          return yield* new DaemonError({
            message: `the image has ${mebibytes(Size)}, more than the operator's maximum of ${mebibytes(largestBuild)} (image)`
          })
        })

  const built = (
    image: BuiltImage,
    { cpus = usualCpus, memory = usualMemory, network, source }: BuildPlace,
    say: Say
  ): Effect.Effect<PresentImage, DaemonError> =>
    Effect.gen(function* () {
      const context = contextOf(source, image.context)
      const tag = tagOf(deployment, image, context)
      const found = yield* present(tag)
      // One that was built before the limit, or by a build that ended before the look at its size
      if (found !== undefined) return yield* Effect.as(refuseLarge(tag), found)
      const what = "the image cannot be built"
      const ownLabels: Labels = { [labels.deployment]: deployment, [labels.part]: "image" }
      yield* say(`Building the image of ${image.dockerfile}.`)
      const stream = yield* daemon.stream(
        what,
        (docker, abortSignal) =>
          docker.buildImage(Readable.from(tarOf(context), { objectMode: false }), {
            t: tag,
            dockerfile: image.dockerfile,
            buildargs: { ...image.arguments },
            labels: { ...ownLabels },
            networkmode: network,
            memory,
            memswap: memory,
            cpuperiod: cpuPeriod,
            cpuquota: Math.round(cpus * cpuPeriod),
            rm: true,
            forcerm: true,
            ...(image.target === undefined ? {} : { target: image.target }),
            abortSignal
          }),
        "5 minutes"
      )
      yield* follow(what, messagesOf(stream), buildLine, say)
      yield* refuseLarge(tag)
      return yield* required(tag)
    }).pipe(
      Effect.scoped,
      Effect.timeoutFail({
        duration: buildTimeout,
        onTimeout: () => new DaemonError({ message: `the image cannot be built within ${Duration.format(buildTimeout)}` })
      })
    )

  return { pulled, built }
}

export type Images = ReturnType<typeof makeImages>
