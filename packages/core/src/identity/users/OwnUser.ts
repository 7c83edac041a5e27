import * as ReadWithActor from "../../access/actors/ReadWithActor.js"
import type { UserWithOrganizations } from "./User.js"

/** The users whose credentials requests come with. */
export const { keep, take } = ReadWithActor.make<UserWithOrganizations>()
