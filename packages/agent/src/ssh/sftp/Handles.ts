/** Files and directories that a client has open. */
import type { Dir } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { Malformed, uint32 } from "./Wire.js"

/** Handles of one session. */
export const maximumHandles = 256

export type Handle =
  | { readonly kind: "file"; readonly file: FileHandle; readonly appends: boolean }
  | { readonly kind: "directory"; readonly directory: Dir; readonly path: Buffer }

const closed = async (handle: Handle): Promise<void> => (handle.kind === "file" ? handle.file.close() : handle.directory.close())

export class Handles {
  private readonly open = new Map<number, Handle>()
  private last = 0

  get isFull(): boolean {
    return this.open.size >= maximumHandles
  }

  add(handle: Handle): Buffer {
    this.last = (this.last + 1) >>> 0
    this.open.set(this.last, handle)
    return uint32(this.last)
  }

  private get(name: Buffer): Handle {
    const handle = name.length === 4 ? this.open.get(name.readUInt32BE(0)) : undefined
    if (handle === undefined) throw new Malformed("there is no such handle")
    return handle
  }

  file(name: Buffer): Handle & { readonly kind: "file" } {
    const handle = this.get(name)
    if (handle.kind !== "file") throw new Malformed("the handle is of a directory")
    return handle
  }

  directory(name: Buffer): Handle & { readonly kind: "directory" } {
    const handle = this.get(name)
    if (handle.kind !== "directory") throw new Malformed("the handle is of a file")
    return handle
  }

  async close(name: Buffer): Promise<void> {
    const handle = this.get(name)
    this.open.delete(name.readUInt32BE(0))
    await closed(handle)
  }

  async closeAll(): Promise<void> {
    const left = [...this.open.values()]
    this.open.clear()
    await Promise.allSettled(left.map(closed))
  }
}
