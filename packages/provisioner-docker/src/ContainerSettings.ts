/** What containers are made with: limits, rights and mounts. */
import type { ContainerSpec, SidecarSpec } from "@atelier/provisioner/container"
import type Docker from "dockerode"
import type { Joined } from "./Networks.js"
import type { Labels } from "./Labels.js"

/** Rights of root that Docker gives containers, and no program of a workspace needs. */
const droppedCapabilities = ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SETPCAP"]

/** Bytes of a container's log that the daemon keeps, in two files. */
const logConfig = { Type: "json-file", Config: { "max-size": "1m", "max-file": "2" } }

/** A volume of the daemon in a container. */
export interface Mount {
  readonly volume: string
  readonly path: string
  readonly isReadOnly?: boolean
}

const mountsOf = (mounts: ReadonlyArray<Mount>): Docker.MountConfig =>
  mounts.map(({ isReadOnly = false, path, volume }) => ({ Type: "volume", Source: volume, Target: path, ReadOnly: isReadOnly }))

interface Limits {
  readonly cpus?: number
  readonly memory?: number
}

const limitsOf = ({ cpus, memory }: Limits, pids: number): Docker.HostConfig => ({
  ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
  // Without swap of its own, a container that exceeds its memory would slow the machine instead of ending
  ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
  PidsLimit: pids
})

const confined: Docker.HostConfig = { SecurityOpt: ["no-new-privileges:true"], CapDrop: droppedCapabilities }

/** The settings of a privileged container: all rights, in the machine's own namespace of users. */
const privileged: Docker.HostConfig = { Privileged: true, UsernsMode: "host" }

const gpusOf = (count: number | undefined): Docker.HostConfig =>
  count === undefined || count === 0 ? {} : { DeviceRequests: [{ Driver: "", Count: count, Capabilities: [["gpu"]] }] }

export interface AgentContainer {
  readonly spec: ContainerSpec
  readonly image: string
  readonly user: string
  readonly command: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly directory: string
  readonly network: Joined
  readonly mounts: ReadonlyArray<Mount>
  readonly labels: Labels
  readonly pids: number
}

const variables = (env: Readonly<Record<string, string>>): Array<string> => Object.entries(env).map(([name, value]) => `${name}=${value}`)

/** The container of an agent. The image's own entrypoint has no part in it, and neither has its health check. */
export const agentContainer = (input: AgentContainer): Docker.ContainerCreateOptions => {
  const { spec } = input
  return {
    Image: input.image,
    Entrypoint: [...input.command],
    Cmd: [],
    Env: variables(input.env),
    WorkingDir: input.directory,
    Labels: { ...input.labels },
    Healthcheck: { Test: ["NONE"] },
    ...(input.user === "" ? {} : { User: input.user }),
    HostConfig: {
      ...limitsOf(spec, input.pids),
      ...(spec.privileged ? privileged : confined),
      ...gpusOf(spec.gpus),
      ...(spec.runtime === undefined ? {} : { Runtime: spec.runtime }),
      // It collects the processes that programs leave behind. A program of the template's own in front of the agent has to be the first process
      Init: spec.entrypoint.length === 0,
      NetworkMode: input.network.mode,
      ExtraHosts: [...input.network.hosts],
      Mounts: mountsOf(input.mounts),
      RestartPolicy: { Name: "unless-stopped" },
      LogConfig: logConfig
    }
  }
}

export interface SidecarContainer {
  readonly spec: SidecarSpec
  readonly image: string
  /** The container whose network it shares. */
  readonly beside: string
  readonly mounts: ReadonlyArray<Mount>
  readonly labels: Labels
  readonly pids: number
}

/** A container beside that of an agent. */
export const sidecarContainer = ({ beside, image, labels, mounts, pids, spec }: SidecarContainer): Docker.ContainerCreateOptions => ({
  Image: image,
  Env: variables(spec.env),
  Labels: { ...labels },
  ...(spec.command.length === 0 ? {} : { Cmd: [...spec.command] }),
  ...(spec.user === undefined ? {} : { User: spec.user }),
  HostConfig: {
    ...limitsOf(spec, pids),
    ...confined,
    NetworkMode: `container:${beside}`,
    Mounts: mountsOf(mounts),
    RestartPolicy: { Name: "unless-stopped" },
    LogConfig: logConfig
  }
})
