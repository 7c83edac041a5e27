/** Texts of templates. */
export const startersText = {
  title: "Starter templates",
  description: "Templates to begin with. Each is a copy that you can change later.",
  add: "Add a template",
  dialogTitle: (name: string) => `Add ${name}`,
  dialogText: "The template is imported, and then users of the organization can make workspaces from it.",
  name: "Name",
  nameHint: "Lowercase letters, digits and hyphens.",
  displayName: "Display name",
  organization: "Organization",
  import: "Add template",
  importOf: (name: string) => `Add template ${name}`,
  log: "Import",
  added: (name: string) => `${name} was added`,
  failed: "The import failed",
  canceled: "The import was cancelled.",
  none: "No starter template",
  noneHint: "This deployment offers none. The command line adds templates from a folder."
}
