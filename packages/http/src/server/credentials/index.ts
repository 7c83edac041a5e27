/**
 * Who sends a request. Reads credentials, proofs and cookies, asks core's sessions for the user, and refuses forged requests.
 *
 * - In: a request with its `RequestInfo`.
 * - Out: the actor or the reason why a request has no actor, and the cookies that a browser gets.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = ["contract", "server/request", "wire"]
