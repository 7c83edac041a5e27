/** Texts of the sync with identity providers. */
const part = (what: string) => ({
  config: `How ${what} follow from claims`,
  mapping: "Mapping",
  preview: "Preview"
})

export const syncText = {
  tab: "Provider sync",
  parts: { groups: "Groups", roles: "Roles" },
  groups: {
    ...part("groups"),
    hint: "At each login by OpenID Connect, a member is in exactly the groups that this claim names.",
    mappingHint: "A value without a mapping means the group of its name.",
    gets: "Groups",
    mapped: "Give groups"
  },
  roles: {
    ...part("roles"),
    hint: "At each login by OpenID Connect, a member has exactly the roles that this claim names.",
    mappingHint: "A value without a mapping means the role of its name.",
    gets: "Roles",
    mapped: "Give roles"
  },
  organizations: {
    ...part("memberships"),
    hint: "At each login by OpenID Connect, a user is a member of exactly the organizations that this claim is mapped to.",
    mappingHint: "A value without a mapping means no organization.",
    gets: "Organizations",
    mapped: "Give memberships"
  },
  field: "Claim",
  fieldHint: "Its values are a list of texts, or one text. Without a claim nothing follows, and members are managed by hand.",
  filter: "Filter",
  filterHint: "An RE2 expression. Values that it does not match anywhere are passed over.",
  creates: "Create missing groups",
  createsHint: "A value that is neither mapped nor the name of a group makes one.",
  always: "All users are members of the default organization",
  alwaysHint: "Also those whose claims do not say so.",
  save: "Save",
  saved: "The sync was changed. It counts at the next logins",
  value: "Value of the claim",
  add: "Add",
  mappingAdded: (value: string) => `${value} was mapped`,
  remove: (value: string, target: string) => `Remove ${target} from ${value}`,
  forget: (value: string) => `Remove the mapping of ${value}`,
  none: "No value is mapped.",
  nothing: "nothing",
  emptyValue: "empty text",
  legacy: (value: string, name: string) => `${value} is renamed to ${name} by an option of the deployment`,
  off: (feature: string) => `The feature “${feature}” is not enabled: nothing follows from claims`,
  offHint: "The settings can be changed, and count as soon as it is enabled.",
  noField: "No claim is followed",
  previewHint: "Paste the claims of a user as JSON, or a token. They stay in this page. What is typed above counts, saved or not.",
  claims: "Claims or token",
  result: (names: ReadonlyArray<string>) =>
    names.length === 0 ? "The user would get nothing." : `The user would get ${names.join(", ")}.`,
  outcomes: {
    mapping: "by mapping",
    name: "by name",
    created: "would be created",
    passedOver: "passed over by the filter",
    nothing: "mapped to nothing",
    unknown: "ignored: neither mapped nor a name"
  },
  noValues: "The claim has no value for this user.",
  unreadable: {
    json: "This is neither JSON nor a token.",
    object: "Claims are a JSON object.",
    commas: "The claim is a text with commas instead of a list: it cannot be followed.",
    kind: "The claim is neither a list of texts nor a text: it cannot be followed.",
    texts: "The claim has values that are not texts: it cannot be followed.",
    filter: "The browser does not understand the filter. The server may: its expressions are RE2.",
    slow: "The filter takes too long in the browser. On the server it does not: its expressions are RE2."
  }
}
