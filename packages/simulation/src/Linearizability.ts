/**
 * Whether a history of concurrent operations could have happened one at a time: each takes effect at one instant between its begin and its end, and
 * answers what a model says (Herlihy and Wing). The search is that of Wing and Gong, with the memory of Lowe: it leaves out what it has tried in the same state.
 */

/** An operation of one object, with times of one clock. */
export interface Operation<I, O> {
  readonly input: I
  /** Undefined for an operation without an answer: it has taken effect at any time after its begin, or never. */
  readonly output: O | undefined
  readonly begin: number
  readonly end: number
}

/** What an object does when operations come one at a time. States are compared by their JSON. */
export interface Model<S, I, O> {
  readonly initial: S
  /** The states that may follow if an operation has this answer; none if it cannot have it. With an undefined answer, all that may follow an effect. */
  readonly next: (state: S, input: I, output: O | undefined) => ReadonlyArray<S>
}

/**
 * Returns undefined for a history that is linearizable. Otherwise returns the answered operations that have no place behind the longest sequence found.
 */
export const unplaced = <S, I, O>(
  { initial, next }: Model<S, I, O>,
  operations: ReadonlyArray<Operation<I, O>>
): ReadonlyArray<Operation<I, O>> | undefined => {
  const sorted = operations.toSorted((one, other) => one.begin - other.begin)
  const answered = sorted.flatMap(({ output }, index) => (output === undefined ? [] : [index]))
  const placed = new Set<number>()
  const tried = new Set<string>()
  let rest: ReadonlyArray<number> = answered

  const search = (state: S): boolean => {
    const left = answered.filter((index) => !placed.has(index))
    if (left.length < rest.length) rest = left
    if (left.length === 0) return true
    const key = `${[...placed].toSorted((one, other) => one - other).join()}:${JSON.stringify(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    // An operation that begins after another has ended comes after it
    const firstEnd = Math.min(...left.map((index) => sorted[index]?.end ?? Infinity))
    for (const [index, { begin, input, output }] of sorted.entries()) {
      if (begin > firstEnd) break
      if (placed.has(index)) continue
      placed.add(index)
      if (next(state, input, output).some(search)) return true
      placed.delete(index)
    }
    return false
  }

  return search(initial) ? undefined : rest.flatMap((index) => sorted[index] ?? [])
}
