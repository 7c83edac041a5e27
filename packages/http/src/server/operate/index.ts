/**
 * What operators see of the service, and how it ends: readiness, metrics, failures of the store, heartbeats of streams, draining.
 *
 * - In: the state of the store, of the process and of open requests.
 * - Out: answers of the health endpoints, series of metrics, log lines, and the order of the end.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = ["wire"]
