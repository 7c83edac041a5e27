/** Running workspaces that get an owner as they run. templates-and-provisioning.md §5.4. */
import { type HandOver, type PlanInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect } from "effect"
import type { PlacedFile } from "../template/Evaluation.js"
import type { Template } from "../template/TemplateSource.js"
import { appId, withAppIds } from "./AppIds.js"
import type { TemplateEngine, TemplateState } from "./TemplateEngine.js"

/** Values that are no one's: files that come out differently with them depend on the owner. */
const nobody = {
  workspace_name: "-",
  owner_username: "-",
  owner_name: "-",
  owner_email: "-",
  owner_login_type: "-",
  owner_groups: ["-"],
  owner_ssh_public_key: "-",
  owner_session_token: undefined
}

const areEqual = (left: ReadonlyArray<PlacedFile>, right: ReadonlyArray<PlacedFile>): boolean =>
  left.length === right.length &&
  left.every((file, index) => {
    const other = right[index]
    return file.path === other?.path && file.mode === other.mode && Buffer.compare(file.bytes, other.bytes) === 0
  })

const refused = (message: string) => new ProvisionFailure({ message: `the workspace cannot be handed over as it runs: ${message}` })

/** What a template makes of a running workspace for its new owner. Everything that is on the disk stays as it is. */
export const handOvers =
  <State extends TemplateState>({ adopt, encode, evaluated, runs }: TemplateEngine<State>) =>
  (template: Template, input: PlanInput, previous: State | undefined): Effect.Effect<HandOver, ProvisionFailure> =>
    Effect.gen(function* () {
      if (previous?.port === undefined || previous.agents.length === 0)
        return yield* refused("it does not run, or was started by an earlier version")
      if (previous.access_url !== input.metadata.access_url) return yield* refused("its agents know another address of the service")
      if (!(yield* runs(previous))) return yield* refused("it does not run at this engine")
      const evaluation = yield* evaluated(template, input, previous.port)
      if (evaluation.parameterProblems.length > 0) return yield* refused("its parameters have changed")
      if (template.definition.files.length > 0) {
        const { owner_session_token: _, ...metadata } = { ...input.metadata, ...nobody }
        const other = yield* evaluated(template, { ...input, metadata }, previous.port)
        if (!areEqual(evaluation.files, other.files)) return yield* refused("its files depend on its owner")
      }

      const resources = evaluation.plan.resources.map((resource) => withAppIds(input.metadata.workspace_id, resource))
      const tokens = new Map(
        resources
          .flatMap((resource) => resource.agents)
          .flatMap(({ auth, name }) => (auth._tag === "Token" ? [[name, auth.token] as const] : []))
      )
      const agents = previous.agents.flatMap((agent) => {
        const token = tokens.get(agent.name)
        return token === undefined ? [] : [{ ...agent, token }]
      })
      if (agents.length !== previous.agents.length || agents.length !== tokens.size) return yield* refused("it has other agents")
      const { workspace_build_id } = input.metadata
      const state: State = { ...previous, workspace_build_id, handed_over_from: previous.workspace_build_id, agents }
      return {
        plan: evaluation.plan,
        applied: {
          resources,
          task_app_id: evaluation.taskApp === undefined ? undefined : appId(input.metadata.workspace_id, evaluation.taskApp),
          state: encode(state)
        },
        settle: Effect.catchAll(adopt(previous, state), ({ message }) => Effect.logError(message))
      }
    })
