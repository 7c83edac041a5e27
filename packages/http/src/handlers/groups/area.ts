/** Where this area's groups of endpoints are implemented. */
export const area = {
  groups: async () => (await import("./groups.js")).groups,
  organizationGroups: async () => (await import("./groups.js")).organizationGroups
}
