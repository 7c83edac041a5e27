/**
 * The programs that the service hands out to workspaces, and the version of this one.
 *
 * - In: the names of the brand.
 * - Out: the agent's program, the script that starts it, and the version that clients are told.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = ["wire"]
