/** Archives for tests, made of paths and texts. */
import { pack } from "tar-stream"
import { crc32, deflateRawSync } from "node:zlib"

type Files = Readonly<Record<string, string | Uint8Array>>

/** A tar with these files; a path that ends in `/` is a folder. */
export const aTar = async (files: Files): Promise<Buffer> => {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) {
    tar.entry({ name, mtime: new Date(0), type: name.endsWith("/") ? "directory" : "file" }, Buffer.from(content))
  }
  tar.finalize()
  const chunks: Array<Buffer> = []
  for await (const chunk of tar) if (chunk instanceof Buffer) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** What a zip says of an entry, where that is not the truth. */
export interface ZipLie {
  readonly size?: number
  readonly checksum?: number
}

/** A zip with these files, deflated; entries lie as they are told to. */
export const aZip = (files: Files, lies: Readonly<Record<string, ZipLie>> = {}): Buffer => {
  const locals: Array<Buffer> = []
  const centrals: Array<Buffer> = []
  let offset = 0
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path)
    const content = Buffer.from(text)
    const compressed = deflateRawSync(content)
    const { checksum = crc32(content), size = content.length } = lies[path] ?? {}
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(checksum, 10)
    common.writeUInt32LE(compressed.length, 14)
    common.writeUInt32LE(size, 18)
    common.writeUInt16LE(name.length, 22)
    locals.push(Buffer.from([0x50, 0x4b, 3, 4]), common, name, compressed)
    const central = Buffer.alloc(14)
    central.writeUInt32LE(0o644 << 16, 6)
    central.writeUInt32LE(offset, 10)
    centrals.push(Buffer.from([0x50, 0x4b, 1, 2, 20, 3]), common, central, name)
    offset += 30 + name.length + compressed.length
  }
  const directory = Buffer.concat(centrals)
  const count = Object.keys(files).length
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
