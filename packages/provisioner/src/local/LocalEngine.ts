/** The sessions of the local engine. */
import type { Ids } from "@atelier/core/platform"
import type { Engine } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { relative } from "node:path/posix"
import { openTemplates } from "../session/openTemplates.js"
import type { TemplateEngine } from "../session/TemplateEngine.js"
import { evaluations, resourceType } from "./LocalEvaluation.js"
import type { LocalWorkspaces } from "./LocalWorkspaces.js"
import { decodeState, encodeState, type WorkspaceState } from "./WorkspaceState.js"

const engineOf = (workspaces: LocalWorkspaces["Type"], ids: Ids["Type"]): TemplateEngine<WorkspaceState> => ({
  rules: { engine: "local" },
  resourceType,
  decode: decodeState,
  encode: encodeState,
  evaluated: evaluations({ workspaces, ids }),
  start: ({ agents, evaluation: { files, port }, metadata: { access_url, workspace_build_id, workspace_id } }, previous, report) => {
    const home = workspaces.directoryOf(workspace_id)
    const wanted = agents.map(({ agent: { directory }, name, token }) => ({ name, token, directory: relative(home, directory) }))
    return Effect.map(
      workspaces.start({ workspace_id, workspace_build_id, access_url, agents: wanted, files, port }, previous, report),
      (state) => ({ state })
    )
  },
  stop: workspaces.stop,
  remove: workspaces.remove,
  runs: workspaces.runs,
  adopt: workspaces.adopt
})

/** How sources of `template.yaml` are opened, whose workspaces are the given ones. */
export const open = (workspaces: LocalWorkspaces["Type"], ids: Ids["Type"]): Engine["open"] => openTemplates(engineOf(workspaces, ids))
