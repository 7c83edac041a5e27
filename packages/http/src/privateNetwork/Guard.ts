/** At most so many faults are kept until they are logged. */
const maximumFaults = 10

/** Keeps what fails on one packet or tunnel from others: the packet is lost, and the fault is logged. */
export interface Guard {
  readonly run: (step: () => void) => void
  /** Returns the faults since the last call. */
  readonly told: () => ReadonlyArray<unknown>
}

export const makeGuard = (): Guard => {
  let faults: Array<unknown> = []
  return {
    run: (step) => {
      try {
        step()
      } catch (fault) {
        if (faults.length < maximumFaults) faults.push(fault)
      }
    },
    told: () => {
      const told = faults
      faults = []
      return told
    }
  }
}
