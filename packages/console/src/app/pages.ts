/** Lists that the server answers in pages. */
import { keepPreviousData, useQueries } from "@tanstack/react-query"
import { useState } from "react"

export interface FetchedPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /** All matches. */
  readonly count: number
}

export interface PagesOptions<Row> {
  /** The resource's name, then what the list is filtered by. */
  readonly queryKey: ReadonlyArray<unknown>
  readonly fetch: (page: { readonly offset: number; readonly limit: number; readonly signal: AbortSignal }) => Promise<FetchedPage<Row>>
  /** Rows of a page; default 100. */
  readonly size?: number
}

export interface Pages<Row> {
  readonly count: number
  readonly rowAt: (index: number) => Row | undefined
  /** Tell which rows are seen: their pages are asked for. */
  readonly onRange: (first: number, last: number) => void
  /** Nothing has arrived yet. */
  readonly isPending: boolean
  /** Why there is nothing to show. */
  readonly error: Error | undefined
  readonly refetch: () => void
}

/** Asks for the pages of a list that are seen: what a `Table` needs for lists of any length. */
export const usePages = <Row>({ fetch, queryKey, size = 100 }: PagesOptions<Row>): Pages<Row> => {
  const key = JSON.stringify(queryKey)
  const [seen, setSeen] = useState({ key, first: 0, last: 0 })
  // Another filter begins at its first page
  const { first, last } = seen.key === key ? seen : { first: 0, last: 0 }
  const numbers = [...new Set([0, ...Array.from({ length: last - first + 1 }, (_, index) => first + index)])]
  const queries = useQueries({
    queries: numbers.map((number) => ({
      queryKey: [...queryKey, { page: number, size }],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => fetch({ offset: number * size, limit: size, signal }),
      ...(number === 0 ? { placeholderData: keepPreviousData<FetchedPage<Row>> } : {})
    }))
  })
  const pages = new Map(numbers.map((number, index) => [number, queries[index]?.data]))
  const failed = queries.find(({ data, error }) => error !== null && data === undefined)
  const count = pages.get(0)?.count ?? 0
  return {
    count,
    rowAt: (index) => pages.get(Math.floor(index / size))?.rows[index % size],
    onRange: (from, to) => {
      const next = { key, first: Math.floor(from / size), last: Math.floor(Math.max(from, to) / size) }
      if (next.first !== first || next.last !== last || seen.key !== key) setSeen(next)
    },
    isPending: pages.get(0) === undefined && failed === undefined,
    error: failed?.error ?? undefined,
    refetch: () => {
      for (const query of queries) void query.refetch()
    }
  }
}
