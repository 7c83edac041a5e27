/** How the cluster is reached, and who the engine is for it: a kubeconfig, or the service account of the Pod that the server runs in. */
import { KubeConfig } from "@kubernetes/client-node"
import { reasonOf } from "@atelier/core/platform"
import { Clock, Effect } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { ClusterError, silence } from "./ClusterError.js"

export interface ConnectionOptions {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}

/** What a request needs beside its path. */
export interface Access {
  readonly server: URL
  readonly headers: http.OutgoingHttpHeaders
  readonly agent: http.Agent
}

export interface Connection {
  /** The namespace of the kubeconfig's context or of the server's own Pod; undefined where none is named. */
  readonly namespace: string | undefined
  readonly access: Effect.Effect<Access, ClusterError>
  /** Forgets the credentials, so that they are read again: the cluster refused them. */
  readonly renew: Effect.Effect<void>
}

/** Credentials are read again after this time: files of tokens and certificates are replaced while the server runs. */
const validity = 60_000

/** A program that a kubeconfig names for its credentials may never end. */
const longestLogin = "20 seconds"

const configOf = ({ context, kubeconfig }: ConnectionOptions): KubeConfig => {
  const config = new KubeConfig()
  if (kubeconfig === undefined) config.loadFromDefault()
  else config.loadFromFile(kubeconfig)
  if (context !== undefined) {
    if (config.getContextObject(context) === null) throw new Error(`it has no context ${JSON.stringify(context)}`)
    config.setCurrentContext(context)
  }
  return config
}

/** The parts of an agent's options that tell two of them apart. */
const identityOf = ({ ca, cert, key, rejectUnauthorized, servername }: https.RequestOptions): string =>
  [ca, cert, key, rejectUnauthorized, servername].map(String).join("\n")

/** Reads the kubeconfig. Fails if it cannot be read, or names no cluster. */
export const connect = (options: ConnectionOptions): Effect.Effect<Connection, ClusterError> =>
  Effect.gen(function* () {
    const named = options.kubeconfig ?? "the kubeconfig"
    const config = yield* Effect.try({
      try: () => configOf(options),
      catch: (cause) => new ClusterError({ message: `${named} cannot be used: ${reasonOf(cause)}`, status: 0, reason: "" })
    })
    const cluster = config.getCurrentCluster()
    if (cluster === null) return yield* new ClusterError({ message: `${named} names no cluster`, status: 0, reason: "" })
    const server = new URL(cluster.server)
    let kept: { readonly access: Access; readonly identity: string; readonly until: number } | undefined

    const read = Effect.tryPromise({
      try: async () => {
        const found: https.RequestOptions = {}
        await config.applyToHTTPSOptions(found)
        return found
      },
      catch: (cause) => silence("accept the engine", reasonOf(cause))
    }).pipe(Effect.timeoutFail({ duration: longestLogin, onTimeout: () => silence("accept the engine", "its credentials took too long") }))

    const agentOf = (found: https.RequestOptions, identity: string): http.Agent => {
      if (cluster.proxyUrl !== undefined && found.agent instanceof http.Agent) return found.agent
      if (kept?.identity === identity) return kept.access.agent
      const { ca, cert, key, rejectUnauthorized, servername } = found
      const tls = {
        ca,
        cert,
        key,
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
        ...(servername ? { servername } : {})
      }
      return server.protocol === "http:" ? new http.Agent({ keepAlive: true }) : new https.Agent({ keepAlive: true, ...tls })
    }

    const access = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (kept !== undefined && now < kept.until) return kept.access
      const found = yield* read
      const identity = identityOf(found)
      const basic = typeof found.auth === "string" ? { Authorization: `Basic ${Buffer.from(found.auth).toString("base64")}` } : {}
      const { agent } = { agent: agentOf(found, identity) }
      kept = { access: { server, headers: { ...basic, ...Object(found.headers) }, agent }, identity, until: now + validity }
      return kept.access
    })

    return {
      namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? undefined,
      access,
      renew: Effect.sync(() => {
        if (kept !== undefined) kept = { ...kept, until: 0 }
      })
    }
  })
