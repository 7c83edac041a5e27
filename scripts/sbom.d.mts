import type { LockFile } from "./lockFile.mjs"

export interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: ReadonlyArray<object>
  readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>
}

/** Returns a bill of materials in the CycloneDX format, of what hosts get. */
export declare const sbomOf: (lock: LockFile) => { readonly bomFormat: "CycloneDX"; readonly components: ReadonlyArray<Component> }
