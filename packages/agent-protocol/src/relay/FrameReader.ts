import { headerLength, type Treatment } from "./Frame.js"

/** Who takes the frames of a connection. */
export interface FrameReceiver {
  /** Asked with the header of each frame, before its payload is read. */
  readonly treatment: (type: number) => Treatment
  /** Takes a whole frame, whose memory it owns. Returns why the connection has to end, or undefined. */
  readonly receive: (frame: Uint8Array) => string | undefined
}

/** Bytes that are set aside for a frame on the word of its header; a longer one gets more as it arrives. */
const trusted = 4096

/** Cuts a stream of bytes into frames. It keeps the beginning of one frame at most, in no more than twice the memory of what has arrived of it. */
export class FrameReader {
  readonly #receiver: FrameReceiver
  /** The beginning of a frame, in memory that may be larger. */
  #partial: Uint8Array | undefined
  #filled = 0
  /** Bytes of a payload that are still to be passed over. */
  #skipped = 0

  constructor(receiver: FrameReceiver) {
    this.#receiver = receiver
  }

  /** Takes the next bytes of the connection, and their memory. Returns why the connection has to end, or undefined. */
  push(chunk: Uint8Array): string | undefined {
    let offset = 0
    while (offset < chunk.length) {
      if (this.#skipped > 0) {
        const passed = Math.min(this.#skipped, chunk.length - offset)
        this.#skipped -= passed
        offset += passed
        continue
      }
      if (this.#partial !== undefined) {
        const taken = this.#continue(this.#partial, chunk, offset)
        if (typeof taken === "string") return taken
        offset += taken
        continue
      }
      const left = chunk.length - offset
      const length = left < headerLength ? undefined : lengthOf(chunk, offset)
      if (length === undefined) {
        this.#keep(chunk.subarray(offset), headerLength)
        return undefined
      }
      const treatment = this.#treat(chunk[offset] ?? 0, length)
      if (typeof treatment === "string") return treatment
      if (!treatment) {
        this.#skipped = length
        offset += headerLength
        continue
      }
      const end = offset + headerLength + length
      if (end > chunk.length) {
        this.#keep(chunk.subarray(offset), headerLength + length)
        return undefined
      }
      const refusal = this.#receiver.receive(chunk.subarray(offset, end))
      if (refusal !== undefined) return refusal
      offset = end
    }
    return undefined
  }

  /** Whether a frame is read; why the connection ends where its type or length is not allowed. */
  #treat(type: number, length: number): boolean | string {
    const treatment = this.#receiver.treatment(type)
    if (treatment === "skip") return false
    if (treatment === "refuse") return `a frame of type ${type} is not allowed here`
    return length >= treatment.minimum && length <= treatment.maximum ? true : `a frame of type ${type} cannot have ${length} bytes`
  }

  /** Keeps the beginning of a frame of so many bytes. */
  #keep(beginning: Uint8Array, whole: number): void {
    this.#partial = new Uint8Array(Math.min(whole, Math.max(trusted, 2 * beginning.length)))
    this.#partial.set(beginning)
    this.#filled = beginning.length
  }

  /** Adds bytes to the frame that has begun. Returns how many it took, or why the connection has to end. */
  #continue(partial: Uint8Array, chunk: Uint8Array, offset: number): number | string {
    if (this.#filled < headerLength) {
      const taken = this.#append(partial, chunk, offset, headerLength)
      if (this.#filled < headerLength) return taken
      const length = lengthOf(partial, 0)
      const treatment = this.#treat(partial[0] ?? 0, length)
      if (typeof treatment === "string") return treatment
      if (!treatment) {
        this.#partial = undefined
        this.#skipped = length
        return taken
      }
      this.#keep(partial.subarray(0, headerLength), headerLength + length)
      return length === 0 ? (this.#complete() ?? taken) : taken
    }
    const whole = headerLength + lengthOf(partial, 0)
    let room = partial
    if (this.#filled === partial.length) {
      room = new Uint8Array(Math.min(whole, 2 * partial.length))
      room.set(partial)
      this.#partial = room
    }
    const taken = this.#append(room, chunk, offset, room.length)
    return this.#filled < whole ? taken : (this.#complete() ?? taken)
  }

  #append(partial: Uint8Array, chunk: Uint8Array, offset: number, until: number): number {
    const taken = Math.min(until - this.#filled, chunk.length - offset)
    partial.set(chunk.subarray(offset, offset + taken), this.#filled)
    this.#filled += taken
    return taken
  }

  #complete(): string | undefined {
    const frame = this.#partial?.subarray(0, this.#filled)
    this.#partial = undefined
    this.#filled = 0
    return frame === undefined ? undefined : this.#receiver.receive(frame)
  }
}

const lengthOf = (bytes: Uint8Array, offset: number): number =>
  ((bytes[offset + 1] ?? 0) * 0x1000000 + ((bytes[offset + 2] ?? 0) << 16) + ((bytes[offset + 3] ?? 0) << 8) + (bytes[offset + 4] ?? 0)) >>>
  0
