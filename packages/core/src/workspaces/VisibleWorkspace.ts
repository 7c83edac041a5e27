import { Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { missingWorkspace, type Workspace } from "./Workspace.js"

/** Returns the workspace that was found, deleted or not, if the actor may read it. Fails with `NotFound` otherwise. */
export const visibleWorkspace = <A extends Workspace>(found: Option.Option<A>, notFound = missingWorkspace) =>
  Access.visible(Option.getOrNull(found), AccessObjects.workspace, notFound)
