/** One workspace, live. */
import type { Workspace } from "@atelier/client"
import * as workspaces from "@atelier/client/workspaces"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { client } from "../../../app/client.js"
import { useLive } from "../../../app/live.js"
import { queryClient } from "../../../app/queries.js"

const route = getRouteApi("/@{$owner}/$workspace")

export const workspaceQuery = (owner: string, name: string) =>
  queryOptions({
    queryKey: ["workspaces", "one", owner, name],
    queryFn: ({ signal }) => workspaces.getWorkspaceByName(client, { user: owner, workspacename: name }, { signal })
  })

export const useWorkspaceQuery = () => {
  const { owner, workspace } = route.useParams()
  return useQuery(workspaceQuery(owner, workspace))
}

/** Milliseconds after which it is read again while the stream does not work. */
const withoutStream = 5_000

/** Keeps the workspace as the server sends it, over a WebSocket: a browser opens only six other connections to a server. */
export const useWatchedWorkspace = (owner: string, name: string) => {
  const query = workspaceQuery(owner, name)
  const result = useQuery(query)
  const id = result.data?.id
  const { state } = useLive({
    of: ["workspace", id ?? ""],
    open: id === undefined ? undefined : (signal) => workspaces.watchWorkspaceSocket(client, { workspace: id }, { signal }),
    // An answer that is on its way may be older than the value
    onValue: (workspace: Workspace) =>
      void queryClient.cancelQueries({ queryKey: query.queryKey }).then(() => queryClient.setQueryData(query.queryKey, workspace))
  })
  useQuery({ ...query, refetchInterval: state === "live" ? false : withoutStream })
  return result
}
