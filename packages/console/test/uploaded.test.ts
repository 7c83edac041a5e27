/** Archives that users upload as the source of a template, as the console takes them. */
import { describe, expect, it } from "vitest"
import { gzipSync } from "node:zlib"
import { pack } from "tar-stream"
import { buffer } from "node:stream/consumers"
import { aTar, aZip } from "../../../test/records/archives.js"
import { ArchiveError, bytesOf, readArchive, textOf } from "../src/screens/templates/source/archive.js"
import { inflated } from "../src/screens/templates/source/inflate.js"
import { readUploaded } from "../src/screens/templates/source/uploaded.js"

const bytes = (content: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(content)
const tarOf = async (files: Readonly<Record<string, string>>) => bytes(await aTar(files))
const zipOf = (files: Readonly<Record<string, string>>) => bytes(aZip(files))

const textsIn = (archive: Uint8Array): unknown =>
  Object.fromEntries([...readArchive(archive).files].map(([path, { content }]) => [path, textOf(content)]))

describe("an uploaded archive", () => {
  it("tells its kind, the engine of its files, and a name for a template", async () => {
    const tar = await tarOf({ "./main.tf": "a" })
    expect(await readUploaded("My Team's Template.tar", tar)).toStrictEqual({
      name: "my-team-s-template",
      contentType: "application/x-tar",
      provisioner: "terraform",
      bytes: tar
    })
    const zip = zipOf({ "template.yaml": "a", "modules/a.tf": "b" })
    expect(await readUploaded("go.zip", zip)).toStrictEqual({ name: "go", contentType: "application/zip", provisioner: "echo", bytes: zip })
  })

  it.each(["go.tar.gz", "go.tgz", "GO.TAR.GZ"])("is unpacked where gzip has compressed it: %s", async (name) => {
    const tar = await tarOf({ "main.tf": "a" })
    expect(await readUploaded(name, bytes(gzipSync(tar)))).toStrictEqual({
      name: "go",
      contentType: "application/x-tar",
      provisioner: "terraform",
      bytes: tar
    })
  })

  const repository = { "go-main/": "", "go-main/main.tf": "a".repeat(5_000), "go-main/modules/one.tf": "b" }
  const moved = { "main.tf": "a".repeat(5_000), "modules/one.tf": "b" }

  it("of one folder is that of the files in it", async () => {
    for (const [name, archive] of [
      ["go.zip", zipOf({ ...repository, "__MACOSX/go-main/._main.tf": "x" })],
      ["go.tar", await tarOf(repository)],
      ["go.tar.gz", bytes(gzipSync(await tarOf(repository)))]
    ] as const) {
      const taken = await readUploaded(name, archive)
      expect(taken).toMatchObject({ name: "go", contentType: "application/x-tar", provisioner: "terraform" })
      expect(textsIn(taken.bytes)).toStrictEqual(moved)
    }
  })

  it("keeps its folders where files are beside them", async () => {
    const files = { "README.md": "r", "deploy/main.tf": "a" }
    const zip = zipOf(files)
    expect(await readUploaded("a.zip", zip)).toMatchObject({ bytes: zip, provisioner: "echo" })
    const two = await tarOf({ "one/main.tf": "a", "two/main.tf": "b" })
    expect(await readUploaded("a.tar", two)).toMatchObject({ bytes: two, provisioner: "echo" })
  })

  it("of one folder is refused with links, which would lead elsewhere", async () => {
    const tar = pack()
    tar.entry({ name: "top/main.tf" }, "a")
    tar.entry({ name: "top/link", type: "symlink", linkname: "main.tf" })
    tar.finalize()
    await expect(readUploaded("a.tar", bytes(await buffer(tar)))).rejects.toThrow("The archive has links")
    const zip = Buffer.from(zipOf({ "top/main.tf": "a", "top/link": "main.tf" }))
    // The attributes of the last entry in the list, as Unix writes those of a symbolic link
    zip.writeUInt32LE((0o120_777 << 16) >>> 0, zip.lastIndexOf("PK\u0001\u0002") + 38)
    await expect(readUploaded("a.zip", bytes(zip))).rejects.toThrow("The archive has links")
  })

  it("is refused where it holds nothing, is cut, or leaves its folder", async () => {
    const zip = zipOf(repository)
    const gzip = gzipSync(await tarOf({ "main.tf": "a" }))
    for (const archive of [
      zipOf({}),
      zip.subarray(0, -23),
      // The list of files is whole, and the files are not
      bytes(Buffer.concat([zip.subarray(0, 4), Buffer.alloc(40), zip.subarray(44)])),
      zipOf({ "top/../../main.tf": "a" }),
      await tarOf({ "top/../../main.tf": "a" }),
      bytes(gzip.subarray(0, -12)),
      new Uint8Array(3),
      new Uint8Array([0x50, 0x4b]),
      new Uint8Array(1_024)
    ])
      await expect(readUploaded("a", bytes(archive))).rejects.toThrow(ArchiveError)
  })

  it("is told from text of any length, and from other bytes that gzip has compressed", async () => {
    for (const content of [gzipSync("a text"), bytesOf('resource "x" "y" {}\n'), bytesOf("a text\n".repeat(200))])
      await expect(readUploaded("a", bytes(content))).rejects.toThrow("The file is neither a zip, nor a tar")
  })

  it("is unpacked up to its bound", async () => {
    const packed = bytes(gzipSync(Buffer.alloc(1_000_000)))
    await expect(inflated(packed, "gzip", 999_999)).rejects.toThrow("The archive is too large when it is unpacked.")
    expect(await inflated(packed, "gzip", 1_000_000)).toHaveLength(1_000_000)
  })
})
