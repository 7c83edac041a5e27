/** Where this area's groups of endpoints are implemented. */
export const area = {
  groups: async () => (await import("./groups.js")).groups,
  organizationGroups: async () => (await import("./groups.js")).organizationGroups,
  aiSpendExport: async () => (await import("./aiBudgets.js")).aiSpendExport,
  groupAiBudgets: async () => (await import("./aiBudgets.js")).groupAiBudgets,
  organizationAiSpend: async () => (await import("./aiBudgets.js")).organizationAiSpend,
  userAiBudgets: async () => (await import("./aiBudgets.js")).userAiBudgets
}
