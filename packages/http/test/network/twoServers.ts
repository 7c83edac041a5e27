/** Two servers of one deployment. */
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Exit, Scope } from "effect"
import type { ServerOptions } from "../../../../test/http/server.js"
import { databaseUrl } from "../../../../test/store/databases.js"
import { type AgentServer, startAgentServer } from "../agents/AgentServer.js"
import { address } from "./address.js"

export interface TwoServers {
  readonly near: AgentServer
  readonly far: AgentServer
  /** Breaks off the connections between them. They can make new ones. */
  readonly cut: () => void
  /** Ends the far server as the end of its machine does: its connections break off first. */
  readonly loseFar: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts two servers on one database, which reach each other. */
export const startTwoServers = async (given: ServerOptions = {}): Promise<TwoServers> => {
  const scope = Effect.runSync(Scope.make())
  const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
  const ways = [await address(), await address()] as const
  const start = (at: 0 | 1, empty: boolean) =>
    startAgentServer(Postgres.layer({ url, maxConnections: 3 }), {
      ...given,
      empty,
      options: { ...given.options, derpServerRelayUrl: ways[at].url }
    })
  const near = await start(0, false)
  const far = await start(1, true)
  ways[0].leadTo(near)
  ways[1].leadTo(far)
  return {
    near,
    far,
    cut: () => {
      for (const way of ways) way.cut()
    },
    loseFar: async () => {
      ways[1].cut()
      await far.atelier.dispose()
    },
    close: async () => {
      await Promise.all([near.close(), far.close()])
      for (const way of ways) way.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
