/** Where this area's groups of endpoints are implemented. */
export const area = {
  processes: async () => (await import("./processes.js")).processes
}
