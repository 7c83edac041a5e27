/** The current relay map. agents-and-apps.md §12. */
import { Context, Effect, ParseResult, Schedule, Schema, Stream } from "effect"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { optionName } from "../deployment/options/Configuration.js"
import { ProxyHealth } from "../deployment/proxies/ProxyHealth.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import { StartError } from "../platform/wiring/StartError.js"
import { isSameMap, RelayMap, relayMapOf, withProxies } from "./RelayMap.js"

/** Port: the text of the map that an operator keeps in a file or at an address. Fails with `StartError`, which names neither. */
export class RelayMapSource extends Context.Reference<RelayMapSource>()("@atelier/core/RelayMapSource", {
  defaultValue: (): {
    readonly readFile: (path: string) => Effect.Effect<string, Error>
    readonly fetch: (url: string) => Effect.Effect<string, Error>
  } => ({
    readFile: () => Effect.fail(new Error("no files can be read here")),
    fetch: () => Effect.fail(new Error("no addresses can be read here"))
  })
}) {}

const refused = (flag: string, value: string, reason: string): StartError =>
  new StartError({ option: `options.${optionName(flag)}`, ...(value === "" ? {} : { value }), reason })

const Text = Schema.parseJson(RelayMap)

/** How often proxies are looked at. */
const lookEvery = "5 seconds"

/** How clients connect to agents. */
export interface ConnectionSettings {
  readonly hostname_suffix?: string
  readonly derp_force_websockets: boolean
  readonly disable_direct_connections: boolean
}

/** How clients connect to agents, with the map of relays. */
export interface ConnectionInfo extends ConnectionSettings {
  readonly derp_map: RelayMap
}

/** The methods of {@link RelayMaps}. */
export interface RelayMapsService {
  /** The deployment's own map, without the relays of its proxies. */
  readonly own: RelayMap

  /** The map in force. */
  readonly current: Effect.Effect<RelayMap>

  /** The current map, and then each new one. */
  readonly changes: Stream.Stream<RelayMap>

  readonly connectionSettings: ConnectionSettings

  /** What a client needs to know before it connects to an agent. */
  readonly connectionInfo: Effect.Effect<ConnectionInfo>
}

const make = Effect.gen(function* () {
  const { relaying } = yield* ProxyHealth
  const options = yield* DeploymentOptions
  const source = yield* RelayMapSource

  const read = (flag: string, place: string, text: Effect.Effect<string, Error>) =>
    text.pipe(
      Effect.flatMap(Schema.decode(Text)),
      Effect.mapError((error) =>
        refused(
          flag,
          place,
          ParseResult.isParseError(error)
            ? `is no relay map: ${ParseResult.TreeFormatter.formatErrorSync(error).slice(0, 200)}`
            : error.message
        )
      )
    )
  const { derpConfigPath: path, derpConfigUrl: url } = options
  const configured =
    path !== ""
      ? yield* read("derp-config-path", path, source.readFile(path))
      : url !== ""
        ? yield* read("derp-config-url", url, source.fetch(url))
        : undefined
  const map = yield* Effect.mapError(relayMapOf(options, configured), ({ option, reason }) => refused(option, "", reason))
  if (Object.keys(map.Regions).length === 0) {
    yield* Effect.logWarning("the deployment has no relay: workspaces are reached by direct connections alone")
  }

  const current = Effect.map(relaying, (proxies) => (proxies.length === 0 ? map : withProxies(map, options.brand, proxies)))

  const connectionSettings = {
    derp_force_websockets: options.derpForceWebsockets,
    disable_direct_connections: options.blockDirectConnections,
    ...(options.workspaceHostnameSuffix === "" ? {} : { hostname_suffix: options.workspaceHostnameSuffix })
  }

  return {
    own: map,

    current,

    changes: Stream.repeatEffectWithSchedule(current, Schedule.spaced(lookEvery)).pipe(Stream.changesWith(isSameMap)),

    connectionSettings,

    connectionInfo: Effect.map(current, (derp_map) => ({ derp_map, ...connectionSettings }))
  }
})

export class RelayMaps extends Context.Tag("@atelier/core/RelayMaps")<RelayMaps, RelayMapsService>() {
  static readonly layer = standingOn(service(RelayMaps, make), ProxyHealth.layer)
}
