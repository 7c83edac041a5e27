/** Where this area's groups of endpoints are implemented. */
export const area = {
  members: async () => (await import("./members.js")).members,
  organizations: async () => (await import("./organizations.js")).organizations
}
