// Prints the memory that a peer takes in the coordinator, in bytes: pairs of a client and an agent, each of which has announced a node and been
// told of the other's. What its connection takes is not counted. Run with --expose-gc.
import { Coordinator } from "@atelier/core/network"
import { Effect } from "effect"
import { randomBytes, randomUUID } from "node:crypto"

const pairs = 2500

/** Bytes of a node as existing clients announce it. */
const nodeLength = 400

const nodeOf = () => {
  const addresses = [`fd7a:115c:a1e0:${randomBytes(10).toString("hex").match(/.{4}/g).join(":")}/128`]
  return { addresses, allowed_ips: addresses, content: randomBytes(nodeLength) }
}

const policy = { refuseNode: () => undefined, openTunnel: () => Effect.succeed(undefined), mayBeReady: true }

const nothing = { disconnects: false, readyFor: [] }

const heapUsed = Effect.promise(async () => {
  for (let round = 0; round < 3; round++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage()
})

const meet = (coordinator) =>
  Effect.gen(function* () {
    const [clientId, agentId] = [randomUUID(), randomUUID()]
    const agent = yield* coordinator.connect(agentId, policy)
    const client = yield* coordinator.connect(clientId, policy)
    yield* agent.handle({ ...nothing, node: nodeOf() })
    yield* client.handle({ ...nothing, node: nodeOf(), addTunnel: agentId })
    yield* agent.handle({ ...nothing, readyFor: [clientId] })
  })

await Effect.gen(function* () {
  const coordinator = yield* Coordinator
  yield* meet(coordinator)
  const before = yield* heapUsed
  for (let pair = 0; pair < pairs; pair++) yield* meet(coordinator)
  const after = yield* heapUsed
  const taken = after.heapUsed + after.external - before.heapUsed - before.external
  console.log(JSON.stringify({ peers: 2 * pairs, bytesPerPeer: taken / (2 * pairs) }))
}).pipe(Effect.scoped, Effect.provide(Coordinator.layer), Effect.runPromise)
