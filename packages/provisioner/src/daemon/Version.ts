/** The daemon's version, which it tells when it connects. */
export const version = "0.1.0"

/** Major and minor number of the oldest Node that runs the daemon, as in the package's `engines`. */
export const leastNode = [20, 19] as const

/** The protocol's version that the daemon speaks. templates-and-provisioning.md §8. */
export const apiVersion = "1.18"
