/** Where this area's groups of endpoints are implemented. */
export const area = {
  insights: async () => (await import("./insights.js")).insights,
  diagnostics: async () => (await import("./diagnostics.js")).diagnostics
}
