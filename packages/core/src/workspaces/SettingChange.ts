import { Effect } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import * as Audit from "../audit/Audit.js"
import type { Entitlements } from "../deployment/licenses/Entitlements.js"
import { Conflict, Forbidden } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { effectiveTemplate } from "../templates/settings/EffectiveTemplate.js"
import type { Template } from "../templates/Template.js"
import type { TemplateRepository } from "../templates/TemplateRepository.js"
import { lockedTemplate } from "./LockedTemplate.js"
import { visibleWorkspace } from "./VisibleWorkspace.js"
import { isPrebuild, missingWorkspace, type Workspace, type WorkspaceId } from "./Workspace.js"
import { workspaceSubject } from "./WorkspaceAudit.js"
import type { WorkspaceRepository } from "./WorkspaceRepository.js"

/** A workspace and its effective template at the instant of a change. */
export interface Subject {
  readonly workspace: Workspace
  readonly template: Template
  readonly now: Timestamp.Timestamp
}

const prebuilt = new Conflict({ message: "A prebuilt workspace is changed by its template alone." })

/** Refuses changes by hand of a prebuilt workspace. */
export const requireClaimed = ({ workspace }: Subject) => (isPrebuild(workspace) ? prebuilt : Effect.void)

interface Needs {
  readonly workspaces: WorkspaceRepository["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly features: Entitlements["Type"]
}

/** A change of one setting, under the lock of its workspace. */
export const settingChange = ({ workspaces, templates, features }: Needs) => {
  const readable = (id: WorkspaceId) => Effect.flatMap(workspaces.details(id), (found) => visibleWorkspace(found))

  /**
   * Changes a workspace that the actor may read and update, deleted or not, and answers it as it is then. `decide` answers the new settings
   * of the workspace, which is locked.
   */
  const change = <E, R>(id: WorkspaceId, decide: (subject: Subject) => Effect.Effect<Workspace, E, R>) =>
    Effect.gen(function* () {
      const found = yield* readable(id)
      return yield* Audit.audited(
        workspaceSubject(found, "write"),
        Effect.gen(function* () {
          yield* Access.authorize("update", AccessObjects.workspace(found))
          const stored = yield* lockedTemplate(templates, found)
          if (!(yield* Access.can("read", AccessObjects.template(stored)))) return yield* new Forbidden()
          const workspace = yield* Effect.mapError(Effect.flatten(workspaces.lock(id)), () => missingWorkspace)
          const now = yield* Timestamp.now
          const after = yield* decide({ workspace, template: effectiveTemplate(stored, features), now })
          yield* workspaces.updateSettings({ ...after, updated_at: now })
          return { value: after, before: workspace, after }
        })
      )
    })

  return { readable, change }
}
