/** Sources of versions that stay open between the evaluations of their forms, and the claims of workspaces that are handed over. */
import { Context, Data, Duration, Effect, RcMap, type Scope } from "effect"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { FileId } from "../../provisioning/files/File.js"
import type { ProvisionFailure } from "../../provisioning/engines/ProvisionerEngine.js"
import { type OpenSource, TemplateSources } from "../../provisioning/engines/TemplateSources.js"
import type { TemplateVersionId } from "./TemplateVersion.js"

/** How long a source stays open after its last use: a user who fills in a form causes an evaluation every few seconds. */
const keptOpen = Duration.seconds(10)

/** Bytes of a source with its modules that stays open; larger ones are opened for each evaluation. */
const maximumKept = 4 * 1024 * 1024

/** Sources that stay open at once. The one that was idle longest gives way to another; while all are in use, further ones are opened for each evaluation. */
const maximumOpen = 16

/** The source that the forms of a version are evaluated from. */
export class VersionSource extends Data.Class<{ readonly id: TemplateVersionId; readonly file: FileId }> {}

interface Kept<A> {
  readonly opened: A
  readonly source: VersionSource
  users: number
}

/** Opens sources, or gives the ones that are open. */
export const make = <A extends { readonly size: number }>(
  open: (source: VersionSource) => Effect.Effect<A, ProvisionFailure, Scope.Scope>
): Effect.Effect<(source: VersionSource) => Effect.Effect<A, ProvisionFailure, Scope.Scope>, never, Scope.Scope> =>
  Effect.gen(function* () {
    /** In the order of their last uses. */
    const kept = new Set<Kept<A>>()
    const sources = yield* RcMap.make({
      // Callers that go must not end the opening for others that wait for it
      lookup: (source: VersionSource) =>
        Effect.uninterruptible(
          Effect.flatMap(open(source), (opened) => {
            const entry: Kept<A> = { opened, source, users: 0 }
            return Effect.acquireRelease(
              Effect.sync(() => {
                kept.add(entry)
                return entry
              }),
              () => Effect.sync(() => kept.delete(entry))
            )
          })
        ),
      idleTimeToLive: keptOpen,
      capacity: maximumOpen
    })

    const used = (entry: Kept<A>): Effect.Effect<void, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.sync(() => {
          entry.users += 1
        }),
        () =>
          Effect.sync(() => {
            entry.users -= 1
            // The last one of the order
            if (kept.delete(entry)) kept.add(entry)
          })
      )

    const shared = (source: VersionSource) =>
      RcMap.get(sources, source).pipe(
        Effect.onError(() => RcMap.invalidate(sources, source)),
        Effect.tap(({ opened: { size } }) => (size > maximumKept ? RcMap.invalidate(sources, source) : Effect.void)),
        Effect.tap(used),
        Effect.map(({ opened }) => opened)
      )

    /** Ends the source that was idle longest, if one is idle. */
    const makeRoom = Effect.suspend(() => {
      const idle = [...kept].find(({ users }) => users === 0)
      return idle === undefined ? Effect.void : Effect.uninterruptible(RcMap.invalidate(sources, idle.source))
    })

    return (source) =>
      shared(source).pipe(
        Effect.catchTag("ExceededCapacityException", () => Effect.zipRight(makeRoom, shared(source))),
        Effect.catchTag("ExceededCapacityException", () => open(source))
      )
  })

/** The sources of versions that are open in this process. */
export class VersionSources extends Context.Tag("@atelier/core/VersionSources")<
  VersionSources,
  {
    /** As `TemplateSources.openVersion`. The source is one that is open already, where there is one: its session has no state of one caller. */
    readonly open: (source: VersionSource) => Effect.Effect<OpenSource, ProvisionFailure, Scope.Scope>
  }
>() {
  static readonly layer = standingOn(
    service(
      VersionSources,
      Effect.gen(function* () {
        const { openVersion } = yield* TemplateSources
        return { open: yield* make((source) => openVersion(source, source.file)) }
      })
    ),
    TemplateSources.layer
  )
}
