/** The names of this machine, and how they are resolved. Every connection of the agent over the network uses `resolving`. */
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"

/** Names below `localhost`, which the system's resolver may not know although they mean this machine (RFC 6761 §6.3). */
const isBelowLocalhost = (hostname: string): boolean => /\.localhost\.?$/i.test(hostname)

/** Whether a URL's host is this machine's loopback interface. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || isBelowLocalhost(hostname) || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname)

const loopback: LookupFunction = (_, options, done) => lookup("localhost", options, done)

/** The options of a request or a WebSocket that resolve names below `localhost` to the loopback address. */
export const resolving = ({ hostname }: URL): { readonly lookup?: LookupFunction } =>
  isBelowLocalhost(hostname) ? { lookup: loopback } : {}
