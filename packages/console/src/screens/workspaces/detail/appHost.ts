/** Where apps and ports have hosts of their own. */
import * as regions from "@atelier/client/regions"
import { useQuery } from "@tanstack/react-query"
import { client } from "../../../app/client.js"

/** The pattern of the hosts of apps; empty where apps have no hosts. */
export const useAppHost = (): string | undefined =>
  useQuery({
    queryKey: ["app-host"],
    queryFn: async ({ signal }) => (await regions.getAppHost(client, { signal })).host,
    staleTime: Infinity
  }).data
