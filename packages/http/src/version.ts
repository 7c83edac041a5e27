import { createRequire } from "node:module"

const { version: released }: { readonly version: string } = createRequire(import.meta.url)("@atelier/http/package.json")

/** The version of this package, as clients compare it. deployment.md §1.2. */
export const version = `v${released}`
