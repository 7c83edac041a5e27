/** A list whose rows are drawn only where they are seen. */
import { useVirtualizer } from "@tanstack/react-virtual"
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  memo,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from "react"
import { useKeys } from "../../app/keys.js"
import { tableText } from "../../texts/ui.js"
import { Skeleton } from "../page/States.js"
import type { Sorting } from "./sorted.js"
import { classOf, TableHead } from "./TableHead.js"
import "../forms/Field.css"
import "./Table.css"

export interface Column<Row> {
  readonly id: string
  readonly header: ReactNode
  /** A size of CSS grids; default `minmax(0, 1fr)`. */
  readonly width?: string
  readonly cell: (row: Row) => ReactNode
  /** Left out where the table is narrower than this, in pixels. */
  readonly from?: number
  readonly align?: "end"
  /** Sorts rows by this column, where the table is given an order. */
  readonly compare?: (one: Row, other: Row) => number
}

export interface TableProps<Row> {
  /** The name of the table for screen readers. */
  readonly label: string
  /** Rows are drawn again if this is another list: give one that stays. */
  readonly columns: ReadonlyArray<Column<Row>>
  /** How many rows there are, loaded or not. */
  readonly count: number
  /** A row, or undefined while it loads: its place is kept. */
  readonly rowAt: (index: number) => Row | undefined
  readonly keyOf: (row: Row) => string
  readonly nameOf: (row: Row) => string
  /** Enter or a click. */
  readonly onOpen?: ((row: Row) => void) | undefined
  /** Enables `x` and the boxes. */
  readonly selection?: ReadonlySet<string>
  readonly onSelect?: (selection: ReadonlySet<string>) => void
  /** The rows that are seen, so that their pages can be asked for. */
  readonly onRange?: (first: number, last: number) => void
  readonly sorting?: Sorting | undefined
  /** The user chose an order, or none. */
  readonly onSort?: ((sorting: Sorting | undefined) => void) | undefined
  readonly rowHeight?: number
  /** The element that scrolls; default the main area of the shell. */
  readonly scroller?: RefObject<HTMLElement | null>
}

const mainArea = (): HTMLElement | null => document.querySelector("main")

