/** Which values a filter matches, as a browser understands it: the server's RE2 has the same syntax but for few signs. */

export interface FilterQuestion {
  readonly filter: string
  readonly values: ReadonlyArray<string>
}

/** Undefined if the browser does not understand the filter. Time grows without bound with some filters: call it in a worker. */
export const matchesOf = ({ filter, values }: FilterQuestion): ReadonlyArray<string> | undefined => {
  const flags = /^\(\?([ims]+)\)/.exec(filter)
  try {
    const pattern = new RegExp(filter.slice(flags?.[0].length ?? 0).replaceAll("(?P<", "(?<"), `${flags?.[1] ?? ""}u`)
    return values.filter((value) => pattern.test(value))
  } catch {
    return undefined
  }
}
