/** Bundles a module with a patch of the sources into a file, which has to lie where its dependencies are found. Without a name the module is the simulation. */
export declare const bundlePatched: (patch: string, outfile: string, entry?: string) => Promise<void>
