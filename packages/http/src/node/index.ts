/** A Node server for the interface alone. */
export { makeServer } from "./makeServer.js"
export { refuseMalformed } from "./refuseMalformed.js"
export { serverOptions } from "./serverOptions.js"
