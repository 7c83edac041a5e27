/** What a version is told of its source when it is made, by engines that need long or fail. templates-and-provisioning.md §3.2. */
import { anonymousActor, CurrentActor } from "@atelier/core/access"
import { Cryptography, Ids, StoreUnavailable, Timestamp, Uuid } from "@atelier/core/platform"
import {
  Archives,
  errorDiagnostic,
  FileRepository,
  ModuleArchiveRepository,
  ProvisionerEngines,
  type ProvisionerSession,
  ProvisionFailure
} from "@atelier/core/provisioning"
import { SourceTags, TemplateVersionRepository } from "@atelier/core/templates"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Stream, TestClock } from "effect"

const file = {
  id: Uuid.Uuid.make("7c9d1b8e-3a55-4f0e-9a39-6a3f3b0d8f51"),
  hash: "",
  created_at: Timestamp.fromMillis(0),
  created_by: Uuid.nil,
  mimetype: "application/x-tar",
  size: 0
}

/** The tags of a version whose engine answers so, after half a minute. */
const tagsOf = (answers: Partial<ProvisionerSession>) => {
  const session: ProvisionerSession = {
    parse: Effect.succeed({ variables: [], readme: "", workspace_tags: { site: "written" } }),
    plan: () => Effect.never,
    apply: () => Effect.never,
    ...answers
  }
  const engine = { name: "test", repeatable: new Set<never>(), understands: () => true, open: () => Effect.succeed(session) } as const
  const layer = SourceTags.layer.pipe(
    Layer.provide([
      Layer.succeed(ProvisionerEngines, [engine]),
      Layer.mock(FileRepository, { byId: () => Effect.succeed(Option.some(file)), content: () => Stream.empty }),
      Layer.mock(ModuleArchiveRepository, {}),
      Layer.provide(Ids.layer, Cryptography.layerWeb),
      Cryptography.layerWeb,
      Layer.mock(Archives, { outline: () => Effect.succeed({ paths: ["main.tf"], text: () => undefined }) }),
      Layer.mock(TemplateVersionRepository, {})
    ])
  )
  return Effect.gen(function* () {
    const { evaluate } = yield* SourceTags
    const evaluating = yield* Effect.fork(Effect.either(evaluate(file, [], undefined)))
    yield* TestClock.adjust("30 seconds")
    return yield* Fiber.join(evaluating)
  }).pipe(Effect.provide(layer), Effect.provideService(CurrentActor, anonymousActor()))
}

const evaluated = { workspaceTags: () => Effect.succeed({ site: "evaluated" }) }
const broken = () => new ProvisionFailure({ message: "a function fails" })

it.effect.each([
  ["evaluated", "its form needs too long", { ...evaluated, preview: () => Effect.never }],
  ["evaluated", "its presets need too long", { ...evaluated, presetFlaws: () => Effect.never }],
  ["evaluated", "its form cannot be evaluated", { ...evaluated, preview: broken }],
  ["written", "its tags cannot be evaluated", { workspaceTags: broken }],
  ["written", "its engine evaluates none", {}],
  [undefined, "it cannot be read", { parse: broken() }],
  [undefined, "its engine breaks", { parse: Effect.dieMessage("a bug") }]
] as const)("its tags as they are %s although %s", ([site, , answers]) =>
  Effect.map(tagsOf(answers), (tags) => expect(tags).toMatchObject({ _tag: "Right", right: site === undefined ? {} : { site } }))
)

it.effect.each([
  ["tags", { workspaceTags: () => Effect.never }],
  ["variables", { parse: Effect.never }]
] as const)("a source whose %s need too long is refused, and the message says to try again", ([, answers]) =>
  Effect.map(tagsOf(answers), (tags) =>
    expect(tags).toMatchObject({ _tag: "Left", left: { _tag: "TimedOut", message: expect.stringContaining("Try again.") } })
  )
)

it.effect("a store that is away is no broken source", () =>
  Effect.gen(function* () {
    const away = new StoreUnavailable({ reason: "away", cause: undefined })
    expect(yield* Effect.exit(tagsOf({ workspaceTags: () => Effect.die(away) }))).toStrictEqual(Exit.die(away))
  })
)

it.effect("tags that cannot be used are refused, and a broken form before them", () =>
  Effect.gen(function* () {
    const validations = [{ field: "site", detail: "no text" }]
    const workspaceTags = () => new ProvisionFailure({ message: "no text", validations })
    expect(yield* tagsOf({ workspaceTags })).toMatchObject({ _tag: "Left", left: { _tag: "Invalid", validations } })
    const diagnostics = [errorDiagnostic("Two parameters", "of one name")]
    const preview = () => Effect.succeed({ diagnostics, parameters: [] })
    expect(yield* tagsOf({ workspaceTags, preview })).toMatchObject({ _tag: "Left", left: { detail: "Two parameters: of one name" } })
  })
)
