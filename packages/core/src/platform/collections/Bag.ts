/** An item that at most one bag has at a time. */
export interface Bagged {
  /** The item's place in the bag; below 0 while no bag contains it. */
  place: number
}

/**
 * Items in no order, which come and go with requests. A Set or Map that gains and loses an entry with each request makes V8 carry much of the
 * requests into its old generation: a table that it has outgrown still refers to the next one.
 */
export class Bag<A extends Bagged> implements Iterable<A> {
  private readonly items: Array<A> = []

  get size(): number {
    return this.items.length
  }

  add(item: A): void {
    item.place = this.items.length
    this.items.push(item)
  }

  /** Answers whether the item was there. */
  delete(item: A): boolean {
    if (this.items[item.place] !== item) return false
    const last = this.items.pop()
    if (last !== undefined && last !== item) {
      last.place = item.place
      this.items[last.place] = last
    }
    item.place = -1
    return true
  }

  [Symbol.iterator](): Iterator<A> {
    return this.items[Symbol.iterator]()
  }
}
