/** The list of workspaces. It reads the pages that were seen. */
import type { Workspace, WorkspacesResponse } from "@atelier/client"
import * as workspaces from "@atelier/client/workspaces"
import { keepPreviousData, useQueries } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../app/client.js"
import { stateOf } from "./state.js"

const pageSize = 50
const whileMoving = 2_000
const atRest = 15_000

/** Reads the pages around the rows that are seen, again and again: quickly while a workspace on them changes. */
export const useWorkspacePages = (q: string) => {
  const [range, setRange] = useState({ first: 0, last: 0 })
  const from = Math.floor(range.first / pageSize)
  const to = Math.floor(range.last / pageSize)
  const pages = [...new Set([0, ...Array.from({ length: to - from + 1 }, (_, index) => from + index)])]
  const { byPage, ...rest } = useQueries({
    queries: pages.map((page) => ({
      queryKey: ["workspaces", "list", q, page],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        workspaces.listWorkspaces(client, { q, limit: pageSize, offset: page * pageSize }, { signal }),
      ...(page === 0 ? { placeholderData: keepPreviousData } : {}),
      staleTime: whileMoving,
      refetchInterval: (query: { readonly state: { readonly data: WorkspacesResponse | undefined } }) =>
        query.state.data?.workspaces.some((each) => stateOf(each).isMoving) === true ? whileMoving : atRest
    })),
    combine: (results) => ({
      byPage: results.map(({ data }) => data),
      count: results[0]?.data?.count ?? 0,
      isPending: results[0]?.isPending ?? true,
      error: results.find(({ error }) => error !== null)?.error ?? null,
      refetch: () => void Promise.all(results.map(({ refetch }) => refetch()))
    })
  })
  const rowAt = (index: number): Workspace | undefined => byPage[pages.indexOf(Math.floor(index / pageSize))]?.workspaces[index % pageSize]
  return {
    ...rest,
    rowAt,
    /** The rows of the pages that are read. */
    loaded: byPage.flatMap((page) => page?.workspaces ?? []),
    onRange: (first: number, last: number) => setRange({ first, last })
  }
}
