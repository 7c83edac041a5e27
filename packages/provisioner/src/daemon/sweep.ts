/** Lets a daemon's engines remove resources that belong to no workspace and restore lost ones, as the engines of the server's own process do. */
import type { CallFailed, ProvisionerDaemonClient, RpcError } from "@atelier/agent-protocol"
import { Background, Uuid } from "@atelier/core/platform"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Duration, Effect } from "effect"

/** Between two looks, as in the server. */
const sweepInterval = Duration.minutes(10)

/** How long one engine may look and remove. */
const sweepLimit = Duration.minutes(5)

/** How long the server may take for an answer. */
const answerLimit = Duration.seconds(30)

/** Ids of one question; the server takes a thousand. */
const asked = 500

type Ids = ReadonlyArray<Uuid.Uuid>

const parts = (ids: Ids): ReadonlyArray<Ids> =>
  Array.from({ length: Math.ceil(ids.length / asked) }, (_, index) => ids.slice(index * asked, (index + 1) * asked))

/** Asks for ids in parts. Without an answer, such as from another program's server, all of them are as `otherwise` says. */
const answered = (
  ids: Ids,
  ask: (part: Ids) => Effect.Effect<ReadonlyArray<string>, CallFailed | RpcError>,
  otherwise: Ids
): Effect.Effect<ReadonlySet<Uuid.Uuid>> =>
  Effect.forEach(parts(ids), (part) => Effect.timeout(ask(part), answerLimit)).pipe(
    Effect.map((answers) => new Set(answers.flat().flatMap((id) => Uuid.parse(id) ?? []))),
    Effect.catchAll(({ message }) =>
      Effect.as(Effect.logDebug(`The server does not say what is left of workspaces: ${message}`), new Set(otherwise))
    )
  )

/** Sweeps with each engine for as long as the scope is open. What the server says nothing of is left alone. */
export const sweeping = (client: ProvisionerDaemonClient) =>
  Effect.gen(function* () {
    const sweeps = (yield* ProvisionerEngines).flatMap(({ sweep }) => sweep ?? [])
    if (sweeps.length === 0) return
    const exists = (ids: Ids) =>
      answered(
        ids,
        (part) => Effect.map(client.JudgeRemains({ workspace_ids: part, build_ids: [] }), (said) => said.existing_workspace_ids),
        ids
      )
    const unsuccessful = (ids: Ids) =>
      answered(
        ids,
        (part) => Effect.map(client.JudgeRemains({ workspace_ids: [], build_ids: part }), (said) => said.unsuccessful_build_ids),
        []
      )
    const all = Background.each("engine_sweep", sweeps, (sweep) => sweep(exists, unsuccessful), { within: sweepLimit })
    yield* Background.repeat("engine_sweep", Effect.zipRight(all, Effect.sleep(sweepInterval)))
  })
