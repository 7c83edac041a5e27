/** Texts of workspaces. */
export const workspacesText = {
  title: "Workspaces",
  description: "Development environments that run where your code should."
}
