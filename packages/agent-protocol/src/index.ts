/**
 * The wire between Atelier and its workspace agents, from the byte connection up:
 * a `Transport` carries a yamux `Session`, whose streams carry DRPC calls of the services `AgentService` and `TailnetService`, whose messages are protobuf.
 *
 * @example
 * // server, on an accepted socket:
 * const session = yield* Session.make(transport, { role: "server" })
 * yield* DrpcServer.serveSession(session, Router.make(AgentService, handlers))
 *
 * // agent:
 * const session = yield* Session.make(transport, { role: "client" })
 * const agent = DrpcClient.make(AgentService, session)
 * const manifest = yield* agent.GetManifest({})
 */
export { makePauses, payloadsOf, TransportError, type Transport } from "./Transport.js"
export { binaryFrames, BinaryMessages, takeBinary, writeTogether } from "./websocket/BinaryMessages.js"
export * as Loans from "./Loans.js"
export type { ByteStream, DirectStream } from "./ByteStream.js"
export { type SocketOptions, socketOptions } from "./SocketOptions.js"

export * as Frame from "./yamux/Frame.js"
export * as Session from "./yamux/Session.js"
export type { YamuxStream } from "./yamux/YamuxStream.js"
export { PingTimeout, SessionEnded, StreamReset, type EndReason, type StreamError } from "./yamux/YamuxError.js"

export * as DrpcClient from "./drpc/DrpcClient.js"
export * as DrpcServer from "./drpc/DrpcServer.js"
export * as Packet from "./drpc/Packet.js"
export * as Router from "./drpc/Router.js"
export * as Service from "./drpc/Service.js"
export { CallFailed, RpcError, unimplementedCode } from "./drpc/RpcError.js"

export * as AgentMessages from "./messages/Agent.js"
export * as TailnetMessages from "./messages/Tailnet.js"
export * as ProvisionerMessages from "./messages/Provisioner.js"
export * as Protobuf from "./messages/Protobuf.js"
export * as Duration from "./messages/Duration.js"
export * as Timestamp from "./messages/Timestamp.js"
export { BoolValue, Empty, FloatValue } from "./messages/Wrappers.js"
export { Struct, type JsonObject, type JsonValue } from "./messages/Struct.js"

export { AgentService, type AgentClient, type AgentHandlers } from "./AgentService.js"
export { ProvisionerDaemonService, type ProvisionerDaemonClient, type ProvisionerDaemonHandlers } from "./ProvisionerDaemonService.js"
export { TailnetService, type TailnetClient, type TailnetHandlers } from "./TailnetService.js"
export * as FileTransfer from "./FileTransfer.js"
export * as Uuid from "./Uuid.js"
export * as Version from "./Version.js"
export * as Pty from "./Pty.js"
export * as ReverseStream from "./ReverseStream.js"
export * as StartNotice from "./StartNotice.js"
export * as TokenOffer from "./TokenOffer.js"
export * as Relay from "./relay/index.js"
export * as Tcp from "./tcp/index.js"
export * as WireGuard from "./wireguard/index.js"
