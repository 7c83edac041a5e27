import { Loans } from "@atelier/agent-protocol"
import { ServerResponse } from "node:http"
import { Socket } from "node:net"
import { Readable } from "node:stream"

/** A body whose pieces may lie in memory that is used again. Its only reader gives them back once they have left (`Loans`). */
export class LentBody extends Readable {}

/** Whether a response keeps no bytes once the callback of their write is called. The middleware of a host, and a response without a connection, may keep them. */
const sendsItself = ({ socket, write }: ServerResponse): boolean =>
  write === ServerResponse.prototype.write && socket instanceof Socket && socket.write === Socket.prototype.write

const giveBackOnce =
  ({ buffer, length }: Uint8Array) =>
  (error?: Error | null): void => {
    // The connection may still read bytes that have not left
    if (error === undefined || error === null) Loans.giveBack(buffer, length)
  }

const keep = (): undefined => undefined

/** Returns how a response gives back bytes once it has sent them. */
export const givesBack = (response: ServerResponse): ((bytes: Uint8Array) => ((error?: Error | null) => void) | undefined) =>
  sendsItself(response) ? giveBackOnce : keep
