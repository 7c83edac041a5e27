/** The list of workspaces. It reads the pages that were seen. */
import type { Workspace } from "@atelier/client"
import * as workspaces from "@atelier/client/workspaces"
import { client } from "../../app/client.js"
import { type Pages, usePages } from "../../app/pages.js"
import { stateOf } from "./state.js"

const whileMoving = 2_000
const atRest = 15_000

/** Reads the pages around the rows that are seen, again and again: quickly while a workspace on them changes. */
export const useWorkspacePages = (q: string): Pages<Workspace> =>
  usePages<Workspace>({
    queryKey: ["workspaces", "list", q],
    fetch: async ({ limit, offset, signal }) => {
      const { count, workspaces: rows } = await workspaces.listWorkspaces(client, { q, limit, offset }, { signal })
      return { count, rows }
    },
    size: 50,
    refetchAfter: (rows) => (rows.some((each) => stateOf(each).isMoving) ? whileMoving : atRest)
  })
