import type { WriteStream } from "node:tty"

/** The size of a terminal in characters: the usual one without a terminal, or for a terminal without a size, which says 0, as those of `script` and serial lines do. */
export const sizeOf = ({
  columns,
  rows
}: Partial<Pick<WriteStream, "columns" | "rows">>): { readonly cols: number; readonly rows: number } => ({
  cols: columns || 80,
  rows: rows || 24
})
