import { generateKeyPairSync } from "node:crypto"
import { ReverseStream, type Session } from "@atelier/agent-protocol"
import { Effect, type Scope } from "effect"
import ssh2, { type Client } from "ssh2"
import { streamSocket } from "../../src/streams/serveStream.js"

/** An ECDSA key in a form that the library reads. */
const host_key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "sec1", format: "pem" }).toString()

/** Connects a client of the library that the server is made with. */
export const connect = (
  session: Session.Session,
  request: Partial<ReverseStream.SshRequest> = {}
): Effect.Effect<Client, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const stream = yield* ReverseStream.open(session, { kind: "ssh", host_key, ...request })
    const sock = yield* streamSocket(stream)
    const client = new ssh2.Client()
    yield* Effect.addFinalizer(() => Effect.sync(() => client.destroy()))
    yield* Effect.async<void, Error>((resume) => {
      client.on("error", (error) => resume(Effect.fail(error)))
      client.once("ready", () => resume(Effect.void))
      client.connect({ sock, username: "anyone" })
    })
    return client
  })
