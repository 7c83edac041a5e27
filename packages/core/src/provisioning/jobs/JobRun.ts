/** The state of one run of a job, which its work, its watch and its end share. */
import type { Effect } from "effect"
import type { ServiceError } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import { ProvisionFailure } from "../engines/ProvisionerEngine.js"

/** Work that succeeded: the writes for the transaction that completes the job, and the resources that exist even if it fails. */
export interface Done {
  readonly store: Effect.Effect<void, ServiceError, EventBus | Transactor>
  readonly state?: Uint8Array | undefined
}

/** Why work is interrupted. */
export type Stop = "canceled" | "lost" | "stopping"

/** How far one run of a job is. */
export interface Run {
  /** Whether the job may be taken again if this run ends now. */
  repeatable: boolean
  /** Whether the server stops. */
  stopping: boolean
  /** The result to report, once it is known. */
  done?: Done
}

export const asFailure = (error: ServiceError): ProvisionFailure =>
  new ProvisionFailure({ message: error._tag === "NotModified" ? "Nothing had to change." : error.message })
