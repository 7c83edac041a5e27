const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const

/** A size as people say it, such as "1.5 MiB". */
export const bytes = (value: number): string => {
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10))
  const size = value / 1_024 ** power
  return `${power === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[power] ?? ""}`
}
