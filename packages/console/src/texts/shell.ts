/** Texts of the frame around all screens. */
export const shellText = {
  navigation: "Main navigation",
  open: "Open navigation",
  close: "Close navigation",
  collapse: "Collapse sidebar",
  expand: "Expand sidebar",
  skip: "Skip to content",
  search: "Search or jump to…",
  allOrganizations: "All organizations",
  organization: "Organization",
  account: "Account",
  signedInAs: (name: string) => `Signed in as ${name}`,
  theme: "Theme",
  themeOf: (name: string) => `Theme: ${name}`,
  light: "Light",
  dark: "Dark",
  system: "System",
  signOut: "Sign out",
  documentation: "Documentation",
  keyboard: "Keyboard shortcuts",
  create: "New workspace",
  lost: "Connection lost. Trying again…",
  partsLost: "The server has a newer version of the console. Save or copy what you typed, then reload the page.",
  sessionOver: "Your session has ended. What you typed is still here.",
  signIn: "Sign in in another window",
  notFound: "There is nothing at this address",
  notFoundHint: "It may have been deleted or renamed, or the address may have a mistake.",
  home: "Go to workspaces",
  about: "About",
  version: (version: string) => `Version ${version}`
}

export const navigationText = { administration: "Administration" }

export const inboxText = {
  title: "Notifications",
  unread: (count: number) => (count === 0 ? "Notifications" : `Notifications, ${count} unread`),
  readAll: "Mark all as read",
  empty: "You are up to date",
  emptyHint: "Builds, templates and accounts report here.",
  markRead: "Mark as read"
}

export const paletteText = {
  title: "Command palette",
  placeholder: "Type a command or search…",
  empty: "Nothing matches",
  groups: { go: "Go to", do: "Actions", theme: "Theme", workspaces: "Workspaces", templates: "Templates" },
  /** Parts of a workspace. */
  parts: { terminals: "Terminal", files: "Files" }
}

export const keysText = {
  title: "Keyboard shortcuts",
  general: "Everywhere",
  lists: "In lists",
  palette: "Command palette",
  help: "This list",
  filter: "Filter",
  sidebar: "Show or hide the sidebar",
  down: "Next row",
  up: "Previous row",
  open: "Open",
  select: "Select",
  goTo: (place: string) => `Go to ${place.toLowerCase()}`
}
