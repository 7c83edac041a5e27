/** What a request for a build waits for before the build is queued. templates-and-provisioning.md §6. */
import { Uuid } from "@atelier/core/platform"
import { ProvisionFailure, type ProvisionerSession } from "@atelier/core/provisioning"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { buildDefinitions } from "../../../src/workspaces/builds/BuildDefinitions.js"

type Needs = Parameters<typeof buildDefinitions>[0]
type Prepared = Parameters<ReturnType<typeof buildDefinitions>["evaluatedTags"]>[0]

/** The tags of a build of a version that has one, as an engine evaluates it. */
const tagsBy = (workspaceTags: NonNullable<ProvisionerSession["workspaceTags"]>) => {
  const needs = {
    versions: { variables: () => Effect.succeed([]) },
    sources: {
      openVersion: () =>
        Effect.succeed({
          workspaceTags,
          parse: Effect.never,
          plan: () => Effect.never,
          apply: () => Effect.never,
          repeatable: new Set(),
          modules: Effect.succeed(Option.none()),
          size: 0
        })
    },
    inputs: { metadata: () => Effect.succeed({}) }
  } as unknown as Needs // Only what the tags need
  const prepared = {
    order: { transition: "start" },
    parameters: [],
    source: { file_id: Uuid.nil },
    target: {},
    version: { id: Uuid.nil, workspace_tags: { site: "raw" } }
  } as unknown as Prepared
  return buildDefinitions(needs).evaluatedTags(prepared)
}

it.effect("gives a build the tags that its engine evaluates", () =>
  Effect.gen(function* () {
    expect(yield* tagsBy(() => Effect.succeed({ site: "north" }))).toStrictEqual({ site: "north" })
    const broken = yield* Effect.flip(tagsBy(() => new ProvisionFailure({ message: "a function fails" })))
    expect(broken).toMatchObject({ _tag: "Invalid", detail: "a function fails" })
  })
)

it.effect("refuses a build whose tags are not known in time", () =>
  Effect.gen(function* () {
    const asking = yield* Effect.fork(Effect.flip(tagsBy(() => Effect.uninterruptible(Effect.never))))
    yield* TestClock.adjust("15 seconds")
    expect(yield* Fiber.join(asking)).toMatchObject({ _tag: "TimedOut" })
  })
)
