/** What the user dropped or chose: files, and folders with all that is in them. */

export interface DroppedFile {
  /** The names that lead to the file, below the folder that it goes to. */
  readonly names: ReadonlyArray<string>
  readonly file: File
}

export interface Dropped {
  readonly files: ReadonlyArray<DroppedFile>
  /** Folders that hold nothing: their names, as those of a file. */
  readonly emptyFolders: ReadonlyArray<ReadonlyArray<string>>
  /** Paths that the browser could not read. */
  readonly unreadable: ReadonlyArray<string>
}

/** Files and folders of one drop. */
export const maximumEntries = 5_000

/** A drop with more than `maximumEntries`. */
export class TooManyFiles extends Error {
  override readonly name = "TooManyFiles"
}

type Place = readonly [entry: FileSystemEntry, names: ReadonlyArray<string>]

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile

/** The entries of a folder. A browser answers some at a time, and none at the end. */
const entriesOf = async (folder: FileSystemDirectoryEntry): Promise<ReadonlyArray<FileSystemEntry>> => {
  const reader = folder.createReader()
  const all: Array<FileSystemEntry> = []
  for (;;) {
    const some = await new Promise<ReadonlyArray<FileSystemEntry>>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
    if (all.length > maximumEntries) throw new TooManyFiles()
  }
}

/** Reads all below what was dropped. @throws TooManyFiles */
export const readDropped = async (entries: ReadonlyArray<FileSystemEntry>): Promise<Dropped> => {
  const files: Array<DroppedFile> = []
  const emptyFolders: Array<ReadonlyArray<string>> = []
  const unreadable: Array<string> = []
  const places: Array<Place> = entries.map((entry) => [entry, [entry.name]])
  if (places.length > maximumEntries) throw new TooManyFiles()
  for (let count = 1, place = places.pop(); place !== undefined; count += 1, place = places.pop()) {
    const [entry, names] = place
    try {
      if (isFolder(entry)) {
        const within = await entriesOf(entry)
        if (within.length === 0) emptyFolders.push(names)
        // The last is taken first
        places.push(...within.toReversed().map((each): Place => [each, [...names, each.name]]))
        if (count + places.length > maximumEntries) throw new TooManyFiles()
      } else if (isFile(entry)) files.push({ names, file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) })
    } catch (error) {
      if (error instanceof TooManyFiles) throw error
      unreadable.push(names.join("/"))
    }
  }
  return { files, emptyFolders, unreadable }
}

/** The files of a chooser, which names the folder that was chosen in the path of each. */
export const chosenFiles = (chosen: Iterable<File>): Dropped => {
  const files = Array.from(chosen, (file): DroppedFile => ({
    names: file.webkitRelativePath === "" ? [file.name] : file.webkitRelativePath.split("/"),
    file
  }))
  if (files.length > maximumEntries) throw new TooManyFiles()
  return { files, emptyFolders: [], unreadable: [] }
}
