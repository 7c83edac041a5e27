import { ServerResponse } from "node:http"

/** A method of Node's responses, if its source has a word that only Node uses there: a tool may have replaced the method before this module was loaded. */
const own = (name: string, word: string): unknown => {
  const method: unknown = Reflect.get(ServerResponse.prototype, name)
  return typeof method === "function" && Function.prototype.toString.call(method).includes(word) ? method : undefined
}

/**
 * The methods that Node itself gives to responses. A host, its middleware or a tool that replaces one wants to see what passes the method, which then has to be called. One that is
 * undefined here equals no method.
 */
export const ownMethods = {
  /** Undefined from Node 24 on, which keeps in a field of its own whether a response is finished: only its own method may end one there. */
  end: own("end", "ERR_STREAM_ALREADY_FINISHED"),
  write: own("write", "write_(this"),
  writeHead: own("writeHead", "ERR_HTTP_HEADERS_SENT"),
  setHeader: own("setHeader", "ERR_HTTP_HEADERS_SENT"),
  send: own("_send", "this._headerSent"),
  writeRaw: own("_writeRaw", "this._flushOutput"),
  storeHeader: own("_storeHeader", "this._removedConnection")
}
