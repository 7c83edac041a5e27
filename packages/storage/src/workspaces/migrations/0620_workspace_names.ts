import { indexes } from "../../platform/Indexes.js"

/** A search by a part of a name counts its matches in this index, which is a tenth of the table. */
export default indexes({ workspaces_names: "workspaces (name_key, organization_id, deleted) WHERE NOT deleted" })
