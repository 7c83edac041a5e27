/** Where this area's groups of endpoints are implemented. */
export const area = {
  tasks: async () => (await import("./tasks.js")).tasks,
  taskSnapshots: async () => (await import("./tasks.js")).taskSnapshots
}
