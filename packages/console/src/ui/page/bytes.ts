/** Sizes as people say them. */

const units = ["B", "kB", "MB", "GB", "TB"]

/** A number of bytes, such as "1.4 MB". */
export const byteText = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
