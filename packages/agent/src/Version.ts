/** The agent's version, reported as `v…` when it connects. */
export const version = "0.1.0"

/** The RPC interface asked for: the oldest that has every call made here, so that older servers serve it too. Spec: agents-and-apps.md §13. */
export const rpcVersion = "2.8"
