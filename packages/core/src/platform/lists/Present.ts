/** The key with the value. Views leave out values that are null, undefined or an empty text. */
export const present = <const K extends string, A>(key: K, value: A | null | undefined): { readonly [_ in K]?: A } =>
  // TypeScript widens a computed key
  value === null || value === undefined || value === "" ? {} : ({ [key]: value } as { readonly [_ in K]: A })
