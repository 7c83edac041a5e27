/** The files of a template's source that its `source` paths name. */
import { Either } from "effect"
import type { ArchiveFile } from "../engine/Archive.js"
import { localPath } from "../engine/LocalPath.js"
import type { Placed } from "./Placed.js"
import type { TemplateFile } from "./TemplateFile.js"

const sourceRoot = (source: string): string => Either.getOrElse(localPath(source), () => source)

/** Files and folders of a source, its root included. */
const namesIn = (paths: Iterable<string>): ReadonlySet<string> => {
  const names = new Set([""])
  for (const path of paths) {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) names.add(path.slice(0, end))
  }
  return names
}

/** Returns paths that name nothing in the source. */
export const fileProblems = (template: TemplateFile, files: ReadonlyMap<string, ArchiveFile>): ReadonlyArray<Placed<string>> => {
  const names = namesIn(files.keys())
  return template.files.flatMap(({ source }, index) =>
    source === undefined || names.has(sourceRoot(source))
      ? []
      : [{ path: ["files", index, "source"], value: `the template's source has no ${JSON.stringify(source)}` }]
  )
}

/** The paths a `source` names: itself, or all beneath it with their path relative to it. */
export const sourceFiles = (
  paths: Iterable<string>,
  source: string
): ReadonlyArray<{ readonly path: string; readonly relative: string }> => {
  const root = sourceRoot(source)
  return Array.from(paths).flatMap((path) => {
    if (path === root) return [{ path, relative: "" }]
    if (root === "") return [{ path, relative: path }]
    return path.startsWith(`${root}/`) ? [{ path, relative: path.slice(root.length + 1) }] : []
  })
}
