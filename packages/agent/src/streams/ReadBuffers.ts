/** Bytes of the first buffers, and of those of a connection that fills them. */
const smallest = 16 * 1024
const largest = 256 * 1024

/** Bytes that are copied out of a buffer: fewer than it takes to wait until they have been sent. */
const copied = 4 * 1024

/** Buffers that wait to be used again. */
const maximumFree = 2

/** Bytes that have been read, and what to call once they have been sent. */
export interface Read {
  readonly bytes: Uint8Array
  readonly sent: (() => void) | undefined
}

/**
 * The buffers that a connection's bytes are read into. Each is used again once its bytes have been sent: memory that is new for each read makes V8 collect its heap
 * again and again. They grow with what a read brings, so that a connection without traffic keeps a small one.
 */
export class ReadBuffers {
  private free: Array<Uint8Array> = []
  private size = smallest

  /** A buffer for the next read. */
  readonly next = (): Uint8Array => this.free.pop() ?? Buffer.allocUnsafeSlow(this.size)

  /** The first bytes of a buffer that `next` has returned, which a read has filled. */
  taken(length: number, buffer: Uint8Array): Read {
    const bytes = buffer.subarray(0, length)
    if (length <= copied) {
      const copy = Buffer.from(bytes)
      this.release(buffer)
      return { bytes: copy, sent: undefined }
    }
    if (length === this.size && this.size < largest) {
      this.size *= 4
      this.free = []
    }
    return { bytes, sent: () => this.release(buffer) }
  }

  private release(buffer: Uint8Array): void {
    if (buffer.length === this.size && this.free.length < maximumFree) this.free.push(buffer)
  }
}
