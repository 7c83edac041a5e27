/** Returns the fragment of a heading, as GitHub makes it. */
export declare const fragmentOf: (heading: string) => string
