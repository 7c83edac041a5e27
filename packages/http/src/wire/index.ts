/**
 * The forms of all that passes between clients and the service: the names that follow from the brand, how inputs are declared, how
 * refusals are told, and where the two dialects differ. Clients in browsers use this room too, so it needs nothing of Node.
 *
 * - In: the schemas and errors of core.
 * - Out: the schemas, names and errors that `contract` is written in.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = []
