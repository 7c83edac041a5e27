/** Texts of the components. */
export const accessText = {
  group: "Group",
  who: "Add user or group",
  role: "Role",
  add: "Share",
  remove: (name: string) => `Stop sharing with ${name}`
}

export const fieldText = {
  optional: "optional",
  show: "Show",
  hide: "Hide"
}

export const comboboxText = { search: "Search…", nothing: "Nothing found", choose: "Choose…" }

export const dialogText = {
  cancel: "Cancel",
  close: "Close",
  typeToConfirm: (name: string) => `Type ${name} to confirm`
}

export const errorText = {
  title: "This could not be loaded",
  retry: "Try again",
  noAccess: "You have no access to this, or it does not exist",
  noAccessHint: "Ask its owner or an administrator, or check the address.",
  offline: "The server does not answer",
  requestId: (id: string) => `Request ${id}`,
  crashed: "This screen failed",
  crashedHint: "The failure is in the console itself. Reload the page; if it fails again, report it with the text below.",
  reload: "Reload",
  filesLost: "This screen could not be loaded",
  filesLostHint: "The server has a newer version of the console. Reload the page."
}

export const tableText = {
  selectAll: "Select loaded rows",
  select: (name: string) => `Select ${name}`,
  selected: (count: number) => `${count} selected`,
  clear: "Clear",
  missing: "Some rows could not be loaded",
  selection: "Selection"
}

export const viewsText = { label: "Views" }

export const codeText = {
  copy: "Copy",
  copied: "Copied",
  failed: "The browser did not allow to copy. Select the text and copy it yourself."
}

export const toastText = { dismiss: "Dismiss", region: "Notices" }

export const pageText = { crumbs: "Breadcrumb" }

export const timeText = { never: "never" }

export const filterText = { placeholder: "Filter…", clear: "Clear filter", suggestions: "Suggestions" }

export const logText = {
  search: "Search in the log",
  nothing: "Nothing found",
  found: (at: number, count: number) => `${at} of ${count}`,
  previous: "Previous match",
  next: "Next match",
  wrap: "Wrap lines",
  follow: "Follow the end",
  download: "Download"
}

export const chartText = {
  asTable: "Show as a table",
  asPicture: "Show as a chart",
  tableOf: (label: string) => `Table: ${label}`,
  picture: (label: string) => `${label}. The arrow keys read the values.`,
  times: { hour: "Hour", day: "Day", week: "Week", moment: "Time" }
}

export const editorText = { leave: "Press Escape, then Tab, to leave the editor." }

export const markdownText = { table: "Table", done: "Done", open: "Not done" }
