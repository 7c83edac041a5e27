import * as provisioning from "@atelier/client/provisioning"
import { queryOptions } from "@tanstack/react-query"
import { client } from "../../../app/client.js"
import { readArchive } from "./archive.js"

/** The files of a version, which never change. */
export const sourceQuery = (file: string) =>
  queryOptions({
    queryKey: ["sources", file],
    queryFn: async ({ signal }) => readArchive(await provisioning.downloadFile(client, { fileID: file }, { signal })),
    staleTime: Infinity,
    structuralSharing: false
  })
