/** A list that comes in pages: what stands above it, and its rows in each state. */
import type { ReactNode } from "react"
import { useFilter } from "../../app/filter.js"
import type { Pages } from "../../app/pages.js"
import { asAtelierError } from "../../app/client.js"
import { errorText, tableText } from "../../texts/ui.js"
import { Button } from "../forms/Button.js"
import { Callout } from "../page/Callout.js"
import { Filter, type FilterProps } from "./Filter.js"
import { Section } from "../page/Page.js"
import { ErrorState } from "../page/States.js"
import { Table, type TableProps, TableSkeleton } from "./Table.js"
import "./PagedTable.css"

export interface PagedTableProps<Row> extends Omit<TableProps<Row>, "count" | "rowAt" | "onRange"> {
  /** What `usePages` answers. */
  readonly pages: Pages<Row>
  /** What is shown in the place of no rows. */
  readonly empty: ReactNode
}

/** The rows of a list; why there are none; and, where a later page failed, what asks for it again. */
export const PagedTable = <Row,>({ empty, pages, ...table }: PagedTableProps<Row>) => {
  const { count, error, isPending, missing, onRange, retry, rowAt } = pages
  if (error !== undefined) return <ErrorState error={error} onRetry={retry} />
  if (isPending) return <TableSkeleton rowHeight={table.rowHeight} />
  if (count === 0) return empty
  return (
    <>
      <Table count={count} rowAt={rowAt} onRange={onRange} {...table} />
      {missing === undefined ? null : (
        <div className="paged-missing">
          <Callout
            kind="error"
            title={tableText.missing}
            action={
              <Button size="small" onClick={retry}>
                {errorText.retry}
              </Button>
            }
          >
            {asAtelierError(missing).message}
          </Callout>
        </div>
      )}
    </>
  )
}

interface FilterBarProps extends Pick<FilterProps, "label" | "placeholder"> {
  /** The words of the filter's language that complete themselves. */
  readonly keys?: FilterProps["keys"]
}

interface FilteredTableProps<Row> extends PagedTableProps<Row> {
  /** The filter is the address's: `useFilter` reads it. */
  readonly filter: FilterBarProps
  /** How many rows there are, said in words. */
  readonly countText?: (count: number) => string
  /** Beside the filter, such as what adds a row. */
  readonly tools?: ReactNode
  /** The card's, where the list is one part of a screen. */
  readonly title?: ReactNode
  readonly description?: ReactNode
}

/** A filtered list as a card: the body of most screens. */
export const FilteredTable = <Row,>({ countText, description, filter, title, tools, ...table }: FilteredTableProps<Row>) => {
  const [value, setValue] = useFilter()
  const bar = (
    <div className="paged-tools">
      <Filter {...filter} keys={filter.keys ?? []} value={value} onChange={setValue} />
      {tools}
      {countText === undefined || table.pages.isPending || table.pages.error !== undefined ? null : (
        <span className="paged-count" role="status">
          {countText(table.pages.count)}
        </span>
      )}
    </div>
  )
  return (
    <>
      {title === undefined ? bar : null}
      <Section isFlush title={title} description={description}>
        {title === undefined ? null : bar}
        <PagedTable {...table} />
      </Section>
    </>
  )
}
