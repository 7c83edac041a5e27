import { ArrowDown, ArrowUp } from "lucide-react"
import { tableText } from "../../texts/ui.js"
import type { Column, TableProps } from "./Table.js"

export const classOf = ({ align }: Pick<Column<never>, "align">): string => `cell ${align === "end" ? "cell-end" : ""}`

interface TableHeadProps<Row> extends Pick<TableProps<Row>, "columns" | "count" | "onSort" | "sorting"> {
  readonly template: string
  /** How many rows are selected; undefined where rows cannot be selected. */
  readonly selected: number | undefined
  readonly onSelectAll: () => void
}

/** The names of the columns, which sort the rows, and the box that selects them all. */
export const TableHead = <Row,>({ columns, count, onSelectAll, onSort, selected, sorting, template }: TableHeadProps<Row>) => (
  <div className="table-head" role="row" aria-rowindex={1} style={{ ["--columns" as string]: template }}>
    {selected === undefined ? null : (
      <div className="cell cell-check" role="columnheader">
        <label className="check">
          <input
            type="checkbox"
            aria-label={tableText.selectAll}
            checked={count > 0 && selected >= count}
            ref={(element) => {
              if (element !== null) element.indeterminate = selected > 0 && selected < count
            }}
            onChange={onSelectAll}
          />
        </label>
      </div>
    )}
    {columns.map((column) => {
      const isSorted = sorting?.column === column.id
      const direction = sorting?.descending === true ? "descending" : "ascending"
      return (
        <div key={column.id} className={classOf(column)} role="columnheader" aria-sort={isSorted ? direction : undefined}>
          {column.compare !== undefined && onSort !== undefined ? (
            <button
              type="button"
              className="table-sort"
              onClick={() => onSort(isSorted && sorting.descending ? undefined : { column: column.id, descending: isSorted })}
            >
              {column.header}
              {isSorted ? sorting.descending ? <ArrowDown aria-hidden /> : <ArrowUp aria-hidden /> : null}
            </button>
          ) : (
            column.header
          )}
        </div>
      )
    })}
  </div>
)
