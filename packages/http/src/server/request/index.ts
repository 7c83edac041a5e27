/**
 * What is true of a request before anyone knows who sends it: its target, its client's address, its size, its limits, the origin it comes
 * from. `CurrentRequest` carries the findings.
 *
 * - In: the head and the body of a request, and the settings.
 * - Out: fields of `RequestInfo`, or the refusal.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = ["server/codec", "server/connection", "server/operate", "wire"]
