/** The limits of containers: those of the template, the operator's defaults, and the operator's maxima. */
import { Either } from "effect"
import { type ContainerSpec, homeVolume, type SidecarSpec } from "./ContainerSpec.js"
import * as Values from "./ContainerValues.js"

/** Limits of one container; absent for none. Memory and disk, which is the home directory's, are in bytes. */
export interface Limits {
  readonly cpus?: number | undefined
  readonly memory?: number | undefined
  readonly disk?: number | undefined
  readonly gpus?: number | undefined
  /** Bytes of an image that is built; only a maximum. */
  readonly image?: number | undefined
}

/** An operator's limits. A container without a limit in its template has the default, and without one the maximum. */
export interface OperatorLimits {
  readonly defaults?: Omit<Limits, "gpus" | "image"> | undefined
  readonly maxima?: Limits | undefined
}

export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

/** Returns what a container asks for beyond the maxima, each as a sentence. */
const beyond = ({ maxima = {} }: OperatorLimits, asked: Omit<Limits, "image">): ReadonlyArray<string> => {
  const over = (name: Exclude<keyof Limits, "image">, text: (amount: number) => string) => {
    const [wanted, most] = [asked[name], maxima[name]]
    const isOver = wanted !== undefined && most !== undefined && wanted > most
    return isOver ? [`${name}: ${text(wanted)} is more than the operator's maximum of ${text(most)}`] : []
  }
  return [...over("cpus", String), ...over("memory", mebibytes), ...over("disk", mebibytes), ...over("gpus", String)]
}

/** Returns what an agent's container and those beside it ask for beyond the maxima, each as a sentence. */
export const excesses = (limits: OperatorLimits, spec: ContainerSpec): ReadonlyArray<string> => [
  ...beyond(limits, spec),
  ...spec.sidecars.flatMap((sidecar) => beyond(limits, sidecar).map((reason) => `the sidecar ${sidecar.name}: ${reason}`))
]

const withDefault = <const Name extends keyof Limits>(
  { defaults = {}, maxima = {} }: { readonly defaults?: Limits | undefined; readonly maxima?: Limits | undefined },
  name: Name,
  asked: number | undefined
): { readonly [Key in Name]?: number } => {
  const amount = asked ?? defaults[name] ?? maxima[name]
  // TypeScript takes a computed key for any text
  return amount === undefined ? {} : ({ [name]: amount } as { readonly [Key in Name]?: number })
}

const ofContainer = <Container extends ContainerSpec | SidecarSpec>(limits: OperatorLimits, container: Container): Container => ({
  ...container,
  ...withDefault(limits, "cpus", container.cpus),
  ...withDefault(limits, "memory", container.memory)
})

/** Returns a container with the limits that it has where its template names none. */
export const withDefaults = (limits: OperatorLimits, spec: ContainerSpec): ContainerSpec => ({
  ...ofContainer(limits, spec),
  ...(spec.volumes.some(({ name }) => name === homeVolume) ? withDefault(limits, "disk", spec.disk) : {}),
  sidecars: spec.sidecars.map((sidecar) => ofContainer(limits, sidecar))
})

const readers: Readonly<Record<keyof Limits, Values.Read<number>>> = {
  cpus: Values.cores,
  memory: Values.size,
  disk: Values.size,
  gpus: Values.gpus,
  image: Values.size
}

/** Reads limits as a command line has them, such as `cpus=2` and `memory=4Gi`, or answers why they cannot be read. */
export const parseLimits = <const Name extends keyof Limits>(
  texts: ReadonlyArray<string>,
  names: ReadonlyArray<Name>
): Either.Either<{ readonly [Key in Name]?: number }, string> => {
  const found: { [Key in Name]?: number } = {}
  for (const text of texts) {
    const [, given, value = ""] = /^([a-z]+)=(.*)$/.exec(text) ?? []
    const name = names.find((each) => each === given)
    if (name === undefined)
      return Either.left(`must be a list of NAME=VALUE with the names ${names.join(", ")}, not ${JSON.stringify(text)}`)
    const read = readers[name](value)
    if (Either.isLeft(read)) return Either.left(`${name} ${read.left}`)
    found[name] = read.right
  }
  return Either.right(found)
}