/** The width of an element, in pixels. */
const useWidth = (element: RefObject<HTMLElement | null>): number => {
  const [width, setWidth] = useState(innerWidth)
  useLayoutEffect(() => {
    if (element.current === null) return undefined
    setWidth(element.current.clientWidth)
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

/** How far below the top of what scrolls the table begins, in pixels: below the header of the screen, whose height changes. */
const useOffset = (body: RefObject<HTMLElement | null>, scroller: RefObject<HTMLElement | null> | undefined): number => {
  const [offset, setOffset] = useState(0)
  useEffect(() => {
    const area = scroller?.current ?? mainArea()
    const element = body.current
    if (area === null || element === null) return undefined
    const measure = (): void =>
      setOffset(Math.round(element.getBoundingClientRect().top - area.getBoundingClientRect().top + area.scrollTop))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(area.firstElementChild ?? area)
    return () => observer.disconnect()
  }, [body, scroller])
  return offset
}

/** Whether an event is one of the element itself: React also brings those of the menus and dialogs that its cells open elsewhere in the page. */
const isWithin = ({ currentTarget, target }: { readonly currentTarget: Element; readonly target: EventTarget }): boolean =>
  target instanceof Element && currentTarget.contains(target)

const isControl = (target: EventTarget): boolean => target instanceof Element && target.closest("a,button,input,select,label") !== null

/** A function that stays the same, and does what the one of the last drawing does. */
const useSame = <Args extends ReadonlyArray<unknown>>(action: (...args: Args) => void): ((...args: Args) => void) => {
  const latest = useRef(action)
  useLayoutEffect(() => {
    latest.current = action
  })
  return useCallback((...args: Args) => latest.current(...args), [])
}

interface RowProps<Row> {
  readonly row: Row | undefined
  readonly index: number
  readonly columns: ReadonlyArray<Column<Row>>
  readonly template: string
  readonly height: number
  /** Pixels from the first row. */
  readonly start: number
  /** The name of its box; absent where rows cannot be selected. */
  readonly boxName: string | undefined
  readonly isSelected: boolean
  /** The tab key goes to it. */
  readonly isActive: boolean
  readonly isOpenable: boolean
  readonly onActive: (index: number) => void
  readonly onPress: (index: number, isShift: boolean) => void
  readonly onToggle: (index: number, isRange: boolean) => void
}

const DrawnRow = <Row,>({
  boxName,
  columns,
  height,
  index,
  isActive,
  isOpenable,
  isSelected,
  onActive,
  onPress,
  onToggle,
  row,
  start,
  template
}: RowProps<Row>) => (
  <div
    className="row"
    role="row"
    data-index={index}
    data-openable={isOpenable ? "" : undefined}
    aria-rowindex={index + 2}
    aria-selected={boxName === undefined ? undefined : isSelected}
    aria-busy={row === undefined || undefined}
    tabIndex={isActive ? 0 : -1}
    style={{ ["--columns" as string]: template, height, transform: `translateY(${start}px)` }}
    onFocus={() => onActive(index)}
    onClick={(event: MouseEvent<HTMLDivElement>) => {
      if (row !== undefined && isWithin(event) && !isControl(event.target)) onPress(index, event.shiftKey)
    }}
  >
    {boxName === undefined ? null : (
      <div className="cell cell-check" role="gridcell">
        {row === undefined ? null : (
          <label className="check">
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={boxName}
              checked={isSelected}
              onChange={(event) => onToggle(index, "shiftKey" in event.nativeEvent && event.nativeEvent.shiftKey === true)}
            />
          </label>
        )}
      </div>
    )}
    {columns.map((column) => (
      <div key={column.id} className={classOf(column)} role="gridcell">
        {row === undefined ? <Skeleton width={`${40 + ((index * 13) % 40)}%`} /> : column.cell(row)}
      </div>
    ))}
  </div>
)

/** Drawn again only if what it shows has changed: the table itself is drawn for each picture while it scrolls. */
const TableRow = memo(DrawnRow) as typeof DrawnRow

/** Selects rows: one, those from the one before to it, or all. */
const useSelecting = <Row,>({ count, keyOf, onSelect, rowAt, selection }: TableProps<Row>) => {
  const anchor = useRef<number>(-1)
  const hasSelection = selection !== undefined && onSelect !== undefined

  const toggle = (index: number, isRange: boolean): void => {
    if (!hasSelection) return
    const row = rowAt(index)
    if (row === undefined) return
    const next = new Set(selection)
    const isOn = !next.has(keyOf(row))
    const from = isRange && anchor.current >= 0 ? anchor.current : index
    for (let at = Math.min(from, index); at <= Math.max(from, index); at += 1) {
      const each = rowAt(at)
      if (each === undefined) continue
      if (isOn) next.add(keyOf(each))
      else next.delete(keyOf(each))
    }
    anchor.current = index
    onSelect(next)
  }

  /** Selects all rows that are loaded, or none if some are selected. */
  const selectAll = (): void => {
    if (!hasSelection) return
    const rows = selection.size > 0 ? [] : Array.from({ length: count }, (_, index) => rowAt(index))
    onSelect(new Set(rows.flatMap((row) => (row === undefined ? [] : [keyOf(row)]))))
  }
  return { hasSelection, toggle, selectAll }
}

interface Moving<Row> extends Pick<TableProps<Row>, "count" | "onOpen" | "rowAt"> {
  /** The row that has the focus, or had it. */
  readonly active: number
  readonly focusRow: (index: number) => void
  readonly toggle: (index: number, isRange: boolean) => void
}

/** Moves, selects and opens with keys. The function hears those of the table itself. */
const useRowKeys = <Row,>({ active, count, focusRow, onOpen, rowAt, toggle }: Moving<Row>) => {
  useKeys({
    j: () => focusRow(active + 1),
    k: () => focusRow(active - 1),
    x: (event) => toggle(active, event.shiftKey)
  })

  return (event: KeyboardEvent): void => {
    if (!isWithin(event) || event.metaKey || event.ctrlKey || event.altKey) return
    if (event.target instanceof HTMLInputElement) return
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      Home: 0,
      End: count - 1,
      PageDown: active + 10,
      PageUp: active - 10
    }
    const to = moves[event.key]
    if (to !== undefined) {
      event.preventDefault()
      focusRow(to)
    } else if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.dataset["index"] !== undefined) {
      const row = rowAt(Number(event.target.dataset["index"]))
      if (row !== undefined) onOpen?.(row)
    }
  }
}

export const Table = <Row,>(props: TableProps<Row>) => {
  const {
    columns: allColumns,
    count,
    keyOf,
    label,
    nameOf,
    onOpen,
    onRange,
    onSort,
    rowAt,
    rowHeight = 44,
    scroller,
    selection,
    sorting
  } = props
  const frame = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const columns = useMemo(() => allColumns.filter(({ from = 0 }) => width >= from), [allColumns, width])
  const [active, setActive] = useState(-1)
  const offset = useOffset(body, scroller)
  const { hasSelection, selectAll, toggle } = useSelecting(props)
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller?.current ?? mainArea(),
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: offset
  })
  const items = virtualizer.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0

  const reportRange = useEffectEvent((from: number, to: number) => onRange?.(from, to))
  useEffect(() => reportRange(first, last), [first, last, count])

  const focusRow = (index: number): void => {
    const next = Math.max(0, Math.min(count - 1, index))
    if (count === 0) return
    setActive(next)
    virtualizer.scrollToIndex(next, { align: "auto" })
    const drawn = () => body.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)
    const row = drawn()
    // At once, so that the next key meets the row; one that was out of sight is drawn with the next picture
    if (row === null || row === undefined) requestAnimationFrame(() => drawn()?.focus({ preventScroll: true }))
    else row.focus({ preventScroll: true })
  }

  const onKeyDown = useRowKeys({ active, count, focusRow, onOpen, rowAt, toggle })
  const template = `${hasSelection ? "36px " : ""}${columns.map(({ width = "minmax(0, 1fr)" }) => width).join(" ")}`
  const onToggle = useSame(toggle)
  const onPress = useSame((index: number, isShift: boolean) => {
    const row = rowAt(index)
    if (isShift && hasSelection) toggle(index, true)
    else if (row !== undefined) onOpen?.(row)
  })

  return (
    <div
      ref={frame}
      className="table"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-multiselectable={hasSelection || undefined}
      onKeyDown={onKeyDown}
    >
      <TableHead
        columns={columns}
        template={template}
        sorting={sorting}
        onSort={onSort}
        selected={hasSelection ? selection?.size : undefined}
        count={count}
        onSelectAll={selectAll}
      />
      <div ref={body} className="table-body" role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rowAt(index)
          const key = row === undefined ? `place-${index}` : keyOf(row)
          return (
            <TableRow
              key={key}
              row={row}
              index={index}
              columns={columns}
              template={template}
              height={rowHeight}
              start={start - offset}
              boxName={!hasSelection ? undefined : row === undefined ? "" : tableText.select(nameOf(row))}
              isSelected={row !== undefined && selection?.has(key) === true}
              isActive={index === Math.max(active, 0)}
              isOpenable={onOpen !== undefined}
              onActive={setActive}
              onPress={onPress}
              onToggle={onToggle}
            />
          )
        })}
      </div>
    </div>
  )
}

/** Rows that load: as high as those that come. */
export const TableSkeleton = ({ rowHeight = 44, rows = 8 }: { readonly rows?: number; readonly rowHeight?: number | undefined }) => (
  <div className="table" aria-hidden>
    <div className="table-head" />
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} className="row row-place" style={{ height: rowHeight }}>
        <Skeleton width={18} height={18} />
        <Skeleton width={`${16 + ((index * 7) % 14)}%`} />
        <Skeleton width={`${10 + ((index * 5) % 10)}%`} />
        <Skeleton width="8%" />
      </div>
    ))}
  </div>
)
