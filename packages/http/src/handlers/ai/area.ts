/** Where this area's groups of endpoints are implemented. */
export const area = {
  aiSpendExport: async () => (await import("./aiBudgets.js")).aiSpendExport,
  groupAiBudgets: async () => (await import("./aiBudgets.js")).groupAiBudgets,
  organizationAiSpend: async () => (await import("./aiBudgets.js")).organizationAiSpend,
  userAiBudgets: async () => (await import("./aiBudgets.js")).userAiBudgets,
  aiProviders: async () => (await import("./aiProviders.js")).aiProviders
}
