/** The limits of containers: those of the template, the operator's defaults, and the operator's maxima. */
import type { ContainerSpec, SidecarSpec } from "@atelier/provisioner/container"
import type { Options, Settings } from "../Settings.js"

/** What a container may use at most; undefined for as much as its node has. Memory and disk are in bytes. */
export interface Limits {
  readonly cpus?: number | undefined
  readonly memory?: number | undefined
  readonly disk?: number | undefined
  readonly gpus?: number | undefined
}

/** Returns the limits of an agent's container or of one beside it. */
export const limitsOf = ({ defaults = {}, maxima = {} }: Options, { cpus, memory }: Pick<SidecarSpec, "cpus" | "memory">): Limits => ({
  cpus: cpus ?? defaults.cpus ?? maxima.cpus,
  memory: memory ?? defaults.memory ?? maxima.memory
})

/** Returns the limits of an agent's container, with those of its home directory. */
export const agentLimits = ({ disk, options }: Settings, spec: ContainerSpec): Limits => ({
  ...limitsOf(options, spec),
  disk: spec.disk ?? disk,
  gpus: spec.gpus
})

export const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

/** Returns what a container asks for beyond the operator's maxima, each as a sentence. */
export const excesses = ({ maxima = {} }: Options, asked: Limits): ReadonlyArray<string> => {
  const over = (name: keyof Limits, text: (amount: number) => string) => {
    const [wanted, most] = [asked[name], maxima[name]]
    const isOver = wanted !== undefined && most !== undefined && wanted > most
    return isOver ? [`${name}: ${text(wanted)} is more than the operator's maximum of ${text(most)}`] : []
  }
  return [...over("cpus", String), ...over("memory", mebibytes), ...over("disk", mebibytes), ...over("gpus", String)]
}
