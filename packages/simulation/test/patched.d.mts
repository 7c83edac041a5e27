/** Bundles the modules of the simulation with a patch of the sources into a file, which has to lie where its dependencies are found. */
export declare const bundlePatched: (patch: string, outfile: string) => Promise<void>
