/** The value below which a share of the values lies, between two values interpolated; null without values. */
export const percentile = (values: ReadonlyArray<number>, share: number): number | null => {
  const sorted = values.toSorted((one, other) => one - other)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)]
  const above = sorted[Math.ceil(place)]
  return below === undefined || above === undefined ? null : below + (above - below) * (place - Math.floor(place))
}
