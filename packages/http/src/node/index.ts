/** A Node server for the interface alone. */
export { makeSecureServer, makeServer } from "./makeServer.js"
export { refuseMalformed } from "./refuseMalformed.js"
export { serverOptions } from "./serverOptions.js"
