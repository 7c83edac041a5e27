/** Where this area's groups of endpoints are implemented. */
export const area = {
  files: async () => (await import("./files.js")).files,
  processes: async () => (await import("./processes.js")).processes,
  ssh: async () => (await import("./ssh.js")).ssh
}
