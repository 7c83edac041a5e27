/** TCP over IPv6 without the operating system, for connections through a tunnel. agents-and-apps.md §17. */
export { bufferLength, type Connection, type EndReason } from "./Connection.js"
export { Host, type HostOptions } from "./Host.js"
