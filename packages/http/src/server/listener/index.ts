/**
 * The edge to Node and to hosts in fetch style. Runs the pipeline for each request in one fiber, writes the answers of one turn together,
 * and waits for all of them at the end.
 *
 * - In: `request` and `upgrade` events, or a `Request`.
 * - Out: bytes on the connection, or a `Response`.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = ["server/connection", "server/operate", "server/pipeline"]
