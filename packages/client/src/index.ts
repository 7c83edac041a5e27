/** The client for every application. Each area is a module, and each of its functions is one operation. */
export { AtelierError, type Validation } from "./AtelierError.js"
export type { Bytes, CallOptions } from "./call.js"
export { type Client, type ClientOptions, createClient, type Fetch } from "./Client.js"
export * from "./generated/index.js"
export { type ItemOf, type Page, type PageInput, paginate } from "./paginate.js"
export type { Close, Socket, SocketMessage } from "./sockets.js"
export type { StreamOptions } from "./stream.js"
export type { SocketConstructor, WebSocketLike } from "./WebSocketLike.js"
