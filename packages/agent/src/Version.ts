/** The agent's version, reported as `v…` when it connects. */
export const version = "0.1.0"

/** Major and minor number of the oldest Node that runs the agent, as in the package's `engines`. */
export const leastNode = [20, 19] as const

/** The RPC interface asked for: the oldest that has every call made here, so that older servers serve it too. Spec: agents-and-apps.md §13. */
export const rpcVersion = "2.8"
