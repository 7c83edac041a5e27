import { Loans } from "@atelier/agent-protocol"
import { ServerResponse } from "node:http"
import { Socket } from "node:net"
import { type Duplex, Readable } from "node:stream"

/** A body whose pieces may lie in memory that is used again. Its only reader gives them back once they have left (`Loans`). */
export class LentBody extends Readable {}

/** What Node itself has: a tool that replaces them may keep what is written. */
const { write: writeResponse } = ServerResponse.prototype
const { write: writeSocket } = Socket.prototype

/** Whether a response keeps no bytes once the callback of their write is called. The middleware of a host, and a response without a connection, may keep them. */
const sendsItself = ({ socket, write }: ServerResponse): boolean =>
  write === writeResponse && socket instanceof Socket && socket.write === writeSocket

const giveBackOnce =
  ({ buffer, length }: Uint8Array) =>
  (error?: Error | null): void => {
    // The connection may still read bytes that have not left
    if (error === undefined || error === null) Loans.giveBack(buffer, length)
  }

/** Whether a connection may keep bytes that it has sent: the host has made it, or has replaced its method. */
export const mayKeep = (connection: Duplex): boolean => !(connection instanceof Socket && connection.write === writeSocket)

/** Returns what a connection is to call once it has sent bytes, which gives them back. */
export const givesBackFrom =
  (connection: Duplex) =>
  (bytes: Uint8Array): ((error?: Error | null) => void) | undefined =>
    mayKeep(connection) ? undefined : giveBackOnce(bytes)

/** Returns what a response is to call once it has sent bytes, which gives them back. It is asked for each piece: a host may replace methods with the head. */
export const givesBack =
  (response: ServerResponse) =>
  (bytes: Uint8Array): ((error?: Error | null) => void) | undefined =>
    sendsItself(response) ? giveBackOnce(bytes) : undefined
