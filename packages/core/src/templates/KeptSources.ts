/** Sources of versions that stay open between the evaluations of their forms. */
import { Data, Duration, Effect, RcMap, type Scope } from "effect"
import type { FileId } from "../provisioning/File.js"
import type { ProvisionFailure } from "../provisioning/ProvisionerEngine.js"
import type { TemplateVersionId } from "./TemplateVersion.js"

/** How long a source stays open after its last use: a user who fills in a form causes an evaluation every few seconds. */
const keptOpen = Duration.seconds(10)

/** Bytes of a source with its modules that stays open; larger ones are opened for each evaluation. */
const maximumKept = 4 * 1024 * 1024

/** Sources that stay open at once; further ones are opened for each evaluation. */
const maximumOpen = 16

/** The source that the forms of a version are evaluated from. */
export class VersionSource extends Data.Class<{ readonly id: TemplateVersionId; readonly file: FileId }> {}

/** Opens sources, or gives the ones that are open. */
export const make = <A extends { readonly size: number }>(
  open: (source: VersionSource) => Effect.Effect<A, ProvisionFailure, Scope.Scope>
): Effect.Effect<(source: VersionSource) => Effect.Effect<A, ProvisionFailure, Scope.Scope>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const opened = yield* RcMap.make({
      // Callers that go must not end the opening for others that wait for it
      lookup: (source: VersionSource) => Effect.uninterruptible(open(source)),
      idleTimeToLive: keptOpen,
      capacity: maximumOpen
    })
    return (source) =>
      RcMap.get(opened, source).pipe(
        Effect.onError(() => RcMap.invalidate(opened, source)),
        Effect.tap(({ size }) => (size > maximumKept ? RcMap.invalidate(opened, source) : Effect.void)),
        Effect.catchTag("ExceededCapacityException", () => open(source))
      )
  })
