/** An address with more in its query: parameters, or a query without its question mark, which stays as it is. */
export const withQuery = (address: string, more: string | Readonly<Record<string, string>>): string => {
  const query = typeof more === "string" ? more : String(new URLSearchParams(more))
  return query === "" ? address : `${address}${address.includes("?") ? "&" : "?"}${query}`
}
