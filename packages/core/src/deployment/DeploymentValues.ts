import { Context, type Effect, type Option } from "effect"

/** Small texts that the deployment as a whole keeps, by key. */
export class DeploymentValues extends Context.Tag("@atelier/core/DeploymentValues")<
  DeploymentValues,
  {
    readonly get: (key: string) => Effect.Effect<Option.Option<string>>
    /** Stores the value in place of the present one. */
    readonly put: (key: string, value: string) => Effect.Effect<void>
    /** Stores the value in place of one that was read; false where the key has another one, or none, by now. */
    readonly replace: (key: string, from: string, to: string) => Effect.Effect<boolean>
    /** Stores the value unless the key has one. Returns the stored value: concurrent callers get the same. */
    readonly getOrInsert: (key: string, value: string) => Effect.Effect<string>
  }
>() {}
