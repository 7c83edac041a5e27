/**
 * Reads what clients send and writes what they get. Readers and writers are compiled from schemas once, at the first use.
 *
 * - In: texts and bytes of a request, or a value and its schema.
 * - Out: values or the list of violations; responses, whole or as a stream.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = ["wire"]
