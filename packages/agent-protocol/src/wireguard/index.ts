/** WireGuard, the protocol by which peers of the private network speak to each other. agents-and-apps.md §17. */
export { type Ciphers } from "./Ciphers.js"
export { Tunnel, type TunnelOptions } from "./Tunnel.js"
