const fileNames = ["template.yaml", "template.yml"]

/** The template's path in a source, where it has one at its root. */
export const templatePath = (paths: Iterable<string>): string | undefined => {
  const known = new Set(paths)
  return fileNames.find((name) => known.has(name))
}
