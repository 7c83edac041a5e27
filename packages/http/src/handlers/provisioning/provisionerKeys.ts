import { DrpcServer, Session } from "@atelier/agent-protocol"
import { requireFeature } from "@atelier/core/deployment"
import { Invalid, Unauthenticated } from "@atelier/core/platform"
import { type ProvisionerKey, ProvisionerKeys, RemoteDaemons } from "@atelier/core/provisioning"
import { Effect, Redacted, Struct } from "effect"
import { connectionLimits } from "../../agentRpc/Connections.js"
import { Brand } from "../../wire/Brand.js"
import { Caller } from "../../contract/authentication.js"
import * as contract from "../../contract/provisioning/provisionerKeys.js"
import * as DaemonHandlers from "../../daemonRpc/DaemonHandlers.js"
import { byteStreamSocket } from "../../sockets/byteStream.js"
import * as Handlers from "../Handlers.js"

const keyView = ({ created_at, id, name, organization_id, tags }: ProvisionerKey) => ({
  id,
  created_at,
  organization: organization_id,
  name,
  tags
})

/** How long a daemon whose key was deleted stays connected after its last job. */
const answerTime = "500 millis"

const licensed = requireFeature("external_provisioner_daemons")

export const provisionerKeys = Handlers.group(contract.provisionerKeys, (handlers) =>
  Effect.gen(function* () {
    const keys = yield* ProvisionerKeys
    const daemons = yield* RemoteDaemons
    const { buildVersionHeader, provisionerKeyHeader, provisionerPskHeader } = yield* Brand

    return handlers
      .handle("createProvisionerKey", ({ path, payload }) =>
        Effect.gen(function* () {
          yield* licensed
          return { key: Redacted.value(yield* keys.create(path.organization, payload.name, payload.tags)) }
        })
      )
      .handle("listProvisionerKeys", ({ path }) =>
        Effect.zipRight(
          licensed,
          Effect.map(keys.list(path.organization), (found) => found.map(keyView))
        )
      )
      .handle("listProvisionerKeyDaemons", ({ path }) =>
        Effect.zipRight(
          licensed,
          Effect.map(keys.withDaemons(path.organization), (found) =>
            found.map(({ daemons, key }) => ({
              key: keyView(key),
              daemons: daemons.map(({ last_seen_at, ...daemon }) => ({
                ...Struct.omit(daemon, "current_job_id", "previous_job_id"),
                ...(last_seen_at === null ? {} : { last_seen_at }),
                key_name: null,
                status: null,
                current_job: null,
                previous_job: null
              }))
            }))
          )
        )
      )
      .handle("deleteProvisionerKey", ({ path }) => Effect.zipRight(licensed, keys.delete(path.organization, path.provisionerkey)))
      .handle("getProvisionerKey", ({ request }) =>
        Effect.gen(function* () {
          yield* licensed
          const secret = request.headers[provisionerKeyHeader.toLowerCase()]
          const shared = request.headers[provisionerPskHeader.toLowerCase()]
          if (secret === undefined || secret === "") return yield* new Unauthenticated({ message: "A provisioner key is needed." })
          if (shared !== undefined)
            return yield* new Invalid({ message: "A provisioner key and a pre-shared key cannot be given together." })
          return keyView(yield* keys.authenticate(Redacted.make(secret)))
        })
      )
      .handle("serveProvisionerDaemon", ({ path, request, urlParams: { engine, name, provisioner, repeatable, tag, version } }) =>
        Effect.gen(function* () {
          const header = (named: string) => request.headers[named.toLowerCase()]
          const admitted = yield* daemons.admit(
            path.organization,
            yield* Caller,
            { key: header(provisionerKeyHeader), shared: header(provisionerPskHeader) },
            {
              name,
              provisioners: provisioner,
              tags: tag.map((written) => {
                const at = written.indexOf("=")
                return at < 0 ? [written, undefined] : [written.slice(0, at), written.slice(at + 1)]
              }),
              version: header(buildVersionHeader) ?? "",
              api_version: version,
              repeatable,
              engines: engine
            }
          )
          return yield* byteStreamSocket(request, admitted.right, (transport) =>
            Effect.gen(function* () {
              const session = yield* Session.make(transport, { role: "server", ...connectionLimits })
              const service = yield* DaemonHandlers.make(yield* daemons.connect(admitted))
              yield* Effect.raceFirst(
                DrpcServer.serveSession(session, service, connectionLimits),
                // The answer to the report that ended the last job goes first
                Effect.zipRight(admitted.dismissed, Effect.sleep(answerTime))
              )
            }).pipe(
              Effect.scoped,
              // The socket is closed with the reason
              Effect.catchTag("SessionEnded", ({ message, reason }) =>
                reason === "protocol"
                  ? Effect.logWarning(`a provisioner daemon was disconnected: ${message}`, { daemon: admitted.daemon.name })
                  : Effect.void
              )
            )
          )
        })
      )
  })
)
