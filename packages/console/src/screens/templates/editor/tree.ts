/** The files of a source as rows of a tree: folders first, both by name. */

export interface TreeRow {
  readonly path: string
  readonly name: string
  readonly depth: number
  readonly isFolder: boolean
}

export const treeRows = (paths: Iterable<string>, closed: ReadonlySet<string>): ReadonlyArray<TreeRow> => {
  interface Folder {
    readonly folders: Map<string, Folder>
    readonly files: Array<string>
  }
  const root: Folder = { folders: new Map(), files: [] }
  for (const path of paths) {
    const parts = path.split("/")
    const name = parts.pop() ?? ""
    let folder = root
    for (const part of parts) {
      const inner: Folder = folder.folders.get(part) ?? { folders: new Map(), files: [] }
      folder.folders.set(part, inner)
      folder = inner
    }
    folder.files.push(name)
  }
  const rowsOf = ({ files, folders }: Folder, above: string, depth: number): ReadonlyArray<TreeRow> => [
    ...[...folders]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .flatMap(([name, inner]): ReadonlyArray<TreeRow> => {
        const path = `${above}${name}`
        return [{ path, name, depth, isFolder: true }, ...(closed.has(path) ? [] : rowsOf(inner, `${path}/`, depth + 1))]
      }),
    ...files
      .toSorted((one, other) => one.localeCompare(other))
      .map((name): TreeRow => ({ path: `${above}${name}`, name, depth, isFolder: false }))
  ]
  return rowsOf(root, "", 0)
}
