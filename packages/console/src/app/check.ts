/** One question: may the user do this to such an object? */
export interface Check {
  /** The kind of object, such as `workspace`. docs/authorization.md lists them. */
  readonly on: string
  readonly to: string
  readonly owner?: string | undefined
  readonly organization?: string | undefined
  readonly id?: string | undefined
  /** In any of the user's organizations. */
  readonly anyOrganization?: boolean | undefined
}
