import { Chunk, Context, Effect, Option, Stream } from "effect"
import { AgentTokens } from "../../agents/credentials/AgentTokens.js"
import { Encryption, type Sealed } from "../../platform/secrets/Encryption.js"
import { Conflict } from "../../platform/Errors.js"
import { openRow, type SealedColumn, SealedColumns } from "../../platform/store/Resealing.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import type { Worker } from "../../platform/background/Worker.js"
import * as Background from "../../platform/background/Background.js"
import { nextTurn } from "../../platform/background/Turns.js"
import { GatewayKey } from "../hostKeys/GatewayKey.js"
import { HostKeys } from "../hostKeys/HostKeys.js"
import type { RunningWorkspace } from "../../provisioning/engines/ProvisionerEngine.js"
import type { WorkspaceBuildId } from "./WorkspaceBuild.js"
import { type PlainState, type StoredState, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"

/** States that are held in memory at once: one may have megabytes. */
const batchSize = 10

/** The build's id is authenticated with its state. */
const placeOf: SealedColumn["placeOf"] = ({ id }) => `workspace_builds.provisioner_state/${id}`

/** The methods of {@link BuildStates}. */
export interface BuildStatesService {
  readonly column: SealedColumn

  /** Encrypts the states that were stored as plaintext, and answers how many. A state that cannot be stored does not keep the others, and fails the call. */
  readonly sealPlain: Effect.Effect<number>

  /** A state as the row of its build stores it: null if it is empty. */
  readonly seal: (id: WorkspaceBuildId, state: Uint8Array) => Effect.Effect<Sealed | null>

  /**
   * Returns what the engine keeps of a build; empty if it keeps nothing. Fails with `Conflict` if no key of the deployment opens the
   * state: an engine that began from an empty one would make anew what exists.
   */
  readonly of: (id: WorkspaceBuildId) => Effect.Effect<Uint8Array, Conflict>

  /** As `of`, of many builds, which are read at once. The callers of the answer hold all of them in memory. */
  readonly ofEach: (ids: ReadonlyArray<WorkspaceBuildId>) => Effect.Effect<(id: WorkspaceBuildId) => Effect.Effect<Uint8Array, Conflict>>

  /** Every workspace that runs, read in batches. */
  readonly running: Stream.Stream<RunningWorkspace>

  /** Encrypts what was stored before states were. */
  readonly sealing: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceBuildRepository
  const encryption = yield* Encryption

  const column: SealedColumn = {
    name: "the state of a build",
    placeOf,
    batchSize,
    sealedOtherwise: repository.statesSealedOtherwise,
    reseal: repository.resealState
  }

  const seal = (id: WorkspaceBuildId, state: Uint8Array): Effect.Effect<Sealed | null> =>
    state.length === 0 ? Effect.succeed(null) : encryption.seal(state, placeOf({ id, user_id: nil }))

  const open = (stored: StoredState): Effect.Effect<Option.Option<Uint8Array>> =>
    "value" in stored ? openRow(encryption, column, stored) : Effect.succeedSome(stored.state)

  /** The state of a build; undefined is that of a build that does not exist. */
  const opened = (stored: StoredState | undefined): Effect.Effect<Uint8Array, Conflict> =>
    Effect.gen(function* () {
      if (stored === undefined) return new Uint8Array()
      const state = yield* open(stored)
      return Option.isSome(state)
        ? state.value
        : yield* new Conflict({
            message: "The state of the workspace's build cannot be read.",
            detail: "None of the deployment's encryption keys opens it."
          })
    })

  const sealOne = (plain: PlainState) =>
    Effect.flatMap(encryption.seal(plain.state, placeOf({ id: plain.id, user_id: nil })), (sealed) => repository.sealState(plain, sealed))

  const sealPlain: Effect.Effect<number> = Effect.gen(function* () {
    let count = 0
    let failed: Effect.Effect<void> = Effect.void
    let after: Uuid = nil
    while (true) {
      const batch = yield* repository.plainStates(after, batchSize)
      const last = batch.at(-1)
      if (last === undefined) return yield* Effect.as(failed, count)
      const { answers, failure } = yield* Background.tryEach(batch, sealOne)
      count += answers.filter((isSealed) => isSealed).length
      failed = Effect.zipRight(failed, failure)
      after = last.id
      yield* nextTurn
    }
  })

  return {
    column,
    sealPlain,

    seal,

    of: (id: WorkspaceBuildId): Effect.Effect<Uint8Array, Conflict> =>
      Effect.flatMap(repository.state(id), (stored) => opened(Option.getOrUndefined(stored))),

    ofEach: (ids: ReadonlyArray<WorkspaceBuildId>) =>
      Effect.map(repository.statesOf(ids), (states) => {
        const byId = new Map(states.map((stored) => [stored.id, stored]))
        return (id: WorkspaceBuildId) => opened(byId.get(id))
      }),

    running: Stream.paginateChunkEffect(nil, (after: Uuid) =>
      Effect.gen(function* () {
        const batch = yield* repository.running(after, batchSize)
        yield* nextTurn
        const workspaces = yield* Effect.forEach(batch, ({ state, workspace_id }) =>
          Effect.map(open(state), (opened): RunningWorkspace => ({ workspace_id, state: opened }))
        )
        return [
          Chunk.unsafeFromArray(workspaces),
          Option.map(Option.fromNullable(batch.at(-1)), ({ workspace_id }) => workspace_id)
        ] as const
      })
    ),

    sealing: {
      name: "seal-build-states",
      every: "1 hour",
      run: Effect.gen(function* () {
        const sealed = yield* sealPlain
        if (sealed > 0) yield* Effect.logInfo(`encrypted ${sealed} states of builds`)
      })
    } satisfies Worker<never>
  }
})

/** The engines' states of builds, which are stored encrypted. */
export class BuildStates extends Context.Tag("@atelier/core/BuildStates")<BuildStates, BuildStatesService>() {
  static readonly layer = service(BuildStates, make)
}

/** The states of builds, the tokens of external agents, and the host keys of workspaces and of the SSH gateway, for the rotation of keys. */
export const sealedColumns = standingOn(
  service(
    SealedColumns,
    Effect.map(Effect.all([BuildStates, AgentTokens, HostKeys, GatewayKey]), ([states, tokens, hostKeys, gatewayKey]) => [
      { column: states.column, sealPlain: states.sealPlain },
      { column: tokens.column, sealPlain: Effect.succeed(0) },
      { column: hostKeys.column, sealPlain: Effect.succeed(0) },
      { column: gatewayKey.column, sealPlain: Effect.succeed(0) }
    ])
  ),
  BuildStates.layer,
  AgentTokens.layer,
  HostKeys.layer,
  GatewayKey.layer
)
