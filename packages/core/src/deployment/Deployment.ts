import { Context, Effect } from "effect"
import { Ids } from "../platform/Ids.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { DeploymentValues } from "./DeploymentValues.js"
import { service } from "../platform/wiring/Standing.js"

/** The methods of {@link Deployment}. */
export interface DeploymentService {
  /** Created once, when the first process of the deployment starts; it never changes. deployment.md §1. */
  readonly id: Uuid
}

const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const ids = yield* Ids
  return {
    id: Uuid.make(yield* values.getOrInsert("deployment_id", yield* ids.secret))
  }
})

/** The common identity of all processes on one store. */
export class Deployment extends Context.Tag("@atelier/core/Deployment")<Deployment, DeploymentService>() {
  static readonly layer = service(Deployment, make)
}
