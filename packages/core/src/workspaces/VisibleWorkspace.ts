import { Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { missingWorkspace, type Workspace } from "./Workspace.js"

/** The workspace that was found, deleted or not, for actors who may read it; for all others there is none. */
export const visibleWorkspace = <A extends Workspace>(found: Option.Option<A>, notFound = missingWorkspace) =>
  Access.visible(Option.getOrNull(found), AccessObjects.workspace, notFound)
