/** A daemon of another program, as far as it is needed to talk. */
import { DrpcClient, type ProvisionerDaemonClient, ProvisionerDaemonService, Session } from "@atelier/agent-protocol"
import { Effect, Exit, Schema, Scope, Stream } from "effect"
import { connect, emptyTraffic } from "../../../../agent/src/connection/WebSocketTransport.js"
import type { AgentServer } from "../../agents/AgentServer.js"

type Acquired = Effect.Effect.Success<ReturnType<ProvisionerDaemonClient["AcquireJob"]>>

export const keyHeader = "Service-Provisioner-Daemon-Key"

/** A new key of an organization. */
export const aKey = async (
  server: AgentServer,
  name: string,
  tags: Readonly<Record<string, string>>,
  organization = "default"
): Promise<string> =>
  (await server.call("POST", `/organizations/${organization}/provisionerkeys`, { token: server.owner().token, body: { name, tags } })).as(
    Schema.Struct({ key: Schema.String })
  ).key

export const aDaemon = async (url: string, headers: Readonly<Record<string, string>>, query: string, organization = "default") => {
  const scope = Effect.runSync(Scope.make())
  const session = await Effect.gen(function* () {
    const transport = yield* connect({
      url: new URL(
        `${url.replace("http", "ws")}/api/v2/organizations/${organization}/provisionerdaemons/serve?provisioner=terraform${query}`
      ),
      headers,
      traffic: emptyTraffic()
    })
    return yield* Session.make(transport, { role: "client" })
  }).pipe(Scope.extend(scope), Effect.runPromise)
  const calls = DrpcClient.make(ProvisionerDaemonService, session)
  return {
    calls,
    session,
    closed: Effect.runPromise(Effect.ignore(session.closed)),
    /** Waits for a job, with the stream of requests open. */
    acquire: (): Promise<Acquired> => Effect.runPromise(Effect.flatten(Stream.runHead(calls.AcquireJobWithCancel(Stream.never)))),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
