/** Where this area's groups of endpoints are implemented. */
export const area = {
  network: async () => (await import("./network.js")).network,
  relay: async () => (await import("./relay.js")).relay
}
