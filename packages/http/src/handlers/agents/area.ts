/** Where this area's groups of endpoints are implemented. */
export const area = {
  agents: async () => (await import("./agents.js")).agents,
  instanceIdentities: async () => (await import("./instanceIdentities.js")).instanceIdentities,
  ownAgent: async () => (await import("./ownAgent.js")).ownAgent,
  terminals: async () => (await import("./terminals.js")).terminals
}
