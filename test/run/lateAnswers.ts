import { VitestTestRunner } from "vitest/runners"
import type { VitestRunner } from "vitest/suite"

type Send = NonNullable<VitestRunner["onTaskUpdate"]>

/** Whether the run's process has not answered within Vitest's minute, which no option changes. */
const isLate = (error: unknown): boolean => error instanceof Error && error.message.startsWith("[vitest-worker]: Timeout calling")

/**
 * Sends results as Vitest's own runner does, but does not fail for a late answer: results reach the run's process in their order, whenever it
 * has time. Vitest would keep the failure, and so let each later file of the worker fail for it as well.
 */
export default class PatientRunner extends VitestTestRunner {
  private send: Send | undefined

  get onTaskUpdate(): Send | undefined {
    return this.send
  }

  set onTaskUpdate(send: Send | undefined) {
    this.send =
      send &&
      ((...update) =>
        send(...update).catch((error: unknown) => {
          if (!isLate(error)) throw error
        }))
  }
}
