/** Lists that the server answers in pages. */
import { keepPreviousData, useQueries, type UseQueryResult } from "@tanstack/react-query"
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
  /** Milliseconds until a page that is seen is asked for again, as its rows need it; absent where rows rarely change. */
  readonly refetchAfter?: (rows: ReadonlyArray<Row>) => number
}

export interface Pages<Row> {
  readonly count: number
  readonly rowAt: (index: number) => Row | undefined
  /** The rows of the pages that are seen. */
  readonly loaded: ReadonlyArray<Row>
  /** Tell which rows are seen: their pages are asked for. */
  readonly onRange: (first: number, last: number) => void
  /** Nothing has arrived yet. */
  readonly isPending: boolean
  /** Why there is nothing to show. */
  readonly error: Error | undefined
  /** Why rows are missing among those that are shown. */
  readonly missing: Error | undefined
  /** Asks again for what failed. */
  readonly retry: () => void
}

/** Rows that are asked for again and again are asked for too when a list that is older than this is opened, in milliseconds. */
const recent = 2_000

/** Asks for the pages of a list that are seen: what a `PagedTable` needs for lists of any length. */
export const usePages = <Row>({ fetch, queryKey, refetchAfter, size = 100 }: PagesOptions<Row>): Pages<Row> => {
  const key = JSON.stringify(queryKey)
  const [seen, setSeen] = useState({ key, first: 0, last: 0 })
  // Another filter begins at its first page
  const { first, last } = seen.key === key ? seen : { first: 0, last: 0 }
  const numbers = [...new Set([0, ...Array.from({ length: last - first + 1 }, (_, index) => first + index)])]
  const queries = useQueries({
    queries: numbers.map((number) => ({
      queryKey: [...queryKey, { page: number, size }],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => fetch({ offset: number * size, limit: size, signal }),
      ...(number === 0 ? { placeholderData: keepPreviousData<FetchedPage<Row>> } : {}),
      ...(refetchAfter === undefined
        ? {}
        : {
            staleTime: recent,
            refetchInterval: ({ state }: { readonly state: { readonly data: FetchedPage<Row> | undefined } }) =>
              refetchAfter(state.data?.rows ?? [])
          })
    }))
  })
  const pages = new Map(numbers.map((number, index) => [number, queries[index]?.data]))
  // A page that came before stays as it is when it fails later
  const failed = queries.filter(({ data, error }) => error !== null && data === undefined)
  const isEmpty = pages.get(0) === undefined
  const reason = failed[0]?.error ?? undefined
  return {
    count: pages.get(0)?.count ?? 0,
    rowAt: (index) => pages.get(Math.floor(index / size))?.rows[index % size],
    loaded: [...pages.values()].flatMap((page) => page?.rows ?? []),
    onRange: (from, to) => {
      const next = { key, first: Math.floor(from / size), last: Math.floor(Math.max(from, to) / size) }
      if (next.first !== first || next.last !== last || seen.key !== key) setSeen(next)
    },
    isPending: isEmpty && reason === undefined,
    error: isEmpty ? reason : undefined,
    missing: isEmpty ? undefined : reason,
    retry: () => {
      for (const query of failed) void query.refetch()
    }
  }
}

/** A list that the server answers whole, as the tables of `ui/lists/PagedTable` take it. */
export const wholePages = <Row>({
  data,
  error,
  isLoadingError,
  refetch
}: Pick<UseQueryResult<ReadonlyArray<Row>>, "data" | "error" | "isLoadingError" | "refetch">): Pages<Row> => ({
  count: data?.length ?? 0,
  rowAt: (index) => data?.[index],
  loaded: data ?? [],
  onRange: () => undefined,
  isPending: data === undefined && !isLoadingError,
  error: isLoadingError ? (error ?? undefined) : undefined,
  missing: undefined,
  retry: () => void refetch()
})
