/** The container of an agent with values in its fields. */
import { Either } from "effect"
import { join } from "node:path/posix"
import type { Container, Sidecar } from "../template/definition/Container.js"
import type { TextOrScalar } from "../template/definition/Field.js"
import type { Evaluator } from "../template/Evaluator.js"
import { TemplateText } from "../template/Expression.js"
import type { Path } from "../template/YamlSource.js"
import { type ContainerImage, type ContainerSpec, homeVolume, type SidecarSpec, type VolumeSpec } from "./ContainerSpec.js"
import * as Values from "./ContainerValues.js"

/** Bytes that the environment and the command of one container may have: the kernel takes a program with little more. */
const maximumCommand = 256 * 1024

/** What fields are evaluated with. */
interface Fields {
  readonly evaluator: Evaluator
  /** Whether all parameters have values. Without, what an expression answers is no value to be judged. */
  readonly isComplete: boolean
}

const hasExpression = (value: TextOrScalar): boolean =>
  value instanceof TemplateText && value.parts.some((part) => typeof part !== "string")

const read = <A>({ evaluator, isComplete }: Fields, value: TextOrScalar, path: Path, reader: Values.Read<A>): A | undefined => {
  const answer = reader(evaluator.scalar(value, path))
  if (Either.isRight(answer)) return answer.right
  if (isComplete || !hasExpression(value)) evaluator.report(path, answer.left)
  return undefined
}

/** A field that may be absent: an expression that answers no text leaves it out. */
const readOptional = <const Name extends string, A>(
  fields: Fields,
  name: Name,
  value: TextOrScalar | undefined,
  path: Path,
  reader: Values.Read<A>
): { readonly [Key in Name]?: A } => {
  const isLeftOut = (text: string): boolean => text === "" && value !== undefined && hasExpression(value)
  const found =
    value === undefined
      ? undefined
      : read(fields, value, [...path, name], (text): Either.Either<A | undefined, string> =>
          isLeftOut(text) ? Either.right(undefined) : reader(text)
        )
  // TypeScript takes a computed key for any text
  return found === undefined ? {} : ({ [name]: found } as { readonly [Key in Name]?: A })
}

const environment = ({ evaluator }: Fields, values: Readonly<Record<string, TextOrScalar>>, path: Path): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, evaluator.scalar(value, [...path, name])]))

const words = (fields: Fields, texts: ReadonlyArray<TemplateText>, path: Path): ReadonlyArray<string> =>
  texts.map((text, index) => read(fields, text, [...path, index], Values.word) ?? "")

const refuseLongCommand = (
  { evaluator }: Fields,
  path: Path,
  env: Readonly<Record<string, string>>,
  command: ReadonlyArray<string>
): void => {
  const bytes = [...Object.entries(env).flat(), ...command].reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)
  if (bytes > maximumCommand) evaluator.report(path, `the environment and the command have more than ${maximumCommand} bytes together`)
}

/** The places of values that stood at an earlier place already. */
const refuseRepeated = (
  { evaluator }: Fields,
  values: ReadonlyArray<{ readonly path: Path; readonly value: string | undefined }>,
  what: string
): void => {
  const seen = new Set<string>()
  for (const { path, value } of values) {
    if (value === undefined) continue
    if (seen.has(value)) evaluator.report(path, `${what} ${value} is used already`)
    seen.add(value)
  }
}

/** Whether the source has the folder or file. */
const refuseMissing = ({ evaluator }: Fields, path: Path, local: string): void => {
  const isThere = [...evaluator.template.files.keys()].some((file) => local === "" || file === local || file.startsWith(`${local}/`))
  if (!isThere) evaluator.report(path, `the template's source has no ${JSON.stringify(local)}`)
}

const image = (fields: Fields, container: Container, path: Path): ContainerImage => {
  const { build } = container
  if (build === undefined) {
    const reference = container.image === undefined ? undefined : read(fields, container.image, [...path, "image"], Values.imageReference)
    return { _tag: "Image", reference: reference ?? "" }
  }
  const at: Path = [...path, "build"]
  const { context = "", dockerfile = "Dockerfile" } = {
    ...readOptional(fields, "context", build.context, at, Values.sourcePath),
    ...readOptional(fields, "dockerfile", build.dockerfile, at, Values.sourcePath)
  }
  if (fields.isComplete || build.dockerfile === undefined || !hasExpression(build.dockerfile))
    refuseMissing(fields, build.dockerfile === undefined ? at : [...at, "dockerfile"], join(context, dockerfile))
  return {
    _tag: "Build",
    context,
    dockerfile,
    arguments: environment(fields, build.args, [...at, "args"]),
    ...readOptional(fields, "target", build.target, at, Values.stage)
  }
}

interface PlacedVolume extends VolumeSpec {
  readonly at: Path
}

const keeps = (fields: Fields, keep: TextOrScalar | undefined, path: Path): boolean | undefined =>
  keep === undefined ? undefined : read(fields, keep, [...path, "keep"], Values.truth)

