/** One client's connection, as its channels share it. */
import type { Duplex } from "node:stream"
import type { Connection, ServerChannel } from "ssh2"
import type { Host, Options } from "./Host.js"
import { maximumChannels, Places } from "./Limits.js"

export interface Client {
  readonly connection: Connection
  readonly socket: Duplex
  readonly host: Host
  readonly options: Options
  readonly channels: Places
  /** Is called when the connection ends, unless it was taken back before. */
  readonly onEnd: (end: () => void) => () => void
}

export const makeClient = (connection: Connection, socket: Duplex, options: Options): Client => {
  const ends = new Set<() => void>()
  socket.once("close", () => {
    for (const end of ends) end()
    ends.clear()
  })
  return {
    connection,
    socket,
    options,
    host: options.host,
    channels: new Places(maximumChannels),
    onEnd: (end) => {
      ends.add(end)
      return () => void ends.delete(end)
    }
  }
}

/** Opens a channel to the client. Calls back with nothing where the client takes none, or too many are open. */
export const openChannel = (
  { channels }: Client,
  open: (done: (error: Error | undefined, channel: ServerChannel) => void) => void,
  opened: (channel: ServerChannel | undefined, leave: () => void) => void
): void => {
  const leave = channels.take()
  if (leave === undefined) return opened(undefined, () => undefined)
  open((error, channel) => {
    if (error === undefined) return opened(channel, leave)
    leave()
    opened(undefined, leave)
  })
}
