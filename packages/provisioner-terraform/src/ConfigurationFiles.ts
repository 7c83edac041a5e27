/** The files that Terraform reads in the root module, in its order: override files come last. */
export const configurationFiles = (paths: Iterable<string>): ReadonlyArray<string> => {
  const files = [...paths].filter((path) => /^[^/.][^/]*\.tf(?:\.json)?$/.test(path)).toSorted()
  const isOverride = (path: string): boolean => /(?:^|_)override\.tf(?:\.json)?$/.test(path)
  return [...files.filter((path) => !isOverride(path)), ...files.filter(isOverride)]
}