/** The volumes of a container, the home directory's first. */
const volumes = (fields: Fields, container: Container, path: Path): ReadonlyArray<PlacedVolume> => {
  const own = fields.evaluator.present(container.volumes, [...path, "volumes"], ({ keep, name, path: target }, at): PlacedVolume => {
    const mounted = target === undefined ? undefined : read(fields, target, [...at, "path"], Values.mountPath)
    if (target === undefined && name !== homeVolume)
      fields.evaluator.report(at, `"path" is missing; only the volume "${homeVolume}" needs none`)
    return { at, name, path: mounted, keep: keeps(fields, keep, at) ?? true }
  })
  const home = own.find(({ name }) => name === homeVolume) ?? { at: path, name: homeVolume, path: undefined, keep: true }
  return [...(home.keep || home.path !== undefined ? [home] : []), ...own.filter(({ name }) => name !== homeVolume)]
}

/** A volume of a sidecar; one with the name of a volume of the agent's container is that volume. */
const sidecarVolumes = (fields: Fields, sidecar: Sidecar, path: Path, shared: ReadonlyArray<VolumeSpec>): SidecarSpec["volumes"] =>
  fields.evaluator.present(sidecar.volumes, [...path, "volumes"], ({ keep, name, path: target }, at) => {
    const same = shared.find((volume) => volume.name === name)
    const wanted = keeps(fields, keep, at)
    if (same !== undefined && wanted !== undefined && wanted !== same.keep)
      fields.evaluator.report([...at, "keep"], `the volume "${name}" of the agent has another value`)
    return { name, path: read(fields, target, [...at, "path"], Values.mountPath) ?? "", keep: wanted ?? same?.keep ?? true }
  })

const sidecarSpec = (fields: Fields, sidecar: Sidecar, path: Path, shared: ReadonlyArray<VolumeSpec>): SidecarSpec => {
  const env = environment(fields, sidecar.env, [...path, "env"])
  const command = words(fields, sidecar.command, [...path, "command"])
  refuseLongCommand(fields, path, env, command)
  const mounted = sidecarVolumes(fields, sidecar, path, shared)
  refuseRepeated(
    fields,
    mounted.map((volume, index) => ({ path: [...path, "volumes", index], value: volume.path })),
    "the path"
  )
  return {
    name: sidecar.name,
    image: read(fields, sidecar.image, [...path, "image"], Values.imageReference) ?? "",
    env,
    command,
    ports: sidecar.ports.flatMap((port, index) => read(fields, port, [...path, "ports", index], Values.port) ?? []),
    volumes: mounted,
    ...readOptional(fields, "cpus", sidecar.cpus, path, Values.cores),
    ...readOptional(fields, "memory", sidecar.memory, path, Values.size),
    ...readOptional(fields, "user", sidecar.user, path, Values.user)
  }
}

/** Returns the container of an agent; faults in it are reported to the evaluator. */
export const containerSpec = (
  evaluator: Evaluator,
  isComplete: boolean,
  agent: { readonly name: string; readonly container: Container },
  at: Path
): ContainerSpec => {
  const fields: Fields = { evaluator, isComplete }
  const { container, name } = agent
  const path: Path = [...at, "container"]
  const env = environment(fields, container.env, [...path, "env"])
  const entrypoint = words(fields, container.entrypoint, [...path, "entrypoint"])
  refuseLongCommand(fields, path, env, entrypoint)
  const placed = volumes(fields, container, path)
  refuseRepeated(
    fields,
    placed.map(({ at, path }) => ({ path: [...at, "path"], value: path })),
    "the path"
  )
  const disk = readOptional(fields, "disk", container.disk, path, Values.size)
  if (disk.disk !== undefined && !placed.some((volume) => volume.name === homeVolume))
    evaluator.report([...path, "disk"], "is the size of the home directory's volume, which this container does not keep")
  const sidecars = evaluator.present(container.sidecars, [...path, "sidecars"], (sidecar, at) => ({
    at,
    spec: sidecarSpec(fields, sidecar, at, placed)
  }))
  refuseRepeated(
    fields,
    sidecars.flatMap(({ at, spec }) => spec.ports.map((port, index) => ({ path: [...at, "ports", index], value: String(port) }))),
    "the port"
  )
  return {
    agent: name,
    image: image(fields, container, path),
    ...readOptional(fields, "cpus", container.cpus, path, Values.cores),
    ...readOptional(fields, "memory", container.memory, path, Values.size),
    ...disk,
    ...readOptional(fields, "gpus", container.gpus, path, Values.gpus),
    ...readOptional(fields, "user", container.user, path, Values.user),
    env,
    entrypoint,
    volumes: placed.map(({ keep, name, path }) => ({ name, path, keep })),
    network: readOptional(fields, "network", container.network, path, Values.network).network ?? "default",
    privileged: readOptional(fields, "privileged", container.privileged, path, Values.truth).privileged ?? false,
    ...readOptional(fields, "runtime", container.runtime, path, Values.runtime),
    sidecars: sidecars.map(({ spec }) => spec)
  }
}
