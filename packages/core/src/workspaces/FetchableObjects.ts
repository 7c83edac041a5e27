import { Effect, Option } from "effect"
import * as AccessObjects from "../access/AccessObjects.js"
import { FetchableObjects } from "../access/checks/FetchableObjects.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"
import { service } from "../platform/wiring/Standing.js"

/** Deleted templates count as missing; deleted users and workspaces do not. */
const isKept = ({ deleted }: { readonly deleted: boolean }): boolean => !deleted

/** The objects that authorization checks can name by id, looked up where every area is known. */
export const fetchableObjects = service(
  FetchableObjects,
  Effect.gen(function* () {
    const workspaces = yield* WorkspaceRepository
    const templates = yield* TemplateRepository
    const users = yield* UserRepository
    const groups = yield* GroupRepository
    return FetchableObjects.of({
      workspace: (id) => Effect.map(workspaces.byId(id), Option.map(AccessObjects.workspace)),
      template: (id) => Effect.map(templates.byId(id), (found) => Option.map(Option.filter(found, isKept), AccessObjects.template)),
      user: (id) => Effect.map(users.byId(id), Option.map(AccessObjects.user)),
      group: (id) => Effect.map(groups.find(id), Option.map(AccessObjects.group))
    })
  })
)
