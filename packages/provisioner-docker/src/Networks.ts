/** The networks of workspaces, and where their agents reach the service. */
import { Clock, Effect } from "effect"
import { type DaemonError, type DockerDaemon, isConflict } from "./DockerDaemon.js"
import { type Labels, labels } from "./Labels.js"

/** The network of a container, and how it names the machine of the daemon. */
export interface Joined {
  /** As `NetworkMode` of the Docker API. */
  readonly mode: string
  /** The network of the steps of a build. Where containers have the machine's own network for want of a bridge, these steps have none. */
  readonly build: string
  /** Entries of `/etc/hosts`. */
  readonly hosts: ReadonlyArray<string>
  /** Where an agent in this network reaches the service. */
  readonly url: string
}

interface Network {
  readonly name: string
  /** The address of the daemon's machine in it. */
  readonly gateway: string | undefined
}

export interface NetworkOptions {
  readonly deployment: string
  /** Where containers reach the service; absent to derive it from the address that users have. */
  readonly agentUrl: string | undefined
  /** `bridge`, `host`, or the name of a network of the daemon; absent for `bridge` where the daemon has one, and `host` elsewhere. */
  readonly network: string | undefined
}

/** How containers of a bridge name the machine of the daemon, as Docker Desktop does. */
const hostName = "host.docker.internal"

/** Milliseconds for which it is known whether the daemon has a bridge: each start asks. */
const bridgeKept = 60_000

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.(\d+\.){2}\d+$/.test(host) || host.endsWith(".localhost")

/** The address of the service with another host where it names this machine. */
const reachedBy = (accessUrl: string, host: string): string => {
  const url = URL.parse(accessUrl)
  if (url === null || !isLoopback(url.hostname)) return accessUrl
  url.hostname = host
  return url.href.replace(/\/$/, accessUrl.endsWith("/") ? "/" : "")
}

export const makeNetworks = (daemon: DockerDaemon, { agentUrl, deployment, network }: NetworkOptions) => {
  const own = (kind: "workspaces" | "internal"): string => `atelier-${deployment}-${kind}`
  const ownLabels: Labels = { [labels.deployment]: deployment, [labels.part]: "network" }

  const inspect = (name: string): Effect.Effect<Network, DaemonError> =>
    Effect.map(
      daemon.call(`the network ${name} cannot be read`, (docker) => docker.getNetwork(name).inspect()),
      ({ IPAM, Name }) => ({ name: Name, gateway: IPAM?.Config?.find(({ Gateway }) => (Gateway ?? "") !== "")?.Gateway })
    )

  /** Finds a network of the engine, or makes it: workspaces in it do not reach one another. */
  const ensure = (kind: "workspaces" | "internal"): Effect.Effect<Network, DaemonError> => {
    const name = own(kind)
    return inspect(name).pipe(
      Effect.catchIf(
        ({ status }) => status === 404,
        () =>
          daemon
            .call(`the network ${name} cannot be made`, (docker, abortSignal) =>
              docker.createNetwork({
                Name: name,
                Driver: "bridge",
                CheckDuplicate: true,
                Internal: kind === "internal",
                Options: { "com.docker.network.bridge.enable_icc": "false" },
                Labels: { ...ownLabels },
                abortSignal
              })
            )
            .pipe(
              Effect.catchIf(isConflict, () => Effect.void),
              Effect.zipRight(inspect(name))
            )
      )
    )
  }

  let bridge: { readonly isThere: boolean; readonly until: number } | undefined

  const lookForBridge = Effect.map(
    daemon.call("the networks cannot be listed", (docker, abortSignal) =>
      docker.listNetworks({ filters: { name: ["bridge"] }, abortSignal })
    ),
    (networks) => networks.some(({ Driver, Name }) => Name === "bridge" && Driver === "bridge")
  )

  /** A daemon that was started without a bridge gives containers the machine's own network, or none. It may be started otherwise later. */
  const hasBridge = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (bridge !== undefined && now < bridge.until) return bridge.isThere
    const isThere = yield* lookForBridge
    bridge = { isThere, until: now + bridgeKept }
    return isThere
  })

  /** Warns an operator who has not asked for it that containers use the machine's own network. */
  const warn: Effect.Effect<void, DaemonError> = Effect.suspend(() =>
    network === undefined
      ? Effect.flatMap(hasBridge, (isThere) =>
          isThere
            ? Effect.void
            : Effect.logWarning(
                "the Docker daemon has no bridge, so containers use the network of its machine and reach all that listens on its loopback interface; " +
                  "the option network of the docker engine says where they belong"
              )
        )
      : Effect.void
  )

  const onMachine = (accessUrl: string): Joined => ({
    mode: "host",
    build: network === "host" ? "host" : "none",
    hosts: [],
    url: agentUrl ?? accessUrl
  })

  const onBridge = (accessUrl: string, isDefaultThere: boolean) =>
    Effect.map(ensure("workspaces"), ({ gateway, name }): Joined => {
      // Where the machine is a virtual one, the daemon alone knows how its owner is reached
      const host = isDefaultThere ? "host-gateway" : gateway
      return {
        mode: name,
        build: name,
        hosts: host === undefined ? [] : [`${hostName}:${host}`],
        url: agentUrl ?? reachedBy(accessUrl, hostName)
      }
    })

  /** Whether containers that may use the network have the machine's own, and share its ports. */
  const isShared: Effect.Effect<boolean, DaemonError> = Effect.suspend(() =>
    network === undefined ? Effect.map(hasBridge, (isThere) => !isThere) : Effect.succeed(network === "host")
  )

  /** The network of containers that may use the network. */
  const usual = (accessUrl: string): Effect.Effect<Joined, DaemonError> =>
    Effect.gen(function* () {
      if (network !== undefined && network !== "bridge" && network !== "host")
        return { mode: network, build: network, hosts: [], url: agentUrl ?? accessUrl }
      return (yield* isShared) ? onMachine(accessUrl) : yield* onBridge(accessUrl, network === undefined || (yield* hasBridge))
    })

  /** The network of containers that may reach the service alone, at the daemon's machine: nothing leads out of it. */
  const closed = (accessUrl: string): Effect.Effect<Joined, DaemonError> =>
    Effect.map(ensure("internal"), ({ gateway, name }) => ({
      mode: name,
      build: "none",
      hosts: [],
      url: gateway === undefined ? accessUrl : reachedBy(agentUrl ?? accessUrl, gateway)
    }))

  return { usual, closed, isShared, warn }
}

export type Networks = ReturnType<typeof makeNetworks>
