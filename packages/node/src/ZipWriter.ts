/** Writes zip archives while their entries are read. */
import { PassThrough, Readable } from "node:stream"
import { ZipFile } from "yazl"

export interface ZipEntry {
  /** Relative and `/`-separated, without a slash behind a folder's. */
  readonly path: string
  readonly isFolder: boolean
  /** Permission bits. */
  readonly mode: number
  readonly modified: Date
  /** Bytes; `resume` passes over them. */
  readonly content: AsyncIterable<unknown> & { readonly resume: () => unknown }
}

const unixFile = 0o100000
const unixFolder = 0o040000

const isBytes = (chunk: unknown): chunk is Uint8Array => chunk instanceof Uint8Array

/** Adds entries one by one: the next one can be read only when the content of the one before has been. Ends early with the output. */
const addAll = async (zip: ZipFile, entries: AsyncIterable<ZipEntry>, output: PassThrough): Promise<void> => {
  for await (const { content, isFolder, mode, modified, path } of entries) {
    if (output.destroyed) return
    if (isFolder) {
      zip.addEmptyDirectory(path, { mode: unixFolder | mode, mtime: modified })
      content.resume()
      continue
    }
    const bytes = Readable.from(content, { objectMode: false })
    const abandon = () => bytes.destroy()
    output.once("close", abandon)
    const read = new Promise((resolve, reject) => bytes.once("close", resolve).once("error", reject))
    zip.addReadStream(bytes, path, { mode: unixFile | mode, mtime: modified })
    await read
    output.off("close", abandon)
  }
  zip.end()
}

/** The bytes of an archive, entry by entry. */
export const writeZip = async function* (entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = new PassThrough()
  zip.outputStream.pipe(output)
  addAll(zip, entries, output).catch((error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error))))
  for await (const chunk of output) if (isBytes(chunk)) yield chunk
}
