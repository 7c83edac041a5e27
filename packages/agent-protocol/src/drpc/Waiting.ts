/** Counts the bytes waiting on the streams that share it. */
export class Waiting {
  private bytes = 0

  constructor(private readonly limit: number) {}

  /** Counts more (or, negative, fewer) bytes; false when there are too many. */
  hold(bytes: number): boolean {
    this.bytes += bytes
    return this.bytes <= this.limit
  }
}
