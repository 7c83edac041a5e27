/**
 * The order of the steps. One effect takes every request from its arrival to its route, and every response through its last headers.
 * Groups of endpoints are loaded at their first request; requests to apps leave through the port `AppServer`.
 *
 * - In: a request, with the services of its fiber.
 * - Out: a response that is complete. It never fails.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = [
  "contract",
  "server/codec",
  "server/connection",
  "server/credentials",
  "server/operate",
  "server/request",
  "wire"
]
