/** The bytes cut into pieces at the given places (taken modulo the length). */
export const cut = (bytes: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return borders.slice(1).map((end, index) => bytes.slice(borders[index], end))
}
