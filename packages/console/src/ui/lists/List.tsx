/** A list of a few rows that are more than the cells of a table, and what stands in its place. */
import { Link, type LinkProps } from "@tanstack/react-router"
import type { UseQueryResult } from "@tanstack/react-query"
import { ChevronRight } from "lucide-react"
import type { ReactNode } from "react"
import { ErrorState, SkeletonLines } from "../page/States.js"
import "./List.css"

/** What of a query says whether there is something to show. */
export type Answer<A> = Pick<UseQueryResult<A>, "data" | "error" | "isLoadingError" | "refetch">

interface LoadedProps<A> {
  readonly query: Answer<A>
  /** How many lines stand in the place of what loads. */
  readonly lines?: number
  readonly children: (data: A) => ReactNode
}

/** What a query answered; until then lines in its place, or why there is nothing. What was shown stays when a later answer fails. */
export const Loaded = <A,>({ children, lines = 2, query: { data, error, isLoadingError, refetch } }: LoadedProps<A>) => {
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  return data === undefined ? <SkeletonLines count={lines} /> : children(data)
}

interface ListProps<Row> {
  readonly query: Answer<ReadonlyArray<Row>>
  /** What is shown in the place of no rows: a text, or what to do. */
  readonly empty: ReactNode
  /** A `ListRow` with a key. */
  readonly row: (row: Row) => ReactNode
}

/** The rows of a card without a margin. */
export const List = <Row,>({ empty, query, row }: ListProps<Row>) => (
  <Loaded query={query}>
    {(rows) =>
      rows.length > 0 ? <ul className="list">{rows.map(row)}</ul> : typeof empty === "string" ? <p className="muted">{empty}</p> : empty
    }
  </Loaded>
)

interface RowProps {
  /** An avatar or icon. */
  readonly lead?: ReactNode
  readonly title: ReactNode
  readonly second?: ReactNode
  /** Where the whole row leads. */
  readonly link?: LinkProps
  /** States and buttons at its end. */
  readonly children?: ReactNode
}

export const ListRow = ({ children, lead, link, second, title }: RowProps) => {
  const content = (
    <>
      {lead}
      <span className="list-main">
        <span className="list-title truncate" title={typeof title === "string" ? title : undefined}>
          {title}
        </span>
        {second === undefined || second === "" ? null : <span className="list-second truncate">{second}</span>}
      </span>
      {children}
    </>
  )
  return (
    <li className="list-item">
      {link === undefined ? (
        <div className="list-row">{content}</div>
      ) : (
        <Link className="list-row list-open" {...link}>
          {content}
          <ChevronRight aria-hidden className="list-chevron" />
        </Link>
      )}
    </li>
  )
}
