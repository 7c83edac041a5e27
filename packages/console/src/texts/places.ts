/** The names of places, which the sidebar shows: the first load has no other texts of the areas. */
export const placesText = {
  workspaces: "Workspaces",
  tasks: "Tasks",
  templates: "Templates",
  users: "Users",
  organizations: "Organizations",
  audit: "Audit log",
  connections: "Connections",
  insights: "Insights",
  deployment: "Deployment",
  settings: "Settings"
}
