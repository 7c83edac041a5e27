import type { SourceFiles } from "@atelier/core/provisioning"

const fileNames = ["template.yaml", "template.yml"]

/** The template's path in a source, where it has one at its root. */
export const templatePath = (paths: Iterable<string>): string | undefined => {
  const known = new Set(paths)
  return fileNames.find((name) => known.has(name))
}

/** A line of its own at the left: what is indented belongs to another key. */
const engineLine = /^engine:[ \t]*(["']?)([a-z][a-z0-9-]*)\1[ \t]*(?:#.*)?\r?$/m

/**
 * The name of the engine that the `template.yaml` of a source asks for, which is `local` unless it has a line such as `engine: docker`. Undefined for
 * a source without such a file.
 */
export const templateEngine = ({ paths, text }: SourceFiles): string | undefined => {
  const path = templatePath(paths)
  return path === undefined ? undefined : (engineLine.exec(text(path) ?? "")?.[2] ?? "local")
}
