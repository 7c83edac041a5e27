import type { WriteStream } from "node:tty"

/** The size of a terminal in characters: the usual one where there is none, or where a terminal that no one has sized says 0, as `script` and serial lines do. */
export const sizeOf = ({
  columns,
  rows
}: Partial<Pick<WriteStream, "columns" | "rows">>): { readonly cols: number; readonly rows: number } => ({
  cols: columns || 80,
  rows: rows || 24
})
