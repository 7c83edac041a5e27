/**
 * What a request still knows of the connection that it came on: the request of Node, the body that is written by its endpoint, the
 * upgrade to another protocol.
 *
 * - In: requests and sockets of Node.
 * - Out: what endpoints do with a connection beside answering.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = []
