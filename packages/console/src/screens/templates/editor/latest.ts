/** Work that is done for its newest state alone. */

interface Turn {
  next: (() => Promise<void>) | undefined
  readonly done: Promise<void>
}

/** Runs work of the same name one after the other. Newer work replaces the work that waits. */
export const latestOnly = () => {
  const turns = new Map<string, Turn>()
  const runAll = async (name: string, first: () => Promise<void>): Promise<void> => {
    let work: (() => Promise<void>) | undefined = first
    while (work !== undefined) {
      const outcome: { readonly failure: unknown } | undefined = await work().then(
        () => undefined,
        (failure: unknown) => ({ failure })
      )
      const turn = turns.get(name)
      work = turn?.next
      if (turn !== undefined) turn.next = undefined
      if (work === undefined) {
        turns.delete(name)
        if (outcome !== undefined) throw outcome.failure
      }
    }
  }
  return {
    /** Settles as the last of the work does. */
    run: (name: string, work: () => Promise<void>): Promise<void> => {
      const turn = turns.get(name)
      if (turn !== undefined) {
        turn.next = work
        return turn.done
      }
      // The first work begins when the turn is noted
      const done = Promise.resolve().then(() => runAll(name, work))
      turns.set(name, { next: undefined, done })
      return done
    },
    /** Resolves when no work of the name runs or waits. */
    settled: async (name: string): Promise<void> => {
      await turns.get(name)?.done.catch(() => undefined)
    },
    isRunning: (name: string): boolean => turns.has(name)
  }
}
